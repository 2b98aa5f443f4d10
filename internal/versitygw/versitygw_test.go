package versitygw

import (
	"net/http"
	"strings"
	"testing"

	"github.com/minio/minio-go/v7"
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

// What is stored is there after a kill, at the same address.
func TestKilledAndStartedAgain(t *testing.T) {
	s := Start(t)
	body := "kept"
	if _, err := s.client.PutObject(t.Context(), s.Bucket, "k", strings.NewReader(body), int64(len(body)), minio.PutObjectOptions{}); err != nil {
		t.Fatal(err)
	}
	s.Kill()
	if resp, err := http.Get(s.Endpoint); err == nil {
		resp.Body.Close()
		t.Error("it answers after it was killed")
	}
	s.Restart(t)
	if info, err := s.client.StatObject(t.Context(), s.Bucket, "k", minio.StatObjectOptions{}); err != nil || info.Size != int64(len(body)) {
		t.Errorf("%+v, %v", info, err)
	}
	s.Kill() // and is left so
}

func TestAbsentProgramSaysHowToGetIt(t *testing.T) {
	t.Setenv("VERSITYGW", t.TempDir()+"/absent")
	if p, err := Program(); err == nil {
		t.Errorf("found %s", p)
	}
}
