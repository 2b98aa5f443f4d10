package versitygw

import (
	"net/http"
	"testing"
)

func TestStartsAndEnds(t *testing.T) {
	var endpoint string
	t.Run("runs", func(t *testing.T) {
		s := Start(t)
		endpoint = s.Endpoint
		s.CreateBucket(t, "another-one")
		resp, err := http.Get(s.Endpoint + "/" + s.Bucket)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if resp.StatusCode != http.StatusForbidden {
			t.Errorf("a request without a signature is answered %s", resp.Status)
		}
	})
	if resp, err := http.Get(endpoint); err == nil {
		resp.Body.Close()
		t.Error("the server outlived its test")
	}
}

func TestAbsentProgramSaysHowToGetIt(t *testing.T) {
	t.Setenv("VERSITYGW", t.TempDir()+"/absent")
	if p, err := Program(); err == nil {
		t.Errorf("found %s", p)
	}
}
