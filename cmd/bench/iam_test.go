package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/minio/minio-go/v7"

	"queuebench/analysis"
	"queuebench/internal/reliability"
	"queuebench/internal/versitygw"
	"queuebench/objectstore"
	"queuebench/rawlog/logstore"
)

// iamPolicies are those of deploy/iam, by the name of the role.
func iamPolicies(t *testing.T) map[string][]byte {
	t.Helper()
	files, err := filepath.Glob("../../deploy/iam/*.json")
	if err != nil {
		t.Fatal(err)
	}
	all := map[string][]byte{}
	for _, f := range files {
		if all[strings.TrimSuffix(filepath.Base(f), ".json")], err = os.ReadFile(f); err != nil {
			t.Fatal(err)
		}
	}
	if len(all) != 3 {
		t.Fatalf("policies %v", files)
	}
	return all
}

// The policies are what AWS takes, and none allows more than a few verbs below a
// prefix.
func TestPoliciesAreNarrow(t *testing.T) {
	known := []string{"s3:GetObject", "s3:PutObject", "s3:DeleteObject", "s3:AbortMultipartUpload", "s3:ListBucket"}
	for name, body := range iamPolicies(t) {
		type list []string
		var p struct {
			Version   string
			Statement []struct {
				Sid, Effect string
				Action      json.RawMessage
				Resource    string
				Condition   map[string]map[string]string
			}
		}
		d := json.NewDecoder(bytes.NewReader(body))
		d.DisallowUnknownFields()
		if err := d.Decode(&p); err != nil || p.Version != "2012-10-17" || len(p.Statement) == 0 {
			t.Fatalf("%s: %v, %+v", name, err, p)
		}
		for _, s := range p.Statement {
			var actions list
			if json.Unmarshal(s.Action, &actions) != nil {
				actions = list{""}
				if err := json.Unmarshal(s.Action, &actions[0]); err != nil {
					t.Fatal(err)
				}
			}
			onBucket := s.Resource == "arn:aws:s3:::BUCKET"
			if s.Effect != "Allow" || s.Sid == "" || !onBucket && !strings.HasSuffix(s.Resource, "/*") || onBucket != slices.Equal(actions, list{"s3:ListBucket"}) || onBucket != (len(s.Condition) == 1) {
				t.Errorf("%s: %+v", name, s)
			}
			for _, a := range actions {
				if !slices.Contains(known, a) || name != "runner" && a == "s3:DeleteObject" || name == "analyzer" && a == "s3:PutObject" || name == "publisher" && a == "s3:GetObject" {
					t.Errorf("%s allows %s", name, a)
				}
			}
		}
	}
}

