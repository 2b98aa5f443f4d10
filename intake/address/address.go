// Package address is where a page reads from: what a person typed as an address,
// the parts that a run.json at one names, and for what a signed one was signed.
//
// It asks nobody. What an address keeps secret (a user, a query) never stands in
// its messages.
package address

import (
	"bytes"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"queuebench/rawlog"
)

// Address is a place to read from.
type Address struct {
	URL   string // absolute
	Shown string // without what it may keep secret: user, query, fragment
}

// Parse reads what a person typed, or an address of the page's fragment,
// relative to the page. The error says what a page cannot open, and what to do.
func Parse(text, page string) (Address, error) {
	text = strings.TrimSpace(text)
	base, err := url.Parse(page)
	if err != nil {
		return Address{}, fmt.Errorf("the page's own address: %w", err)
	}
	u, err := base.Parse(text)
	if err != nil || strings.HasPrefix(u.Scheme, "http") && u.Host == "" {
		// The text may hold a signature: it is not repeated.
		return Address{}, errors.New("this is no address: a page opens https://…, or a path beside the page")
	}
	a := Address{u.String(), shown(u)}
	switch u.Scheme {
	case "http", "https":
		return a, nil
	case "s3":
		return a, fmt.Errorf("%s: a page has no keys to a store: open the https address of its run.json (public, or signed), or on the command line `analyze report %s`", a.Shown, Quoted(text))
	case "file":
		return a, fmt.Errorf("%s: a page may not read a disk by address: drop the file or its folder on the page, or on the command line `analyze report %s`", a.Shown, Quoted(u.Path))
	}
	return a, fmt.Errorf("%s: a page reads http and https only", a.Shown)
}

func shown(u *url.URL) string {
	v := *u
	v.User, v.RawQuery, v.ForceQuery, v.Fragment, v.RawFragment = nil, "", false, "", ""
	return v.String()
}

// Manifest is the address of the run.json of a run whose own address this is, as
// bench prints it.
func (a Address) Manifest() (Address, error) {
	u, err := url.Parse(a.URL)
	if err != nil {
		return a, errors.New("this is no address")
	}
	u = u.JoinPath(rawlog.ManifestName)
	return Address{u.String(), shown(u)}, nil
}

// Part is a part that a run.json at an address names.
type Part struct {
	Address
	Bytes int64
}

// Parts are the parts of the run whose run.json lay at an address; none for what
// is no run.json, or is one that cannot be read: intake.Open says so. signed tells that
// the address was signed for that object alone, so that its parts cannot be read
// with it.
func Parts(a Address, body []byte) (parts []Part, signed bool) {
	if !IsManifest(body) {
		return nil, false
	}
	m, err := rawlog.ReadManifest(bytes.NewReader(body))
	if err != nil {
		return nil, false
	}
	base, err := url.Parse(a.URL)
	if err != nil {
		return nil, false
	}
	query, signed := partQuery(base.Query())
	if signed {
		return nil, true
	}
	for i := range m.Steps {
		for _, p := range m.Steps[i].Parts {
			u := base.ResolveReference(&url.URL{Path: p.Name})
			if query {
				u.RawQuery = base.RawQuery
			}
			parts = append(parts, Part{Address{u.String(), shown(u)}, p.Bytes})
		}
	}
	return parts, false
}

// partQuery tells from the query of a run.json whether it was signed for its
// parts as well, so that they are asked for with it, or for that object alone. Of
// any other query nothing is known, and it goes to nobody but the object that it
// was given for.
//
// S3 (Signature Version 4 and 2) and Google sign one object. An Azure SAS says in
// sr what it is for (c a container, d a directory), or in ss that it is for an
// account. CloudFront signs one object, or what a Policy lists.
func partQuery(q url.Values) (parts, alone bool) {
	switch {
	case q.Has("X-Amz-Signature"), q.Has("X-Goog-Signature"), q.Has("AWSAccessKeyId") && q.Has("Signature"), q.Has("GoogleAccessId") && q.Has("Signature"):
		return false, true
	case q.Has("sig") && (q.Has("sr") || q.Has("ss")):
		wide := q.Get("sr") == "c" || q.Get("sr") == "d" || q.Has("ss")
		return wide, !wide
	case q.Has("Key-Pair-Id") && q.Has("Signature"):
		return q.Has("Policy"), !q.Has("Policy")
	}
	return false, false
}

// IsManifest tells a run.json of ours by its beginning, whatever its name became.
func IsManifest(head []byte) bool {
	trimmed := bytes.TrimLeft(head, " \t\r\n")
	trimmed = trimmed[:min(len(trimmed), 4<<10)]
	i := bytes.Index(trimmed, []byte(`"schema"`))
	return len(trimmed) > 0 && trimmed[0] == '{' && i > 0 && i < 200 && bytes.Contains(trimmed[i:min(len(trimmed), i+60)], []byte(`"queuebench.run/`))
}

// Quoted is a name as a shell takes it.
func Quoted(name string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("._-/:@%+=", r)
	}
	if name != "" && !strings.ContainsFunc(name, func(r rune) bool { return !plain(r) }) && !strings.HasPrefix(name, "-") {
		return name
	}
	return "'" + strings.ReplaceAll(name, "'", `'\''`) + "'"
}
