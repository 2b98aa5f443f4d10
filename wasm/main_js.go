//go:build js

package main

import (
	"errors"
	"syscall/js"

	"queuebench/intake/address"
	"queuebench/report"
	"queuebench/report/comparison"
	"queuebench/report/session"
	"queuebench/wasm/bridge"
)

func main() {
	s := &session.Session{Compare: comparison.Build}
	bridge.Serve(map[string]any{
		// address says where a text leads to, seen from the page: {url, shown},
		// and manifest, the run.json of the run whose address it may be.
		"address": bridge.Func(func(args []js.Value) (map[string]any, error) {
			a, err := address.Parse(args[0].String(), args[1].String())
			if err != nil {
				return map[string]any{"shown": a.Shown}, err
			}
			m, err := a.Manifest()
			return map[string]any{"url": a.URL, "shown": a.Shown, "manifest": map[string]any{"url": m.URL, "shown": m.Shown}}, err
		}),
		// parts are those that a run.json names: {parts: [{url, shown, bytes}, …], signed}.
		"parts": bridge.Func(func(args []js.Value) (map[string]any, error) {
			list := []any{}
			parts, signed := address.Parts(address.Address{URL: args[0].String()}, bridge.Bytes(args[1]))
			for _, p := range parts {
				list = append(list, map[string]any{"url": p.URL, "shown": p.Shown, "bytes": p.Bytes})
			}
			return map[string]any{"parts": list, "signed": signed}, nil
		}),
		// sniff tells by its beginning what a file is: {digest, manifest}.
		"sniff": bridge.Func(func(args []js.Value) (map[string]any, error) {
			head := bridge.Bytes(args[0])
			return map[string]any{"digest": session.IsDigest(head), "manifest": address.IsManifest(head)}, nil
		}),
		// open takes [{name, from, group, foreign, error, data: Uint8Array}, …] and answers
		// {runs: [{name, from, error}, …]}.
		"open": bridge.Func(func(args []js.Value) (map[string]any, error) {
			files := make([]session.File, args[0].Length())
			for i := range files {
				f := args[0].Index(i)
				files[i] = session.File{Name: f.Get("name").String(), From: f.Get("from").String(), Group: f.Get("group").Int(), Foreign: f.Get("foreign").Truthy()}
				if e := f.Get("error"); e.Truthy() {
					files[i].Err = errors.New(e.String())
				} else {
					files[i].Data = bridge.Bytes(f.Get("data"))
				}
			}
			s.Open(files)
			runs := []any{}
			for _, r := range s.Runs {
				runs = append(runs, map[string]any{"name": r.Name, "from": r.From, "error": bridge.Text(r.Err)})
			}
			return map[string]any{"runs": runs}, nil
		}),
		"view": bridge.Func(func(args []js.Value) (map[string]any, error) {
			doc, err := s.View(args[0].String(), args[1].Int(), args[2].String())
			if err != nil {
				return nil, err
			}
			return document(doc), nil
		}),
	})
}

func document(doc report.Document) map[string]any {
	regions := make([]any, len(doc.Regions))
	for i, r := range doc.Regions {
		regions[i] = map[string]any{"id": r.ID, "html": r.HTML}
	}
	c := doc.Controls
	edges := make([]any, len(c.Edges))
	for i, e := range c.Edges {
		edges[i] = e
	}
	return map[string]any{
		"title": doc.Title, "regions": regions, "form": report.ControlsHTML(c), "fragment": c.Fragment, "change": c.Change, "hint": c.Hint,
		"controls": map[string]any{
			"warmup": c.WarmupS, "warmupText": c.WarmupText, "slot": c.Slot(), "percentiles": c.Percentiles,
			"latency": c.Latency, "scale": c.Scale, "edges": edges, "window": c.Window,
			"step": c.Step, "steps": choices(c.Steps), "interval": c.Interval, "intervals": choices(c.Intervals),
		},
	}
}

// choices are [[value, name], …].
func choices(all []report.Choice) []any {
	out := make([]any, len(all))
	for i, c := range all {
		out[i] = []any{c.Value, c.Name}
	}
	return out
}
