//go:build !linux

package alarm

import (
	"context"
	"time"
)

// Alarm sleeps for one goroutine at a time.
type Alarm struct{}

// New returns an alarm that its owner closes.
func New() *Alarm { return &Alarm{} }

// Close frees nothing here.
func (*Alarm) Close() {}

// Sleep returns after d, or with the error of ctx as soon as that ends.
func (*Alarm) Sleep(ctx context.Context, d time.Duration) error {
	if d <= 0 || ctx.Err() != nil {
		return ctx.Err()
	}
	return timer(ctx, d)
}
