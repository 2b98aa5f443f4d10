package framing

import (
	"encoding/base64"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/sr"
	"github.com/twmb/franz-go/pkg/sr/srfake"

	"queuebench/internal/secret"
)

const object = `{"type":"object"}`

func TestSchemasAreFoundOrRegistered(t *testing.T) {
	fake := srfake.New()
	defer fake.Close()
	fake.SeedSchema("orders-value", 1, 40, sr.Schema{Schema: `{"type":"string"}`, Type: sr.TypeJSON})
	fake.SeedSchema("orders-value", 2, 41, sr.Schema{Schema: object, Type: sr.TypeJSON})
	r := Registry{URL: fake.URL()}
	check := func(what string, got Schema, err error, want Schema) {
		t.Helper()
		if err != nil || got.Frame.ID != want.Frame.ID || got.Frame.Type != want.Frame.Type || got.Subject != want.Subject || got.Version != want.Version || got.Made != want.Made {
			t.Errorf("%s: %+v, %v; want %+v", what, got, err, want)
		}
	}
	of := func(id int) Frame { return Frame{ID: id, Type: sr.TypeJSON} }
	s, err := r.Latest(t.Context(), "orders-value")
	check("the latest", s, err, Schema{Frame: of(41), Subject: "orders-value", Version: 2})
	s, err = r.Of(t.Context(), "orders-value", object, sr.TypeJSON)
	check("one that is there", s, err, Schema{Frame: of(41), Subject: "orders-value", Version: 2})
	s, err = r.ByID(t.Context(), 40)
	check("an id", s, err, Schema{Frame: of(40)})
	made, err := r.Of(t.Context(), "new-value", `{"type":"object","title":"new"}`, sr.TypeJSON)
	if err != nil || !made.Made || made.Version != 1 || !fake.SubjectExists("new-value") {
		t.Errorf("a new one is %+v, %v", made, err)
	}
	again, err := r.Of(t.Context(), "new-value", `{"type":"object","title":"new"}`, sr.TypeJSON)
	check("the new one again", again, err, Schema{Frame: made.Frame, Subject: "new-value", Version: 1})
}

// An error names the registry and what was asked for, and says what to do.
func TestRegistryErrorsSayWhatToDo(t *testing.T) {
	fake := srfake.New(srfake.WithAuth("Basic " + base64.StdEncoding.EncodeToString([]byte("alice:s3cret"))))
	defer fake.Close()
	fake.SeedSchema("s", 1, 1, sr.Schema{Schema: object, Type: sr.TypeJSON})
	gone := httptest.NewServer(nil)
	gone.Close()
	alice := Registry{URL: fake.URL(), User: "alice", Password: secret.Of("s3cret")}
	if s, err := alice.Latest(t.Context(), "s"); err != nil || s.Frame.ID != 1 {
		t.Fatalf("%+v, %v", s, err)
	}
	for says, ask := range map[string]func() error{
		"SCHEMA_REGISTRY_PASSWORD": func() error {
			_, err := (&Registry{URL: fake.URL(), User: "alice", Password: secret.Of("wr0ng")}).Latest(t.Context(), "s")
			return err
		},
		"SCHEMA_REGISTRY_TOKEN": func() error {
			_, err := (&Registry{URL: fake.URL(), Token: secret.Of("wr0ng")}).ByID(t.Context(), 1)
			return err
		},
		"--schema-file": func() error { _, err := alice.Latest(t.Context(), "none"); return err },
		"schema id 99":  func() error { _, err := alice.ByID(t.Context(), 99); return err },
		"does it run?": func() error {
			_, err := (&Registry{URL: gone.URL}).Latest(t.Context(), "s")
			return err
		},
	} {
		err := ask()
		if err == nil || !strings.Contains(err.Error(), says) || !strings.Contains(err.Error(), "127.0.0.1") || strings.Contains(err.Error(), "wr0ng") || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%v, want %q", err, says)
		}
	}
	for _, url := range []string{"", "registry:8081", "ftp://x", "http://alice:s3cret@x:8081"} {
		if err := CheckURL(url); err == nil || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%q: %v", url, err)
		}
	}
}
