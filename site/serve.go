package site

import (
	"bytes"
	"io"
	"net/http"
	"os"
	"path"
	"strings"
	"time"

	"queuebench/internal/loopback"
)

// types are the only kinds of file that are served. What is compressed is so by
// its type and never by its encoding: the page unpacks, and what is saved is what
// lies there.
var types = map[string]string{
	".html":    "text/html; charset=utf-8",
	".css":     "text/css; charset=utf-8",
	".js":      "text/javascript; charset=utf-8",
	".json":    "application/json",
	".wasm":    "application/wasm",
	".gz":      "application/gzip",
	".zst":     "application/zstd",
	".parquet": "application/vnd.apache.parquet",
	".hlog":    "text/plain; charset=utf-8", // a histogram log; it has no registered type
	".svg":     "image/svg+xml",
	".png":     "image/png",
	".csv":     "text/csv; charset=utf-8",
}

// otherCSP is of pages that are not the site's own.
const otherCSP = "object-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// file is what is served; closing it is left to who asked for it.
type file struct {
	io.ReadSeeker
	name     string
	modified time.Time // zero where it is not known
	close    func() error
}

// Handler serves a site's folder to this machine. It answers only requests that
// name a loopback host, so that a page of another origin cannot reach it by
// pointing its own name here; it serves files of known types inside the folder
// (links out of it are not followed), and lists nothing.
func Handler(dir string) http.Handler {
	return guarded(func(name string) *file { return open(dir, name) })
}

// MemoryHandler is Handler of files that are in no folder, by their names.
func MemoryHandler(files map[string][]byte) http.Handler {
	return guarded(func(name string) *file {
		data, ok := files[name]
		if !ok {
			return nil
		}
		return &file{bytes.NewReader(data), name, time.Time{}, func() error { return nil }}
	})
}

// ReportHandler serves one HTML file, whatever its name, as the page of a site
// that has nothing else. It is opened for each request, so that a reload shows
// one that was written anew.
func ReportHandler(report string) http.Handler {
	return guarded(func(name string) *file {
		if name != "index.html" {
			return nil
		}
		f, err := os.Open(report)
		if err != nil {
			return nil
		}
		return regular(f, "report.html")
	})
}

// guarded answers for what find opens by a clean name without a leading slash;
// nil is a file that is not there.
func guarded(find func(name string) *file) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Content-Security-Policy", siteCSP+"; frame-ancestors 'none'")
		h.Set("Cache-Control", "no-cache")
		if !loopback.Host(r.Host) {
			http.Error(w, "this server answers only to localhost and 127.0.0.1", http.StatusMisdirectedRequest)
			return
		}
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			h.Set("Allow", "GET, HEAD")
			http.Error(w, "only GET and HEAD", http.StatusMethodNotAllowed)
			return
		}
		var f *file
		if name := served(r.URL.Path); name != "" {
			f = find(name)
		}
		if f == nil {
			http.Error(w, "no such file in this site", http.StatusNotFound)
			return
		}
		defer f.close()
		name := path.Base(f.name)
		h.Set("Content-Type", types[path.Ext(name)])
		// A report is opened here too, and names the hashes of its scripts itself;
		// what this adds it cannot take back.
		if strings.HasSuffix(name, ".html") && name != "index.html" {
			h.Set("Content-Security-Policy", otherCSP)
		}
		http.ServeContent(w, r, "", f.modified, f)
	})
}

// served is the name of the file that a request's path asks for; empty where no
// file of that name is served: hidden ones, and those of other kinds.
func served(request string) string {
	name := strings.TrimPrefix(path.Clean("/"+request), "/")
	if strings.HasSuffix(request, "/") {
		name = path.Join(name, "index.html")
	}
	for part := range strings.SplitSeq(name, "/") {
		if strings.HasPrefix(part, ".") {
			return ""
		}
	}
	if types[path.Ext(name)] == "" {
		return ""
	}
	return name
}

// open opens a file below dir; nil where there is none to serve.
func open(dir, name string) *file {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil
	}
	defer root.Close()
	f, err := root.Open(name)
	if err != nil {
		return nil
	}
	return regular(f, name)
}

// regular is an open file, nil where it is no regular one.
func regular(f *os.File, name string) *file {
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		f.Close()
		return nil
	}
	return &file{io.NewSectionReader(f, 0, info.Size()), name, info.ModTime(), f.Close}
}