// A server that enforces the policies lets each role do its work, and nothing
// else.
func TestPoliciesAreEnforced(t *testing.T) {
	row := reliability.Try(t, reliability.Row{
		ID: "security/iam", What: "runner, analyzer and publisher with the policies of `deploy/iam`, on a versitygw that enforces them", Often: "24 requests, and their commands", Effort: 24,
		Holds: "each does its work, and nothing else",
	})
	policies := iamPolicies(t)
	users := map[string]string{}
	for name := range policies {
		users[name] = name + "-secret-key-of-a-test"
	}
	gw := versitygw.StartWith(t, versitygw.Options{Users: users})
	gw.SetPolicy(t, policies, strings.NewReplacer("BUCKET", gw.Bucket, "PREFIX", "team/bench", "SITE", "site"))
	bareEnvironment(t)
	as := func(name, prefix string) objectstore.Store {
		s, err := objectstore.Open(t.Context(), gw.Address(prefix), objectstore.Options{Credentials: objectstore.StaticCredentials(name, users[name], "")})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	admin, err := objectstore.Open(t.Context(), gw.Address(""), objectstore.Options{Credentials: objectstore.StaticCredentials(gw.AccessKey, gw.SecretKey, "")})
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"other/secret", "team/other/x", "team/bench-2/runs/x", "site/index.html", "team/bench/tables/kept/x"} {
		if err := admin.Put(t.Context(), key, []byte("x"), objectstore.PutOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	login := func(name string) {
		t.Setenv("MINIO_S3_ACCESS_KEY", name)
		t.Setenv("MINIO_S3_SECRET_ACCESS_KEY", users[name])
	}

	login("runner")
	line := "--queue delta --rate 200 --duration 300ms --commit-interval 20ms --part-age 100ms --s3-backend minio --store "
	status, stdout, stderr := bench(t, strings.Fields("run "+line+gw.Address("team/bench"))...)
	if status != 0 {
		t.Fatalf("a run as runner: status %d, %s", status, stderr)
	}
	address := lastLine(stdout)
	if status, _, stderr := bench(t, "clean", "--s3-backend", "minio", address); status != 0 {
		t.Errorf("clean as runner: status %d, %s", status, stderr)
	}
	if status, _, stderr := bench(t, "clean", "--s3-backend", "minio", "--log", "--force", address); status != 1 || !strings.Contains(stderr, "denied") {
		t.Errorf("the runner removes a log: status %d, %s", status, stderr)
	}
	if status, _, stderr := bench(t, strings.Fields("run "+line+gw.Address("team/other"))...); status != 1 || !strings.Contains(stderr, "denied") {
		t.Errorf("a run elsewhere: status %d, %s", status, stderr)
	}

	src, err := logstore.Open(t.Context(), address, objectstore.Options{Credentials: objectstore.StaticCredentials("analyzer", users["analyzer"], "")})
	if err != nil {
		t.Fatal(err)
	}
	if d, err := analysis.Read(t.Context(), src, analysis.Options{}); err != nil || len(d.Steps) != 1 {
		t.Errorf("an analysis as analyzer: %v", err)
	}
	login("analyzer")
	if status, _, stderr := bench(t, strings.Fields("run "+line+gw.Address("team/bench"))...); status != 1 || !strings.Contains(stderr, "denied") {
		t.Errorf("a run as analyzer: status %d, %s", status, stderr)
	}

	type verb func(ctx context.Context, s objectstore.Store) error
	get := func(key string) verb {
		return func(ctx context.Context, s objectstore.Store) error { _, _, err := s.Get(ctx, key); return err }
	}
	put := func(key string) verb {
		return func(ctx context.Context, s objectstore.Store) error {
			return s.Put(ctx, key, []byte("new"), objectstore.PutOptions{})
		}
	}
	remove := func(key string) verb {
		return func(ctx context.Context, s objectstore.Store) error { return s.Delete(ctx, key) }
	}
	list := func(prefix string) verb {
		return func(ctx context.Context, s objectstore.Store) error {
			return s.List(ctx, objectstore.ListOptions{Prefix: prefix}, func(objectstore.Info) error { return nil })
		}
	}
	for _, c := range []struct {
		who, what string
		do        verb
		allowed   bool
	}{
		{"runner", "get elsewhere", get("other/secret"), false}, {"runner", "put elsewhere", put("other/new"), false}, {"runner", "delete elsewhere", remove("other/secret"), false},
		{"runner", "list elsewhere", list("other/"), false}, {"runner", "list a name that begins alike", list("team/bench-2/"), false}, {"runner", "put beside its folders", put("team/bench/x"), false},
		{"runner", "delete a log", remove("team/bench/runs/x"), false}, {"runner", "list its prefix", list("team/bench/tables/"), true}, {"runner", "read its table", get("team/bench/tables/kept/x"), true},
		{"runner", "write the site", put("site/x"), false},
		{"analyzer", "read a table", get("team/bench/tables/kept/x"), false}, {"analyzer", "write a log", put("team/bench/runs/x"), false}, {"analyzer", "delete a log", remove("team/bench/runs/x"), false},
		{"analyzer", "list tables", list("team/bench/tables/"), false}, {"analyzer", "list logs", list("team/bench/runs/"), true}, {"analyzer", "get elsewhere", get("other/secret"), false},
		{"publisher", "write the site", put("site/runs/a.digest.gz"), true}, {"publisher", "list the site", list("site/"), true}, {"publisher", "read the site", get("site/index.html"), false},
		{"publisher", "delete of the site", remove("site/index.html"), false}, {"publisher", "write a log", put("team/bench/runs/x"), false}, {"publisher", "read elsewhere", get("other/secret"), false},
		{"publisher", "list all", list(""), false}, {"publisher", "write beside the site", put("site2/x"), false},
	} {
		err := c.do(t.Context(), as(c.who, ""))
		if c.allowed && err != nil || !c.allowed && !errors.Is(err, objectstore.ErrDenied) {
			t.Errorf("%s, %s: allowed %v, got %v", c.who, c.what, c.allowed, err)
		}
	}
	row.Happened = "all were answered as the policies say"
	var denied minio.ErrorResponse
	if err := get("other/secret")(t.Context(), as("publisher", "")); !errors.As(err, &denied) || denied.StatusCode != 403 {
		t.Errorf("%v", err)
	}
}
