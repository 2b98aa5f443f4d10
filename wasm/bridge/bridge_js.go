package bridge

import (
	"fmt"
	"syscall/js"
)

// Func is a function that the page calls. It answers {ok, error, …}: error is a
// text for people, empty where ok, and never null; a panic becomes one.
func Func(do func(args []js.Value) (map[string]any, error)) js.Func {
	return js.FuncOf(func(_ js.Value, args []js.Value) any {
		out := map[string]any{"ok": true, "error": ""}
		more, err := guard(args, do)
		for k, v := range more {
			out[k] = v
		}
		if err != nil {
			out["ok"], out["error"] = false, err.Error()
		}
		return out
	})
}

func guard(args []js.Value, do func([]js.Value) (map[string]any, error)) (more map[string]any, err error) {
	defer func() {
		if r := recover(); r != nil {
			more, err = nil, fmt.Errorf("the analyzer failed at this input, which is an error of Queuebench (%v); `analyze` reads it natively", r)
		}
	}()
	return do(args)
}

// Serve offers functions to the page under the name queuebench, and stays.
func Serve(functions map[string]any) {
	js.Global().Set("queuebench", functions)
	js.Global().Call("queuebenchReady")
	select {}
}

// Bytes copies a Uint8Array.
func Bytes(v js.Value) []byte {
	b := make([]byte, v.Get("byteLength").Int())
	js.CopyBytesToGo(b, v)
	return b
}

// Array is a Uint8Array of bytes.
func Array(b []byte) js.Value {
	v := js.Global().Get("Uint8Array").New(len(b))
	js.CopyBytesToJS(v, b)
	return v
}

// Text is the text of an error, empty where there is none.
func Text(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
