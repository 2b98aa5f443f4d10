package jetstream

import (
	"strings"
	"testing"

	"github.com/nats-io/nats.go/jetstream"

	"queuebench/queue"
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
	// Groups on a stream of somebody else's: of the run, of another, and theirs.
	for _, prefix := range []string{"run-a-9-", "run-ab-9-", ""} {
		own := Config{URL: s.url, Name: "run-a-3", Existing: true, GroupPrefix: prefix}
		theirs := open(t, own)
		if err := theirs.Create(t.Context()); err != nil {
			t.Fatal(err)
		}
		if _, err := theirs.Consumer(t.Context(), queue.ConsumerConfig{Group: "group-0"}); err != nil {
			t.Fatal(err)
		}
	}
	wanted := func(name string) bool { return strings.HasPrefix(name, "run-a-") }
	for _, want := range [][2]int{{2, 1}, {0, 0}} {
		if streams, groups, err := RemoveStreams(t.Context(), cfg, wanted); [2]int{streams, groups} != want || err != nil {
			t.Errorf("%d streams and %d groups were removed, want %d: %v", streams, groups, want, err)
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
