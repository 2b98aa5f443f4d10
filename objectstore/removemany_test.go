package objectstore_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"queuebench/objectstore"
)

// Many objects are deleted by a request for each thousand; what a store does not
// delete so is deleted one by one, whatever its reason is.
func TestManyAreDeletedAtOnce(t *testing.T) {
	two := `<DeleteResult><Error><Key>p/run/7</Key><Code>AccessDenied</Code></Error><Error><Key>p/run/8</Key><Code>InternalError</Code></Error></DeleteResult>`
	var all strings.Builder
	all.WriteString("<DeleteResult>")
	for i := range 17 {
		fmt.Fprintf(&all, "<Error><Key>p/run/%d</Key><Code>AccessDenied</Code></Error>", i)
	}
	all.WriteString("</DeleteResult>")
	for _, c := range []struct {
		name      string
		n         int
		answers   []*http.Response // to the first requests for many
		many, few int
		refused   string // what is told, in the place of the server's answer
	}{
		{"all by two requests", 1001, nil, 2, 0, ""},
		{"a server without it", 40, []*http.Response{answer(501, "NotImplemented")}, 1, 40, ""},
		{"not known", 40, []*http.Response{answer(405, "MethodNotAllowed")}, 1, 40, ""},
		{"not understood", 40, []*http.Response{answer(400, "MalformedXML")}, 1, 40, ""},
		{"not permitted", 40, []*http.Response{answer(403, "AccessDenied")}, 1, 40, ""},
		{"overloaded for a moment", 40, []*http.Response{answer(503, "SlowDown"), answer(500, "InternalError")}, 3, 0, ""},
		{"two are refused", 40, nil, 1, 2, two},
		{"all are refused", 17, nil, 1, 17, all.String()},
		{"few", 3, nil, 0, 3, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			f, many, few := &fault{}, 0, 0
			s := faulty(t, f)
			each(t, 16, c.n, func(i int) error {
				return s.Put(t.Context(), fmt.Sprintf("run/%d", i), nil, objectstore.PutOptions{})
			})
			put(t, s, "running", "stays")
			f.before = func(r *http.Request) *http.Response {
				f.mu.Lock()
				defer f.mu.Unlock()
				switch {
				case r.Method == http.MethodDelete:
					few++
				case r.Method == http.MethodPost && r.URL.Query().Has("delete"):
					if many++; many <= len(c.answers) {
						return c.answers[many-1]
					}
				}
				return nil
			}
			if c.refused != "" {
				f.after = func(r *http.Request, resp *http.Response) (*http.Response, error) {
					if r.URL.Query().Has("delete") {
						resp.Body.Close()
						told := answer(200, "")
						told.Body, told.ContentLength, told.Request = io.NopCloser(strings.NewReader(c.refused)), int64(len(c.refused)), r
						return told, nil
					}
					return resp, nil
				}
			}
			before := s.Requests()
			if removed, err := objectstore.RemoveAll(t.Context(), s, "run/"); removed != c.n || err != nil {
				t.Errorf("removed %d, %v", removed, err)
			}
			if many != c.many || few != c.few {
				t.Errorf("%d requests for many and %d for one, want %d and %d", many, few, c.many, c.few)
			}
			if counted := s.Requests().Minus(before).Delete; counted != int64(many+few) {
				t.Errorf("%d were counted, of %d", counted, many+few)
			}
			wantList(t, s, objectstore.ListOptions{}, "running")
		})
	}
}
