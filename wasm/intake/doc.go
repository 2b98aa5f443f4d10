// Command intake makes digests of raw logs and of what other tools recorded,
// inside the page: built for js/wasm, it runs in a Web Worker of its own, which
// ends with what it has read, since WebAssembly gives no memory back.
//
// It is apart from the command in the folder above, which draws: a reader of a
// published run needs only that one.
package main
