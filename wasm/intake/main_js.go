//go:build js

package main

import (
	"bytes"
	"context"
	"errors"
	"runtime/debug"
	"syscall/js"
	"time"

	"queuebench/analysis"
	"queuebench/intake"
	"queuebench/wasm/bridge"
)

// heapBytes is when memory is collected more eagerly than by the default, which
// lets garbage grow to what is in use: a page may have 150 MB.
const heapBytes = 56 << 20

func main() {
	debug.SetMemoryLimit(heapBytes)
	bridge.Serve(map[string]any{
		// open takes [{name, from, found, remote, signed, error, size, read}, …], the
		// page's fragment, and whom to tell of progress, and answers
		// {runs: [{name, from, error, data: Uint8Array of a digest}, …], notes}.
		"open": bridge.Func(func(args []js.Value) (map[string]any, error) {
			opt, err := intake.ParseFragment(args[1].String())
			if err != nil {
				return nil, err
			}
			opt.Progress = throttled(args[2])
			runs, said := intake.Open(context.Background(), files(args[0]), opt)
			out, notes := []any{}, []any{}
			for _, r := range runs {
				e := map[string]any{"name": r.Name, "from": r.From, "error": bridge.Text(r.Err)}
				if r.Err == nil {
					var b bytes.Buffer
					if err := analysis.WriteDigest(&b, r.Digest); err != nil {
						e["error"] = err.Error()
					} else {
						e["data"] = bridge.Array(b.Bytes())
					}
				}
				out = append(out, e)
			}
			for _, n := range said {
				notes = append(notes, n)
			}
			return map[string]any{"runs": out, "notes": notes}, nil
		}),
	})
}

func files(given js.Value) []intake.File {
	w := new(windows)
	out := make([]intake.File, given.Length())
	for i := range out {
		f := given.Index(i)
		name := f.Get("name").String()
		out[i] = intake.File{
			Name: name, From: f.Get("from").Int(), Found: f.Get("found").Truthy(), Remote: f.Get("remote").Truthy(), Signed: f.Get("signed").Truthy(),
		}
		if e := f.Get("error"); e.Truthy() {
			out[i].Err = errors.New(e.String())
		} else {
			out[i].Object = &object{name: name, size: int64(f.Get("size").Float()), read: f.Get("read"), w: w}
		}
	}
	return out
}

// throttled tells the page ten times a second at most.
func throttled(tell js.Value) func(intake.Progress) {
	var last time.Time
	return func(p intake.Progress) {
		if now := time.Now(); now.Sub(last) >= 100*time.Millisecond {
			last = now
			tell.Invoke(p.Text(), p.Part())
		}
	}
}
