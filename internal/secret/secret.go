// Package secret keeps passwords, keys and tokens from getting out: a value that
// prints as nothing, files that others cannot read, and what takes secrets out
// of texts that were made elsewhere.
//
// It refuses to find secrets by what they look like: a secret is what a variable
// or a setting says is one.
package secret

import "fmt"

// Text is a secret. However it is printed, encoded or looked into, it does not
// show: the pointer keeps fmt out where Format is not asked, in an unexported
// field. The zero value is no secret.
type Text struct{ value *string }

// Of is a secret of a text; none of an empty one.
func Of(text string) Text {
	if text == "" {
		return Text{}
	}
	return Text{&text}
}

// Reveal is the text itself, for the client that needs it.
func (t Text) Reveal() string {
	if t.value == nil {
		return ""
	}
	return *t.value
}

// IsZero says that there is none.
func (t Text) IsZero() bool { return t.value == nil }

// String says only whether there is one.
func (t Text) String() string {
	if t.IsZero() {
		return ""
	}
	return hidden
}

// hidden stands in the place of a secret.
const hidden = "***"

// Format keeps every verb from looking inside.
func (t Text) Format(s fmt.State, _ rune) { _, _ = s.Write([]byte(t.String())) }

// MarshalText keeps encoders from looking inside.
func (t Text) MarshalText() ([]byte, error) { return []byte(t.String()), nil }
