package objectstore_test

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"queuebench/objectstore"
	"queuebench/objectstore/embedded"
)

// sessions is a store that takes the requests of one session only.
type sessions struct {
	mu      sync.Mutex
	token   string
	code    string // of the refusal
	refused int
	asked   int
}

func (s *sessions) before(r *http.Request) *http.Response {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked++
	if r.Header.Get("X-Amz-Security-Token") == s.token {
		return nil
	}
	s.refused++
	return answer(http.StatusForbidden, s.code)
}

func (s *sessions) set(token string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.token = token
}

// withProfile is a store whose keys come from a file, which profile writes.
func withProfile(t *testing.T, of *sessions) (s objectstore.Store, profile func(token string)) {
	t.Helper()
	server, err := embedded.Start(t.Context(), embedded.Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	if err := server.CreateBucket("bucket"); err != nil {
		t.Fatal(err)
	}
	// The embedded server knows one key; the session's token stands for another one.
	var key string
	probe, err := objectstore.OpenAddress(t.Context(), server.Address("bucket", ""), objectstore.Options{Credentials: server.Credentials(), HTTPTransport: (&fault{before: func(r *http.Request) *http.Response {
		_, after, _ := strings.Cut(r.Header.Get("Authorization"), "Credential=")
		key, _, _ = strings.Cut(after, "/")
		return nil
	}}).wrap})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := probe.Head(t.Context(), "x"); !errors.Is(err, objectstore.ErrNotFound) {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "credentials")
	profile = func(token string) {
		t.Helper()
		text := fmt.Sprintf("[default]\naws_access_key_id = %s\naws_secret_access_key = a secret\naws_session_token = %s\n", key, token)
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	profile(of.token)
	creds, err := objectstore.CredentialsFor(objectstore.BackendS3, env(t, "AWS_SHARED_CREDENTIALS_FILE", file).get)
	if err != nil {
		t.Fatal(err)
	}
	s, err = objectstore.OpenAddress(t.Context(), server.Address("bucket", "p"), objectstore.Options{Credentials: creds, HTTPTransport: (&fault{before: of.before}).wrap})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { objectstore.Close(s); server.Close() })
	return s, profile
}

// A session that ends goes on with the keys that then stand in the file, in whichever
// request that is noticed; nothing is done twice.
func TestKeysThatEndAreReadAnew(t *testing.T) {
	for _, code := range []string{"ExpiredToken", "InvalidAccessKeyId", "SignatureDoesNotMatch"} {
		t.Run(code, func(t *testing.T) {
			of := &sessions{token: "0", code: code}
			s, profile := withProfile(t, of)
			ctx := t.Context()
			requests := map[string]func(i int) error{
				"put": func(i int) error {
					return s.Put(ctx, fmt.Sprint("a", i), []byte("x"), objectstore.PutOptions{IfAbsent: true})
				},
				"put file": func(i int) error {
					return s.PutFile(ctx, fmt.Sprint("f", i), strings.NewReader("whole"), 5, objectstore.PutOptions{})
				},
				"get": func(int) error {
					body, _, err := s.Get(ctx, "seed")
					if err == nil && string(body) != "seed" {
						return fmt.Errorf("%q", body)
					}
					return err
				},
				"head": func(int) error { _, err := s.Head(ctx, "seed"); return err },
				"list": func(int) error {
					n := 0
					err := s.List(ctx, objectstore.ListOptions{Prefix: "seed"}, func(objectstore.Info) error { n++; return nil })
					if err == nil && n != 1 {
						return fmt.Errorf("%d keys", n)
					}
					return err
				},
				"delete": func(i int) error { return s.Delete(ctx, fmt.Sprint("a", i)) },
			}
			put(t, s, "seed", "seed")
			i := 0
			for name, request := range requests {
				for range 2 { // by the first keys, and by those of now
					i++
					token := fmt.Sprint(i)
					of.set(token)
					profile(token)
					refused := of.refused
					if err := request(i); err != nil {
						t.Errorf("%s: %v", name, err)
					}
					if of.refused != refused+1 {
						t.Errorf("%s was refused %d times", name, of.refused-refused)
					}
				}
			}
			for i := range i {
				if body, _, err := s.Get(ctx, fmt.Sprint("f", i)); err == nil && string(body) != "whole" {
					t.Errorf("f%d holds %q", i, body)
				}
			}
		})
	}
}

// Where no other keys come the refusal is the answer, and the source is not asked
// again and again.
func TestKeysThatEndForGood(t *testing.T) {
	of := &sessions{token: "first", code: "ExpiredToken"}
	s, _ := withProfile(t, of)
	put(t, s, "seed", "seed")
	of.set("another")
	before := of.asked
	for range 3 {
		_, _, err := s.Get(t.Context(), "seed")
		wantErr(t, err, objectstore.ErrDenied)
		if !strings.Contains(err.Error(), "get new credentials") {
			t.Errorf("does not say what to do: %v", err)
		}
	}
	if n := of.asked - before; n != 3 {
		t.Errorf("%d requests for three calls", n)
	}
}

// Keys of a file are not read for each request: minio-go's reader takes them for
// ended ones, and the file may be half written.
func TestKeysOfAFileAreReadOnce(t *testing.T) {
	of := &sessions{token: "first", code: "ExpiredToken"}
	s, profile := withProfile(t, of)
	put(t, s, "seed", "seed")
	profile("second")
	wantBody(t, s, "seed", "seed")
	if of.refused != 0 {
		t.Error("the file was read again although the store took the keys")
	}
}

// Many requests that meet the end at one time share the new keys.
func TestKeysThatEndUnderManyRequests(t *testing.T) {
	of := &sessions{token: "0", code: "ExpiredToken"}
	s, profile := withProfile(t, of)
	put(t, s, "seed", "seed")
	for round := 1; round < 5; round++ {
		of.set(fmt.Sprint(round))
		profile(fmt.Sprint(round))
		each(t, 8, 40, func(int) error { _, _, err := s.Get(t.Context(), "seed"); return err })
	}
}
