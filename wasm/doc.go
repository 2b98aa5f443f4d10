// Command wasm is the analyzer inside the page: built for js/wasm, run in a Web
// Worker, it opens a digest once and answers each view of it with fragments of
// HTML.
//
// It decides everything that the page shows; the page's JavaScript passes
// addresses in and puts fragments out. An error is a value with a text for
// people, never null, and a panic becomes one.
package main
