package deltalake

import (
	"strings"
	"testing"
	"time"

	"queuebench/internal/versitygw"
	"queuebench/objectstore"
	"queuebench/queue"
	"queuebench/queue/queuetest"
)

func folder(t testing.TB) objectstore.Store {
	t.Helper()
	s, err := objectstore.FolderOptions{NoSync: true}.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func open(t testing.TB, cfg Config) *Queue {
	t.Helper()
	orDefault(&cfg.Name, "tables/"+strings.ToLower(strings.NewReplacer("/", "-", "#", "-").Replace(t.Name())))
	orDefault(&cfg.CommitInterval, 5*time.Millisecond)
	orDefault(&cfg.PollInterval, time.Millisecond)
	q, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { q.Close() })
	return q
}

func conformance(t *testing.T, store objectstore.Store, cfg Config) {
	cfg.Store = store
	queuetest.Run(t, func(t *testing.T) queue.Queue { return open(t, cfg) }, queuetest.Options{
		Quiet: 60 * time.Millisecond, Offsets: true, Retains: true, Messages: 500,
		Neighbours: func(t *testing.T) (queue.Queue, queue.Queue) {
			short, long := cfg, cfg
			short.Name, long.Name = "rates/1000", "rates/10000"
			return open(t, short), open(t, long)
		},
		Stall: func(t *testing.T) queue.Queue {
			s, f := withFaults(store)
			f.put = func(key string, ifAbsent bool) fault {
				if ifAbsent && isCommit(key) && !strings.HasSuffix(key, versionKey(0)) {
					return fault{before: hang}
				}
				return fault{}
			}
			c := cfg
			c.Store, c.CloseGrace = s, 30*time.Millisecond
			return open(t, c)
		},
	})
}

func TestConformanceFolder(t *testing.T) {
	for name, cfg := range map[string]Config{
		"one":     {},
		"three":   {Partitions: 3, Pipeline: 1},
		"pathway": {Schema: Pathway, Codec: Snappy, BatchBytes: 4000, Partitions: 2},
		"as is":   {Design: AsPathway},
	} {
		t.Run(name, func(t *testing.T) { conformance(t, folder(t), cfg) })
	}
}

func TestConformanceS3(t *testing.T) {
	conformance(t, openS3(t), Config{})
}

func openS3(t testing.TB) objectstore.Store {
	t.Helper()
	s := versitygw.Start(t)
	store, err := objectstore.Open(t.Context(), s.Address("queues"), objectstore.Options{Credentials: objectstore.StaticCredentials(s.AccessKey, s.SecretKey, "")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { objectstore.Close(store) })
	return store
}
