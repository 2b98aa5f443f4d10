//go:build !min

package main

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// others is a server with topics of somebody else's, and a pipeline between two of
// them.
type others struct {
	kind  string
	flags []string // that say where the server is
	// called is how a topic is named on the command line.
	called func(name string) string
	// create makes a topic. put adds a message of somebody else's, also one that no
	// run reads.
	create func(t *testing.T, name string)
	put    func(name, body string) error
	// pipe passes on what comes to a topic, changed, until the test ends.
	pipe func(t *testing.T, from, to string, change func(body []byte) []byte)
	// left says what a run has left on a topic, other than messages; empty for
	// nothing.
	left func(t *testing.T, name string) string
	// apart says that a run gets no messages that were there before it, and takes
	// none from anybody.
	apart bool
}

func (o *others) run(t *testing.T, args ...string) (jsonResult, int, string) {
	t.Helper()
	line := slices.Concat([]string{"run", "--queue", o.kind}, o.flags, strings.Fields("--rate 200 --duration 400ms --drain-timeout 30s --json --quiet --message-size 120"), args)
	status, stdout, stderr := bench(t, line...)
	var r jsonResult
	if strings.HasPrefix(stdout, "{") {
		r = jsonOf(t, stdout)
	}
	return r, status, stderr
}

// covers makes an output of an input, as {"covers": identity}.
func covers(body []byte) []byte {
	var in struct{ Meta struct{ ID string } }
	if json.Unmarshal(body, &in) != nil || in.Meta.ID == "" {
		return []byte("no input")
	}
	out, _ := json.Marshal(map[string]string{"covers": in.Meta.ID}) // of strings, which cannot fail
	return out
}

// testPipelines measures pipelines, and topics that are there already, through the
// command: identities in payload, header and field survive, what is somebody else's
// is passed over or counted, and stays.
func testPipelines(t *testing.T, o others) {
	bareEnvironment(t)
	const messages = 80
	same := func(body []byte) []byte { return body }
	for i, c := range []struct {
		name   string
		args   string
		change func([]byte) []byte
	}{
		{"payload", "", same},
		{"header", "--identity header:id --format text", same},
		{"field", "--identity json:/meta/id --format json --through-identity json:/covers", covers},
	} {
		t.Run(c.name, func(t *testing.T) {
			in, out := fmt.Sprintf("%s-in-%d", o.kind, i), fmt.Sprintf("%s-out-%d", o.kind, i)
			o.create(t, in)
			o.create(t, out)
			if o.apart {
				if err := o.put(out, "of somebody else, before the run"); err != nil {
					t.Fatal(err)
				}
			}
			o.pipe(t, in, out, c.change)
			r, status, stderr := o.run(t, append(strings.Fields(c.args), "--topic", o.called(in), "--through", o.called(out))...)
			if status != 0 || len(r.Steps) != 1 {
				t.Fatalf("status %d: %s", status, stderr)
			}
			if a := r.Steps[0].Accounting; a.Scheduled != messages || a.Acked != messages || a.Received != messages || a.Lost+a.Duplicates+a.Foreign != 0 {
				t.Errorf("accounting %+v, %s", a, stderr)
			}
			if text := o.left(t, in) + o.left(t, out); text != "" {
				t.Errorf("the run has left %s", text)
			}
		})
	}
	t.Run("a topic that is there", func(t *testing.T) {
		name := o.kind + "-direct"
		o.create(t, name)
		end := make(chan struct{})
		var putting sync.WaitGroup
		if o.apart {
			putting.Go(func() {
				for range 3000 { // a minute
					if err := o.put(name, "of somebody else"); err != nil {
						t.Error(err)
						return
					}
					select {
					case <-end:
						return
					case <-time.After(20 * time.Millisecond):
					}
				}
			})
		}
		r, status, stderr := o.run(t, "--topic", o.called(name), "--identity", "header:id", "--format", "json")
		close(end)
		putting.Wait()
		if status != 0 || len(r.Steps) != 1 {
			t.Fatalf("status %d: %s", status, stderr)
		}
		if a := r.Steps[0].Accounting; a.Scheduled != messages || a.Acked != messages || a.Received != messages || a.Lost+a.Duplicates != 0 || (a.Foreign > 0) != o.apart {
			t.Errorf("accounting %+v, %s", a, stderr)
		}
		if text := o.left(t, name); text != "" {
			t.Errorf("the run has left %s", text)
		}
	})
	t.Run("topics that are not there", func(t *testing.T) {
		there := o.kind + "-there"
		o.create(t, there)
		for says, args := range map[string][]string{
			"nowhere":   {"--topic", o.called("nowhere")},
			"nowhere-2": {"--topic", o.called(there), "--through", o.called("nowhere-2")},
			"nowhere-3": {"--topic", o.called("nowhere-3"), "--through", o.called(there)},
		} {
			_, status, stderr := o.run(t, args...)
			if status != 1 || !strings.Contains(stderr, says) || !strings.Contains(stderr, "must be there before the run begins") {
				t.Errorf("%q: status %d, %s", args, status, stderr)
			}
		}
		if text := o.left(t, there); text != "" {
			t.Errorf("the runs have left %s", text)
		}
	})
}
