// Package browser tests the page in a real Chromium, as a person would use it:
// the report from disk, the site over HTTP. It is a module of its own, so that
// the product does not depend on a browser driver.
//
// Run it with: cd interop/browser && go test ./...
// after `make page`. CHROMIUM names the browser where it is not in PATH. npm
// fetches axe-core. With -pictures the pages are saved as artefacts/*.png, to be
// looked at, and `go test -run TestPicturesOfDocs -docs` takes those of docs anew.
package browser
