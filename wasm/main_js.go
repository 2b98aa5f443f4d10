//go:build js

package main

import (
	"fmt"
	"syscall/js"

	"queuebench/report"
	"queuebench/report/comparison"
	"queuebench/report/session"
)

func main() {
	s := &session.Session{Compare: comparison.Build}
	js.Global().Set("queuebench", map[string]any{
		// open takes [{name, data: Uint8Array}, …] and answers {runs: [{name, from, error}, …]}.
		"open": js.FuncOf(func(_ js.Value, args []js.Value) any {
			err := guard(func() error {
				files := make([]session.File, args[0].Length())
				for i := range files {
					f := args[0].Index(i)
					data := make([]byte, f.Get("data").Get("byteLength").Int())
					js.CopyBytesToGo(data, f.Get("data"))
					files[i] = session.File{Name: f.Get("name").String(), Data: data}
				}
				s.Open(files)
				return nil
			})
			return answer(err, map[string]any{"runs": runs(s)})
		}),
		"view": js.FuncOf(func(_ js.Value, args []js.Value) any {
			var doc report.Document
			err := guard(func() (err error) {
				doc, err = s.View(args[0].String(), args[1].Int(), args[2].String())
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

// runs are the open runs for the page; error is empty where one was read.
func runs(s *session.Session) []any {
	out := []any{}
	for _, r := range s.Runs {
		e := map[string]any{"name": r.Name, "from": r.From, "error": ""}
		if r.Err != nil {
			e["error"] = r.Err.Error()
		}
		out = append(out, e)
	}
	return out
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

// guard turns a panic into an error.
func guard(do func() error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("the analyzer failed at this input, which is an error of Queuebench (%v); `analyze` reads the run natively", r)
		}
	}()
	return do()
}
