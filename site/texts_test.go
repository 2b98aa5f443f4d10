package site

import (
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	jsComment = regexp.MustCompile(`(?m)(^|[\s;{}(])//.*$|(?s:/\*.*?\*/)`)
	jsLiteral = regexp.MustCompile("\"(?:[^\"\\\\\n]|\\\\.)*\"|'(?:[^'\\\\\n]|\\\\.)*'|`(?:[^`\\\\]|\\\\.)*`")
	jsHole    = regexp.MustCompile(`\$\{[^}]*\}`)
	// words are what a person reads: a sentence, a word that begins one, or words
	// with a space between them.
	words = regexp.MustCompile(`[A-Z][a-z]+|[a-z]{2,} [a-z]{2,}|… *$`)
)

// unread are literals that nobody reads: names of keys, of headers, of faces, of
// data, and selectors.
var unread = strings.Split(`Home|End|Escape|Enter|Tab|ArrowLeft|ArrowRight|ArrowUp|ArrowDown|PageUp|PageDown|Files|Content-Type|Content-Encoding|Content-Length|`+
	`use strict|Go, Helvetica, Arial, sans-serif|<?xml version="1.0" encoding="UTF-8"?>\n|#headline h1|.pick input|details.data table| + s.replaceAll(`, "|") // the last one lies between two quotes in a regular expression

// literals are those of a script that a person could read.
func literals(script string) (out []string) {
	script = jsComment.ReplaceAllString(script, "$1")
	for _, l := range jsLiteral.FindAllString(script, -1) {
		text := jsHole.ReplaceAllString(l[1:len(l)-1], "")
		if words.MatchString(text) && !slices.Contains(unread, text) {
			out = append(out, text)
		}
	}
	return out
}

// TestScriptsSayOnlyTexts: all that the page's scripts say to a person stands in
// texts.js, so that a translation of it is one of that file.
func TestScriptsSayOnlyTexts(t *testing.T) {
	files, err := assets.ReadDir("assets")
	if err != nil {
		t.Fatal(err)
	}
	scripts := 0
	for _, f := range files {
		if !strings.HasSuffix(f.Name(), ".js") {
			continue
		}
		scripts++
		found := literals(asset(f.Name()))
		if f.Name() == "texts.js" {
			if len(found) < 30 {
				t.Errorf("texts.js has %d texts: the test does not see them", len(found))
			}
			continue
		}
		for _, text := range found {
			t.Errorf("site/assets/%s says %q: put it into texts.js", f.Name(), text)
		}
	}
	if scripts < 8 {
		t.Errorf("%d scripts", scripts)
	}
	for script, want := range map[string]int{
		`x.textContent = "Not found"; // "a comment"`: 1, "say(`${n} more runs`)": 1, `f("Saving…", 'data-key', "a.b > c")`: 1, `b.key === "Escape"`: 0,
	} {
		if got := literals(script); len(got) != want {
			t.Errorf("%s: %q", script, got)
		}
	}
}

// Every text is said somewhere, and each one that is said is there.
func TestTextsAreThoseThatAreSaid(t *testing.T) {
	files, err := assets.ReadDir("assets")
	if err != nil {
		t.Fatal(err)
	}
	all := ""
	for _, f := range files {
		if strings.HasSuffix(f.Name(), ".js") {
			all += asset(f.Name())
		}
	}
	var there, said []string
	for _, m := range regexp.MustCompile(`(?m)^  static (\w+) =`).FindAllStringSubmatch(asset("texts.js"), -1) {
		there = append(there, m[1])
	}
	for _, m := range regexp.MustCompile(`\bTexts\.(\w+)`).FindAllStringSubmatch(all, -1) {
		said = append(said, m[1])
		if !slices.Contains(there, m[1]) {
			t.Errorf("Texts.%s is said and is not in texts.js", m[1])
		}
	}
	for _, name := range there {
		if !slices.Contains(said, name) {
			t.Errorf("Texts.%s is said by nothing", name)
		}
	}
	if len(there) < 30 {
		t.Errorf("%d texts", len(there))
	}
}
