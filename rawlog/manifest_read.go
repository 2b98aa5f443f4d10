package rawlog

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
)

// MaxManifestBytes is the most bytes of a run.json; 10,000 parts have 5 MB.
const MaxManifestBytes = 64 << 20

// What an honest run.json has: objects of 64 bytes and more on average, beyond
// some thousand.
const (
	freeObjects = 1 << 16
	leastObject = 64
)

// ReadManifest reads a run.json. A newer minor version is read, and what it
// added is ignored; another major version is refused by name (ErrNewer,
// ErrUnsupported). What is no manifest at all is ErrNotARun, one that is cut off
// or holds what no manifest holds is ErrDamaged.
func ReadManifest(r io.Reader) (*Manifest, error) {
	body, err := io.ReadAll(io.LimitReader(r, MaxManifestBytes+1))
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", ManifestName, err)
	}
	if len(body) > MaxManifestBytes {
		return nil, unsupported("%s has more than %d bytes", ManifestName, MaxManifestBytes)
	}
	// An empty object of three bytes becomes one of some hundred.
	if objects := bytes.Count(body, []byte("{")) + bytes.Count(body, []byte("null")); objects > freeObjects+len(body)/leastObject {
		return nil, fmt.Errorf("%w: %s has %d objects in %d bytes: nothing writes it so", ErrDamaged, ManifestName, objects, len(body))
	}
	// The version decides how the rest is to be read.
	var head struct {
		Schema string `json:"schema"`
	}
	if err := json.Unmarshal(body, &head); err != nil {
		return nil, manifestError(body, err)
	}
	if err := checkVersion(head.Schema); err != nil {
		if errors.Is(err, ErrNewer) || errors.Is(err, ErrUnsupported) {
			return nil, err
		}
		return nil, fmt.Errorf("%w: the %s there is of something else: its %w", ErrNotARun, ManifestName, err)
	}
	m := new(Manifest)
	if err := json.Unmarshal(body, m); err != nil {
		return nil, manifestError(body, err)
	}
	return m, m.check()
}

func manifestError(body []byte, err error) error {
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) {
		if len(body) > 0 && body[0] != '{' {
			return fmt.Errorf("%w: %s is no JSON object", ErrNotARun, ManifestName)
		}
		return fmt.Errorf("%w: %s, byte %d: %w", ErrDamaged, ManifestName, syntax.Offset, err)
	}
	return fmt.Errorf("%w: %s: %w", ErrDamaged, ManifestName, err)
}

// check refuses what would lead a reader astray.
func (m *Manifest) check() error {
	type repeat struct{ step, repeat int }
	seen := make(map[repeat]bool)
	for i, s := range m.Steps {
		if s.Step < 0 || s.Repeat < 0 || s.DurationNs < 0 || s.Producers < 0 {
			return damaged("%s: entry %d of its steps has a negative number", ManifestName, i)
		}
		if key := (repeat{s.Step, s.Repeat}); seen[key] {
			return damaged("%s: step %d, repeat %d stands there twice", ManifestName, s.Step, s.Repeat)
		} else {
			seen[key] = true
		}
		for _, p := range s.Parts {
			if !safeName(p.Name) {
				return damaged("%s names a part %s, which is not below it", ManifestName, strconv.Quote(p.Name))
			}
		}
	}
	return nil
}
