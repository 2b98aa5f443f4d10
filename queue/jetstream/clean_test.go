package jetstream

import (
	"strings"
	"testing"

	"github.com/nats-io/nats.go/jetstream"
)

// What a killed run left is removed, and neither what is not wanted nor what
// somebody else made under such a name.
func TestRemoveStreams(t *testing.T) {
	s := start(t, serverConfig{Dir: t.TempDir()})
	cfg := Config{URL: s.url}
	for _, name := range []string{"run-a-1", "run-a-2", "run-ab-1"} {
		own := cfg
		own.Name = name
		if err := open(t, own).Create(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	own := cfg
	own.Name = "other"
	q := open(t, own)
	if _, err := q.js.CreateStream(t.Context(), jetstream.StreamConfig{Name: "run-a-3", Subjects: []string{"theirs"}, Metadata: map[string]string{ownerKey: "run-a-1"}}); err != nil {
		t.Fatal(err)
	}
	wanted := func(name string) bool { return strings.HasPrefix(name, "run-a-") }
	for _, want := range []int{2, 0} {
		if n, err := RemoveStreams(t.Context(), cfg, wanted); n != want || err != nil {
			t.Errorf("%d streams were removed, want %d: %v", n, want, err)
		}
	}
	var left []string
	for name := range q.js.StreamNames(t.Context()).Name() {
		left = append(left, name)
	}
	if len(left) != 2 {
		t.Errorf("left are %q, want run-ab-1 and run-a-3", left)
	}
}
