package secret

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"net/url"
	"regexp"
	"strings"
)

// minStruck is the shortest secret that is taken out of texts, in bytes: a
// shorter one would be found where it is none.
const minStruck = 6

// Striker takes secrets out of texts. The zero value takes nothing out. It may
// be used from any goroutine.
type Striker struct{ r *strings.Replacer }

// NewStriker takes out secrets, as they are and as addresses, JSON, hexadecimal
// and base64 have them, also within a longer text in base64. Those shorter than
// 6 bytes are left: they would be found where they are none.
func NewStriker(secrets ...string) Striker {
	var pairs []string
	seen := map[string]bool{}
	add := func(text string) {
		if len(text) >= minStruck && !seen[text] {
			seen[text] = true
			pairs = append(pairs, text, hidden)
		}
	}
	for _, s := range secrets {
		if len(s) < minStruck {
			continue
		}
		for _, form := range Forms(s) {
			add(form)
		}
	}
	if len(pairs) == 0 {
		return Striker{}
	}
	return Striker{strings.NewReplacer(pairs...)}
}

// Strike is a text without the secrets.
func (s Striker) Strike(text string) string {
	if s.r == nil {
		return text
	}
	return s.r.Replace(text)
}

// Forms are the ways in which a secret may stand in a text, itself first. Of
// base64 there are those characters that are the same whatever stands before and
// behind it, at each of the three places that it can begin.
func Forms(secret string) []string {
	quoted, _ := json.Marshal(secret) // a string has an encoding
	all := []string{
		secret, url.QueryEscape(secret), url.PathEscape(secret), url.UserPassword("", secret).String()[1:],
		strings.Trim(string(quoted), `"`), hex.EncodeToString([]byte(secret)),
	}
	for before := range 3 {
		padded := append(make([]byte, before), secret...)
		whole := len(padded) * 8 / 6 // characters that what follows does not change
		for _, e := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
			all = append(all, e.EncodeToString(padded)[(before*8+5)/6:whole])
		}
	}
	return all
}

// named is how variables of the environment are called that hold secrets.
var named = regexp.MustCompile(`(?i)(PASSWORD|PASSWD|SECRET|TOKEN|PRIVATE_?KEY|API_?KEY)`)

// notSecret are names that look so and hold the place of a secret.
var notSecret = regexp.MustCompile(`(?i)_(FILE|PATH|URI|URL|DIR)$`)

// InEnvironment are the values of the variables ("NAME=value") whose names say
// that they are secrets.
func InEnvironment(environ []string) (all []string) {
	for _, kv := range environ {
		name, value, _ := strings.Cut(kv, "=")
		if NamesSecret(name) {
			all = append(all, value)
		}
	}
	return all
}

// NamesSecret says whether a variable or a setting of that name holds a secret.
func NamesSecret(name string) bool {
	return named.MatchString(name) && !notSecret.MatchString(name)
}

// userinfo is what stands before the host of an address. A password may hold
// slashes that nobody encoded; a colon then tells it from a path.
var userinfo = regexp.MustCompile(`(?i)[a-z][a-z0-9+.-]*://([^/?#@\s]*@|[^/?#@\s]*:[^@\s]*@)`)

// InAddress says whether a text holds an address with a user or a password in
// it, as in nats://user:password@host.
func InAddress(text string) bool { return strings.Contains(text, "@") && userinfo.MatchString(text) }
