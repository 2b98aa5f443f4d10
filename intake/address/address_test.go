package address

import (
	"encoding/json"
	"strings"
	"testing"

	"queuebench/rawlog"
)

func TestParse(t *testing.T) {
	const page = "https://host/site/#log=x"
	for text, want := range map[string]string{
		"runs/a.digest.gz":              "https://host/site/runs/a.digest.gz",
		" https://other/r/run.json?a=b": "https://other/r/run.json",
		"https://me:word@other/x#y":     "https://other/x",
		"/x":                            "https://host/x",
		"s3://bucket/run?region=x":      "s3://bucket/run",
		"file:///home/x":                "drop the file",
		"data:text/plain,x":             "http and https only",
		"http://[::1/secret":            "no address",
	} {
		a, err := Parse(text, page)
		got := a.Shown
		if err != nil {
			got += " " + err.Error()
		}
		if !strings.Contains(got, want) || strings.Contains(got, "word") || strings.Contains(got, "secret") || strings.Contains(a.Shown, "a=b") {
			t.Errorf("%q is shown as %q, want %q", text, got, want)
		}
	}
	if a, err := Parse("https://other/r/run.json?a=b", page); err != nil || a.URL != "https://other/r/run.json?a=b" {
		t.Error(a, err)
	}
	a, err := Parse("https://h/runs/2026.1?k=v", page)
	if err != nil {
		t.Fatal(err)
	}
	if m, err := a.Manifest(); err != nil || m.URL != "https://h/runs/2026.1/run.json?k=v" || m.Shown != "https://h/runs/2026.1/run.json" {
		t.Error(m, err)
	}
}

// A query goes to the parts only where it was signed for them.
func TestPartsKeepTheQueryThatWasSignedForThem(t *testing.T) {
	body, err := json.Marshal(rawlog.Manifest{Schema: rawlog.SchemaVersion, Run: "r", Steps: []rawlog.Step{{Parts: []rawlog.PartInfo{{Name: "sent/step=0/p.parquet", Bytes: 7}}}}})
	if err != nil {
		t.Fatal(err)
	}
	for query, want := range map[string]string{
		"":                                    "https://h/a%20b/sent/step=0/p.parquet",
		"?X-Amz-Signature=s":                  "signed",
		"?X-Goog-Signature=s":                 "signed",
		"?AWSAccessKeyId=a&Signature=s":       "signed",
		"?GoogleAccessId=a&Signature=s":       "signed",
		"?sv=1&sr=b&sig=s":                    "signed",
		"?sv=1&sr=c&sig=s":                    "https://h/a%20b/sent/step=0/p.parquet?sv=1&sr=c&sig=s",
		"?sv=1&ss=b&sig=s":                    "https://h/a%20b/sent/step=0/p.parquet?sv=1&ss=b&sig=s",
		"?Key-Pair-Id=k&Signature=s":          "signed",
		"?Key-Pair-Id=k&Signature=s&Policy=p": "https://h/a%20b/sent/step=0/p.parquet?Key-Pair-Id=k&Signature=s&Policy=p",
		"?versionId=7":                        "https://h/a%20b/sent/step=0/p.parquet",
	} {
		parts, signed := Parts(Address{URL: "https://h/a%20b/run.json" + query}, body)
		got := "signed"
		if !signed && len(parts) == 1 {
			got = parts[0].URL
		}
		if got != want || len(parts) == 1 && (parts[0].Bytes != 7 || parts[0].Shown != "https://h/a%20b/sent/step=0/p.parquet") {
			t.Errorf("%q: %s, want %s", query, got, want)
		}
	}
	for _, other := range []string{"", "{}", `{"schema":"queuebench.run/9"}`, `{"schema":"queuebench.run/1","steps":[{"parts":[{"name":"../x"}]}]}`} {
		if parts, signed := Parts(Address{URL: "https://h/run.json"}, []byte(other)); signed || len(parts) > 0 {
			t.Errorf("%s has parts", other)
		}
	}
}

func TestQuoted(t *testing.T) {
	for name, want := range map[string]string{"a/b-1.gz": "a/b-1.gz", "a b": "'a b'", "it's": `'it'\''s'`, "": "''", "-o": "'-o'", "$(x)": "'$(x)'"} {
		if got := Quoted(name); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

// Whatever is typed is an address that a page may open, or an error; what is
// shown of it has neither user nor query.
func FuzzParse(f *testing.F) {
	for _, text := range []string{"runs/a.digest.gz", "https://me:word@other/x?sig=1#y", "s3://bucket/run", "http://[::1", "//x", "data:,", "?", "\x00"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		a, err := Parse(text, "https://host/site/")
		if err != nil {
			return
		}
		if !strings.HasPrefix(a.URL, "http://") && !strings.HasPrefix(a.URL, "https://") {
			t.Errorf("%q is opened as %q", text, a.URL)
		}
		if strings.Contains(a.Shown, "?") || strings.Contains(a.Shown, "@") && !strings.Contains(a.URL, "%40") && strings.Contains(strings.SplitN(strings.SplitN(a.Shown+"//", "//", 3)[1], "/", 2)[0], "@") {
			t.Errorf("%q is shown as %q", text, a.Shown)
		}
	})
}
