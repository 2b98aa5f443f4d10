package secret

import (
	"context"
	"slices"
	"sync"
)

// Known are the secrets that a program has met; nil knows none. Its methods may be called from
// any goroutine.
type Known struct {
	mu      sync.Mutex
	secrets []string
	striker *Striker
}

// NewKnown knows the secrets of an environment.
func NewKnown(environ []string) *Known { return &Known{secrets: InEnvironment(environ)} }

// Note adds secrets.
func (k *Known) Note(secrets ...string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, s := range secrets {
		if s != "" && !slices.Contains(k.secrets, s) {
			k.secrets, k.striker = append(k.secrets, s), nil
		}
	}
}

// Strike is a text without them, as far as they can be told from other text: see
// NewStriker. It is the last net: nothing should hold a secret at all.
func (k *Known) Strike(text string) string {
	if k == nil {
		return text
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.striker == nil {
		s := NewStriker(k.secrets...)
		k.striker = &s
	}
	return k.striker.Strike(text)
}

type knownKey struct{}

// With gives a context the secrets that its program knows.
func With(ctx context.Context, k *Known) context.Context {
	return context.WithValue(ctx, knownKey{}, k)
}

// From is what a context was given; a Known of its own, which nobody else asks, where it
// has none.
func From(ctx context.Context) *Known {
	if k, ok := ctx.Value(knownKey{}).(*Known); ok {
		return k
	}
	return &Known{}
}
