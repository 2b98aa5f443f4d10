package site

import (
	"io"
	"net/http"
	"os"
	"path"
	"strings"
	"time"

	"queuebench/internal/loopback"
)

// types are the only kinds of file that Handler serves.
var types = map[string]string{
	".html": "text/html; charset=utf-8",
	".css":  "text/css; charset=utf-8",
	".js":   "text/javascript; charset=utf-8",
	".json": "application/json",
	".wasm": "application/wasm",
	".gz":   "application/gzip", // never as a content encoding: the page unpacks
	".svg":  "image/svg+xml",
	".png":  "image/png",
	".csv":  "text/csv; charset=utf-8",
}

// otherCSP is of pages that are not the site's own.
const otherCSP = "object-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// Handler serves a site's folder to this machine. It answers only requests that
// name a loopback host, so that a page of another origin cannot reach it by
// pointing its own name here; it serves files of known types inside the folder
// (links out of it are not followed), and lists nothing.
func Handler(dir string) http.Handler {
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
		f, modified := open(dir, r.URL.Path)
		if f == nil {
			http.Error(w, "no such file in this site", http.StatusNotFound)
			return
		}
		defer f.Close()
		name := path.Base(f.Name())
		h.Set("Content-Type", types[path.Ext(name)])
		// A report is opened here too, and names the hashes of its scripts itself;
		// what this adds it cannot take back.
		if strings.HasSuffix(name, ".html") && name != "index.html" {
			h.Set("Content-Security-Policy", otherCSP)
		}
		http.ServeContent(w, r, "", modified, io.NewSectionReader(f, 0, size(f)))
	})
}

// open opens a file below dir by the path of a request; nil where there is none
// to serve.
func open(dir, request string) (*os.File, time.Time) {
	name := strings.TrimPrefix(path.Clean("/"+request), "/")
	if strings.HasSuffix(request, "/") {
		name = path.Join(name, "index.html")
	}
	for part := range strings.SplitSeq(name, "/") {
		if strings.HasPrefix(part, ".") {
			return nil, time.Time{}
		}
	}
	if types[path.Ext(name)] == "" {
		return nil, time.Time{}
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, time.Time{}
	}
	defer root.Close()
	f, err := root.Open(name)
	if err != nil {
		return nil, time.Time{}
	}
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		f.Close()
		return nil, time.Time{}
	}
	return f, info.ModTime()
}

func size(f *os.File) int64 {
	info, err := f.Stat()
	if err != nil {
		return 0
	}
	return info.Size()
}
