package secret

import (
	"encoding/base64"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

func TestATextNeverShows(t *testing.T) {
	const word = "hunter2-hunter2"
	type inner struct{ Password Text }
	type settings struct {
		Name   string
		Shown  Text
		hidden Text // fmt asks no method of an unexported field
		Inner  inner
		Many   map[string]Text
	}
	s := settings{"n", Of(word), Of(word), inner{Of(word)}, map[string]Text{"a": Of(word)}}
	var all []string
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d"} {
		all = append(all, fmt.Sprintf(verb, s), fmt.Sprintf(verb, &s), fmt.Sprintf(verb, s.Shown), fmt.Sprintf(verb, s.Inner))
	}
	j, err := json.Marshal(s)
	x, xerr := xml.Marshal(inner{Of(word)})
	if err != nil || xerr != nil {
		t.Fatal(err, xerr)
	}
	all = append(all, string(j), string(x), fmt.Sprint(s.Shown), fmt.Errorf("%w: %v", os.ErrNotExist, s).Error())
	for _, text := range all {
		for _, form := range Forms(word) {
			if strings.Contains(text, form) {
				t.Errorf("%s", text)
			}
		}
	}
	if s.hidden.Reveal() != word || !Of("").IsZero() || Of("").String() != "" || (Text{}).Reveal() != "" || Of(word).IsZero() {
		t.Error("a secret is not what it was made of")
	}
}

func TestFilesThatOthersMayReadAreRefused(t *testing.T) {
	if runtime.GOOS == "windows" {
		return // no permission bits tell who may read: the package says so
	}
	path := filepath.Join(t.TempDir(), "secret")
	for mode, who := range map[os.FileMode]string{
		0o600: "", 0o400: "", 0o700: "", 0o640: "group", 0o660: "group", 0o620: "group", 0o604: "everybody", 0o644: "everybody", 0o666: "everybody", 0o602: "everybody",
	} {
		if err := os.WriteFile(path, []byte("hunter2\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
		got, err := ReadLine(path)
		checked := CheckFile(path)
		if who == "" {
			if err != nil || checked != nil || got.Reveal() != "hunter2" {
				t.Errorf("%04o: %v, %v", mode, err, checked)
			}
		} else if err == nil || checked == nil || !strings.Contains(err.Error(), who) || !strings.Contains(err.Error(), "chmod 600") || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%04o: %v, %v", mode, err, checked)
		}
		if err := os.Chmod(path, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := ReadLine(t.TempDir()); err == nil {
		t.Error("a folder is read as a secret")
	}
	read, write, err := os.Pipe() // as a shell's <(command)
	if err != nil {
		t.Fatal(err)
	}
	defer read.Close()
	fmt.Fprintln(write, "of a pipe")
	write.Close()
	if runtime.GOOS == "linux" {
		if got, err := ReadLine(fmt.Sprintf("/dev/fd/%d", read.Fd())); err != nil || got.Reveal() != "of a pipe" {
			t.Errorf("a pipe: %v", err)
		}
	}
}

func TestLinesOfFiles(t *testing.T) {
	path := filepath.Join(t.TempDir(), "secret")
	for content, want := range map[string]string{"abc\n": "abc", "abc\r\n": "abc", " a b ": " a b ", "\n": "", "": ""} {
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if got, err := ReadLine(path); got.Reveal() != want || (err == nil) != (want != "") {
			t.Errorf("%q was read as %q, %v", content, got.Reveal(), err)
		}
	}
	if err := os.WriteFile(path, make([]byte, maxFile+1), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadFile(path); err == nil {
		t.Error("a secret of more than a megabyte is read")
	}
}

func TestSecretsAreStruckInEachForm(t *testing.T) {
	const word = `p/w+"d&=ü-long`
	k := NewKnown([]string{"HOME=/home/user", "X_PASSWORD=" + word, "TOKEN_FILE=/etc/passwd-file", "MY_TOKEN=tiny"})
	k.Note("", "noted-later")
	quoted, err := json.Marshal(word)
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{
		word, url.QueryEscape(word), url.PathEscape(word), "amqp://" + url.UserPassword("u", word).String() + "@host", string(quoted),
		base64.StdEncoding.EncodeToString([]byte("user:" + word + "!")), base64.URLEncoding.EncodeToString([]byte("\x00u\x00" + word)),
		base64.StdEncoding.EncodeToString([]byte(word)), fmt.Sprintf("%x", word), "it was noted-later, and again noted-later",
	} {
		got := k.Strike("before " + text + " after")
		if !strings.Contains(got, hidden) || strings.Contains(got, word) || strings.Contains(got, "noted-later") || !strings.HasPrefix(got, "before ") || !strings.HasSuffix(got, " after") {
			t.Errorf("%q became %q", text, got)
		}
	}
	for _, text := range []string{"/home/user", "/etc/passwd-file", "tiny", ""} {
		if got := k.Strike(text); got != text {
			t.Errorf("%q became %q", text, got)
		}
	}
	if got := (*Known)(nil).Strike("x"); got != "x" {
		t.Error(got)
	}
	if k := From(With(t.Context(), k)); k.Strike(word) != hidden {
		t.Error("a context does not carry what is known")
	}
	From(t.Context()).Note("x")
}

func TestAddressesWithSecrets(t *testing.T) {
	for text, want := range map[string]bool{
		"nats://user:pw@h:4222": true, "nats://token@h": true, "a,tls://u:p@h,b": true, "amqp://u:12/34@h/": true, "redis://:p#w@h": true,
		"s3://KEY:SECRET@bucket/x": true, "http://u:p@h:1/x?y": true, "postgres://u:p@h/db": true, "s3://KEY:a/b+c@bucket/x": true,
		"s3://bucket/a@b?endpoint=http://h:9000": false,
		"nats://h:4222":                          false, "s3://bucket/a@b": false, "s3://bucket/x?endpoint=http://h:9000": false, "user@example.org": false, "": false, "redis://h:1/0": false,
		`{"mail":"a@b"}`: false,
	} {
		if InAddress(text) != want {
			t.Errorf("%q: expected %v", text, want)
		}
	}
}

// A text in which a secret stood is not what it was.
func FuzzStrike(f *testing.F) {
	f.Add("secret-value", "text ", " more")
	f.Add("aaaaaaaaaaaa", "aaa", "a")
	f.Add("\x00\xff+/=&\"", "", "")
	f.Fuzz(func(t *testing.T, word, before, after string) {
		text := before + word + after
		if got := NewStriker(word).Strike(text); len(word) >= minStruck && got == text {
			t.Errorf("%q stands in %q", word, got)
		}
	})
}

func TestWriterStrikesWhatComesInPieces(t *testing.T) {
	var out strings.Builder
	k := &Known{}
	k.Note("hunter2-hunter2")
	w := NewWriter(&out, k)
	for _, piece := range []string{"a hunter2", "-hunter2 b\nc ", "hunter2-", "hunter2", " d"} {
		if n, err := w.Write([]byte(piece)); n != len(piece) || err != nil {
			t.Fatal(n, err)
		}
	}
	if err := w.Flush(); err != nil || out.String() != "a *** b\nc *** d" {
		t.Errorf("%q, %v", out.String(), err)
	}
	big := strings.Repeat("x", maxHeld+1)
	if _, err := w.Write([]byte(big)); err != nil || !strings.HasSuffix(out.String(), big) {
		t.Error("a long line is kept for ever", err)
	}
}
