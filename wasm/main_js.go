//go:build js

package main

import (
	"syscall/js"

	"queuebench/report"
)

func main() {
	s := &session{}
	js.Global().Set("queuebench", map[string]any{
		"open": js.FuncOf(func(_ js.Value, args []js.Value) any {
			err := guard(func() error {
				data := make([]byte, args[0].Get("byteLength").Int())
				js.CopyBytesToGo(data, args[0])
				return s.open(data)
			})
			return answer(err, nil)
		}),
		"view": js.FuncOf(func(_ js.Value, args []js.Value) any {
			var doc report.Document
			err := guard(func() (err error) {
				doc, err = s.view(args[0].String(), args[1].Int())
				return err
			})
			if err != nil {
				return answer(err, nil)
			}
			return answer(nil, document(doc))
		}),
	})
	js.Global().Call("queuebenchReady")
	select {}
}

// answer is {ok, error, …}: error is a text, empty where ok.
func answer(err error, more map[string]any) map[string]any {
	out := map[string]any{"ok": err == nil, "error": ""}
	if err != nil {
		out["error"] = err.Error()
	}
	for k, v := range more {
		out[k] = v
	}
	return out
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
			"latency": c.Latency, "scale": c.Scale, "edges": edges,
		},
	}
}
