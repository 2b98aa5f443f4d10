//go:build unix

package faults

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"queuebench/internal/faultproxy"
	"queuebench/internal/reliability"
	"queuebench/internal/versitygw"
)

// ending is a run on a Delta queue that cannot go on: what it is told apart by.
type ending struct {
	status int
	says   []string // on standard error
	whole  bool     // the log's store took all of it
}

// endsClearly waits for the end of a run in dir, whose log lies in a folder, and
// holds what it has to: the status, what it says, and a log that can be read up to
// there. What was not stored is stored by `bench upload`, where it says so.
func (b *bench) endsClearly(t *testing.T, want ending, run string, upload func() (to string, env []string)) {
	t.Helper()
	status := b.ends(t, 2*time.Minute)
	text := b.errs.String()
	if status != want.status {
		t.Errorf("status %d, not %d", status, want.status)
	}
	for _, part := range want.says {
		if !strings.Contains(text, part) {
			t.Errorf("it does not say %q", part)
		}
	}
	if took := time.Since(b.began); took > 90*time.Second {
		t.Errorf("it took %v", took)
	}
	if spool := filepath.Join(b.cmd.Dir, "queuebench-spool"); want.whole == exists(spool) {
		t.Errorf("there is a spool: %v", exists(spool))
	}
	if !want.whole {
		_, rest, found := strings.Cut(text, "`bench upload ")
		spool, _, closed := strings.Cut(rest, "`")
		if !found || !closed {
			t.Fatalf("it does not say how to store the rest:\n%s", text)
		}
		to, env := upload()
		u := start(t, b.cmd.Dir, env, "upload", spool, "--to", to)
		if status := u.ends(t, time.Minute); status != 0 {
			t.Fatalf("upload: status %d: %s", status, u.errs.String())
		}
		if exists(spool) {
			t.Errorf("the spool is still there")
		}
	}
	summary := readable(t, run)
	if summary == nil {
		t.Fatal("there is nothing in the log")
	}
	a := summary.Steps[0].Accounting
	if summary.Complete || a.Acked == 0 || a.Received == 0 || a.Lost != 0 || a.Duplicates != 0 {
		t.Errorf("complete %v, %+v", summary.Complete, a)
	}
	if t.Failed() {
		t.Logf("it said:\n%s", text)
	}
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// delta is a run that would last a minute.
func delta(at ...string) []string {
	return append([]string{"run", "--queue", "delta", "--rate", "2000", "--duration", "60s", "--drain-timeout", "5s", "--commit-interval", "50ms",
		"--part-age", "500ms", "--quiet", "--calibrate=false", "--run-id", "mine"}, at...)
}

// Credentials that end, are revoked, or a bucket that is deleted, in the middle of a
// run: it ends at once, says what happened and what to do, and keeps what it has.
func TestStoresThatRefuseInTheMiddle(t *testing.T) {
	t.Parallel()
	reliability.Try(t, reliability.Row{
		ID: "ends/refused", What: "credentials expired, credentials exchanged, keys revoked by policy, bucket deleted in the middle of a run on Delta, its log in the same bucket", Often: "once each", Effort: 1,
		Holds:    "status 1 within seconds, what happened and what to do; `bench upload` stores the rest; the log is read and marked incomplete. Exchanged keys: the run goes on",
		Happened: "so it was",
	})
	benchProgram(t)
	const policy = `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":"s3:*","Resource":["arn:aws:s3:::queuebench","arn:aws:s3:::queuebench/*"]}]}`

	t.Run("expired", func(t *testing.T) {
		t.Parallel()
		gw := versitygw.Start(t)
		var over atomic.Bool
		p := denying(t, gw, func(*http.Request) string {
			if over.Load() {
				return "ExpiredToken"
			}
			return ""
		})
		others := plant(t, filepath.Join(gw.Dir, gw.Bucket), "tables/mine-too/x", "runs/mine-too/run.json")
		b := start(t, t.TempDir(), gw.Environ(), delta("--store", "s3://"+gw.Bucket, "--endpoint", p.Endpoint, "--region", versitygw.Region)...)
		run := filepath.Join(gw.Dir, gw.Bucket, "runs", "mine")
		await(t, "a part", b, func() bool { return hasParts(run, "sent") && hasParts(run, "received") })
		over.Store(true)
		b.endsClearly(t, ending{1, []string{"access denied", "ExpiredToken", "the session has ended: get new credentials", "bench upload"}, false}, run, func() (string, []string) {
			return gw.Address("runs/mine"), gw.Environ()
		})
		others.unharmed(t)
	})

	// The file of the keys is written anew while the run goes on, as a tool does that
	// keeps a session alive.
	t.Run("exchanged", func(t *testing.T) {
		t.Parallel()
		gw := versitygw.StartWith(t, versitygw.Options{Users: map[string]string{"first": "first-secret", "second": "second-secret"}})
		gw.SetPolicy(t, map[string][]byte{"first": []byte(policy), "second": []byte(policy)}, strings.NewReplacer())
		var now atomic.Value
		now.Store("first")
		p := denying(t, gw, func(r *http.Request) string {
			if !strings.Contains(r.Header.Get("Authorization"), "Credential="+now.Load().(string)+"/") {
				return "ExpiredToken"
			}
			return ""
		})
		dir := t.TempDir()
		file := filepath.Join(dir, "credentials")
		write := func(user string) {
			text := fmt.Sprintf("[default]\naws_access_key_id = %s\naws_secret_access_key = %s-secret\n", user, user)
			if err := os.WriteFile(file+".new", []byte(text), 0o600); err != nil {
				t.Error(err)
			}
			if err := os.Rename(file+".new", file); err != nil {
				t.Error(err)
			}
		}
		write("first")
		b := start(t, dir, []string{"AWS_SHARED_CREDENTIALS_FILE=" + file}, "run", "--queue", "delta", "--rate", "2000", "--duration", "4s", "--commit-interval", "50ms", "--part-age", "500ms",
			"--quiet", "--calibrate=false", "--json", "--run-id", "mine", "--s3-backend", "s3", "--store", "s3://"+gw.Bucket, "--endpoint", p.Endpoint, "--region", versitygw.Region)
		run := filepath.Join(gw.Dir, gw.Bucket, "runs", "mine")
		await(t, "a part", b, func() bool { return hasParts(run, "sent") })
		write("second")
		now.Store("second")
		status := b.ends(t, 2*time.Minute)
		r, a := b.accounting(t)
		if status != 0 || !r.Complete || a.Acked != 8000 || a.Received != 8000 || a.Lost != 0 || a.Duplicates != 0 {
			t.Errorf("status %d, complete %v, %+v\n%s", status, r.Complete, a, b.errs.String())
		}
		if p.Counts()[faultproxy.Forbidden] == 0 {
			t.Error("no request was refused")
		}
	})

	t.Run("revoked", func(t *testing.T) {
		t.Parallel()
		gw := versitygw.StartWith(t, versitygw.Options{Users: map[string]string{"runner": "runner-secret"}})
		gw.SetPolicy(t, map[string][]byte{"runner": []byte(policy)}, strings.NewReplacer())
		b := start(t, t.TempDir(), []string{"MINIO_S3_ACCESS_KEY=runner", "MINIO_S3_SECRET_ACCESS_KEY=runner-secret"}, delta("--store", gw.Address(""))...)
		run := filepath.Join(gw.Dir, gw.Bucket, "runs", "mine")
		await(t, "a part", b, func() bool { return hasParts(run, "sent") && hasParts(run, "received") })
		gw.SetPolicy(t, map[string][]byte{"runner": []byte(strings.Replace(policy, `"Allow"`, `"Deny"`, 1))}, strings.NewReplacer())
		b.endsClearly(t, ending{1, []string{"access denied", "AccessDenied", "check them and the bucket's policy", "bench upload"}, false}, run, func() (string, []string) {
			return gw.Address("runs/mine"), gw.Environ()
		})
	})

	t.Run("bucket deleted", func(t *testing.T) {
		t.Parallel()
		gw := versitygw.Start(t)
		gw.CreateBucket(t, "others")
		others := plant(t, filepath.Join(gw.Dir, "others"), "x")
		endpoint, gate := gated(t, gw)
		b := start(t, t.TempDir(), gw.Environ(), delta("--store", "s3://"+gw.Bucket, "--endpoint", endpoint, "--region", versitygw.Region)...)
		bucket, away := filepath.Join(gw.Dir, gw.Bucket), filepath.Join(t.TempDir(), "deleted")
		run := filepath.Join("runs", "mine")
		await(t, "a part", b, func() bool {
			return hasParts(filepath.Join(bucket, run), "sent") && hasParts(filepath.Join(bucket, run), "received")
		})
		// A request under way would make the folder of the bucket again.
		gate.Lock()
		err := os.Rename(bucket, away) // as one does who deletes it at once
		gate.Unlock()
		if err != nil {
			t.Fatal(err)
		}
		// What is in the spool alone begins later than the load: it is put beside what
		// the bucket had, to be read.
		b.endsClearly(t, ending{1, []string{"no such bucket", "create the bucket", "bench upload"}, false}, filepath.Join(away, run), func() (string, []string) {
			return filepath.Join(away, run), nil
		})
		if exists(bucket) {
			t.Error("the bucket was made again")
		}
		others.unharmed(t)
	})
}

// A store that stays away for longer than requests are tried again (`--retry-for`, here
// 3 s for 90): the run ends, says so, and what was recorded is stored when it is back.
func TestAStoreThatStaysAway(t *testing.T) {
	t.Parallel()
	reliability.Try(t, reliability.Row{
		ID: "ends/stays-away", What: "the store gone for longer than `--retry-for` (3 s in the place of 90 s), its log in the same bucket, and in a folder", Often: "once each", Effort: 1,
		Holds:    "status 1 within seconds after that, what happened; `bench upload` stores the rest once it is back; the log is read and marked incomplete",
		Happened: "so it was",
	})
	benchProgram(t)
	for name, log := range map[string][]string{"log there": nil, "log in a folder": {"--log-store", "./logs"}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			gw := versitygw.Start(t)
			others := plant(t, filepath.Join(gw.Dir, gw.Bucket), "tables/mine-too/x", "runs/mine-too/run.json")
			var gone atomic.Bool
			p, err := faultproxy.Start(t.Context(), "127.0.0.1", gw.Endpoint, faultproxy.Plan{Down: func(time.Duration) bool { return gone.Load() }})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(p.Close)
			dir := t.TempDir()
			args := append([]string{"--store", "s3://" + gw.Bucket, "--endpoint", p.Endpoint, "--region", versitygw.Region, "--retry-for", "3s"}, log...)
			b := start(t, dir, gw.Environ(), delta(args...)...)
			run := filepath.Join(gw.Dir, gw.Bucket, "runs", "mine")
			if log != nil {
				run = filepath.Join(dir, "logs", "mine")
			}
			await(t, "a part", b, func() bool { return hasParts(run, "sent") && hasParts(run, "received") })
			gone.Store(true)
			b.endsClearly(t, ending{1, []string{"failed for 3s", "connection"}, log != nil}, run, func() (string, []string) {
				return gw.Address("runs/mine"), gw.Environ()
			})
			others.unharmed(t)
		})
	}
}

// gated stands in front of a server, and lets nothing pass while the gate is locked.
func gated(t *testing.T, gw *versitygw.Server) (endpoint string, gate *sync.RWMutex) {
	t.Helper()
	to, err := url.Parse(gw.Endpoint)
	if err != nil {
		t.Fatal(err)
	}
	gate = new(sync.RWMutex)
	pass := httputil.NewSingleHostReverseProxy(to) // requests keep their host, which is signed
	pass.ErrorHandler = func(w http.ResponseWriter, _ *http.Request, _ error) { w.WriteHeader(http.StatusBadGateway) }
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		gate.RLock()
		defer gate.RUnlock()
		pass.ServeHTTP(w, r)
	}))
	t.Cleanup(s.Close)
	return s.URL, gate
}

// denying stands in front of a server and refuses requests with a code of S3's.
func denying(t *testing.T, gw *versitygw.Server, code func(r *http.Request) string) *faultproxy.Proxy {
	t.Helper()
	p, err := faultproxy.Start(t.Context(), "127.0.0.1", gw.Endpoint, faultproxy.Plan{Denied: func(_ time.Duration, r *http.Request) string { return code(r) }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	return p
}
