// Command wasm is the analyzer inside the page: built for js/wasm, run in a Web
// Worker, it opens digests once and answers each view of them with fragments of
// HTML.
//
// It decides everything that the page shows; the page's JavaScript passes
// addresses in and puts fragments out. What is no digest, the command in intake
// makes one of: a reader of a published run never downloads that one.
package main
