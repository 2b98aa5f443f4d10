package objectstore

import (
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"
)

func TestParseAddress(t *testing.T) {
	ok := func(s string, want Address) {
		t.Helper()
		got, err := ParseAddress(s)
		if err != nil || got != want {
			t.Errorf("ParseAddress(%q) = %+v, %v; want %+v", s, got, err, want)
		}
	}
	ok("./data", Address{Folder: "data"})
	ok("/var/data/", Address{Folder: "/var/data"})
	ok(".", Address{Folder: "."})
	ok("./s3:x", Address{Folder: "s3:x"})
	ok("a:b", Address{Folder: "a:b"})
	ok("50%/a?b", Address{Folder: "50%/a?b"})
	ok("file:///var/my%20data", Address{Folder: "/var/my data"})
	ok("file://localhost/var", Address{Folder: "/var"})
	ok("s3://s3-bench", Address{Bucket: "s3-bench"})
	ok("s3://3s/1000/", Address{Bucket: "3s", Prefix: "1000"})
	ok("s3://b/my%20run%2525?region=eu-west-1", Address{Bucket: "b", Prefix: "my run%25", Region: "eu-west-1"})
	ok("s3://b/p?endpoint=http://localhost:9000/&path-style=false", Address{Bucket: "b", Prefix: "p", Endpoint: "http://localhost:9000", Style: StyleVirtualHost})
	ok("s3://b?endpoint=https%3A%2F%2F%5B%3A%3A1%5D%3A9000", Address{Bucket: "b", Endpoint: "https://[::1]:9000"})
}

// Trap 11: bucket names that look like something else.
func TestTrap11BucketNamesSurvive(t *testing.T) {
	for _, bucket := range []string{"s3-bench", "3s", "s3", "s3s", "ss3--s3"} {
		for _, prefix := range []string{"", "1000", "s3", "s3:/x"} {
			a := Address{Bucket: bucket, Prefix: prefix}
			if got, err := ParseAddress(a.String()); err != nil || got != a {
				t.Errorf("%q is read back as %+v, %v", a.String(), got, err)
			}
		}
	}
}

func TestParseAddressRefuses(t *testing.T) {
	for s, say := range map[string]string{
		"":                                      "s3://bucket/prefix",
		"s3:/bucket":                            "s3://",
		"s3:bucket":                             "s3://",
		"S3://bucket":                           "s3://bucket/prefix",
		"http://localhost:9000/bucket":          "endpoint=",
		"file:data":                             "file://",
		"file://data":                           "file:///",
		"gs://bucket":                           "s3://bucket/prefix",
		"s3://":                                 "needs a bucket",
		"s3:///prefix":                          "needs a bucket",
		"s3://localhost:9000/bucket":            "?endpoint=",
		"s3://AKIA:geheim@bucket/p":             "environment",
		"s3://b/../c":                           `".."`,
		"s3://b/a//c":                           "two in a row",
		"s3://b/%2e%2e/c":                       `".."`,
		"s3://b/%zz":                            "%25",
		"s3://b/p#x":                            "%23",
		"s3://b?endpoint=localhost:9000":        "http://host:port",
		"s3://b?endpoint=http://":               "no host",
		"s3://b?endpoint=http://u:geheim@h":     "environment",
		"s3://b?endpoint=http://h/path":         "nothing more",
		"s3://b?secret-key=geheim":              "environment",
		"s3://b?Endpoint=http://h":              "endpoint, region and path-style",
		"s3://b?region=a&region=b":              "twice",
		"s3://b?region=":                        "us-east-1",
		"s3://b?path-style=1":                   "true or false",
		"s3://b?region=eu%20west":               "us-east-1",
		"s3://b?endpoint=http://h%00&region=us": "http://host:port",
	} {
		a, err := ParseAddress(s)
		if err == nil {
			t.Errorf("ParseAddress(%q) = %+v, want a refusal", s, a)
			continue
		}
		if !strings.Contains(err.Error(), say) {
			t.Errorf("ParseAddress(%q): %v; want it to say %q", s, err, say)
		}
		if strings.Contains(err.Error(), "geheim") {
			t.Errorf("ParseAddress(%q) repeats a secret: %v", s, err)
		}
	}
}

// randomAddress is an address of odd but valid parts.
func randomAddress(r *rand.Rand) Address {
	pick := func(all ...string) string { return all[r.IntN(len(all))] }
	if r.IntN(3) == 0 {
		return Address{Folder: filepath.Clean(pick("", "/", "../") + pick("a", "s3:", "http:", "a b", "x?y", "ü", "%41", "file:") + pick("", "/b", "//c"))}
	}
	a := Address{Bucket: pick("s3-bench", "3s", "a.b", "B_1"), Region: pick("", "us-east-1", "auto"), Style: Style(r.IntN(3))}
	a.Endpoint = pick("", "http://localhost:9000", "https://[::1]", "https://s3.example.org")
	var parts []string
	for range r.IntN(4) {
		parts = append(parts, pick("a", "a b", "a+b", "%2F", "ü=1", "?#", `"\`, "\n", "run=1&x", "…"))
	}
	a.Prefix = strings.Join(parts, "/")
	return a
}

func TestAddressRoundTrip(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 5000 {
		a := randomAddress(r)
		back, err := ParseAddress(a.String())
		if err != nil || back != a {
			t.Fatalf("%+v is written %q and read %+v, %v", a, a.String(), back, err)
		}
	}
}

func FuzzParseAddress(f *testing.F) {
	for _, s := range []string{"./data", "s3:x", "file:///a%20b", "s3://3s/a%20b?endpoint=http://[::1]:9&region=eu&path-style=true", "s3://k:s@b", "s3://b/%", "s3://b?endpoint=http://h:x"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		a, err := ParseAddress(s)
		if err != nil {
			return
		}
		back, err := ParseAddress(a.String())
		if err != nil || back != a {
			t.Fatalf("%q is read %+v, written %q, and read %+v, %v", s, a, a.String(), back, err)
		}
	})
}
