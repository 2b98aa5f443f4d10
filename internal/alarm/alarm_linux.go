package alarm

import (
	"context"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// Alarm sleeps for one goroutine at a time. Its zero value is a timer of the
// runtime.
type Alarm struct {
	f    *os.File // nil without a timerfd
	conn func(func(fd uintptr)) error
}

// New returns an alarm that its owner closes. Where the system gives no
// timerfd, one made of the runtime's timers.
func New() *Alarm {
	fd, err := unix.TimerfdCreate(unix.CLOCK_MONOTONIC, unix.TFD_NONBLOCK|unix.TFD_CLOEXEC)
	if err != nil {
		return &Alarm{}
	}
	f := os.NewFile(uintptr(fd), "timerfd")
	// Without deadlines the file is not in the runtime's epoll, and a read would
	// fail instead of waiting.
	conn, err := f.SyscallConn()
	if err != nil || f.SetReadDeadline(time.Time{}) != nil {
		_ = f.Close() // nothing was written to it
		return &Alarm{}
	}
	return &Alarm{f: f, conn: conn.Control}
}

// Close frees the timer. No Sleep may be under way.
func (a *Alarm) Close() {
	if a.f != nil {
		_ = a.f.Close() // there is nothing to lose
	}
}

// Sleep returns after d, or with the error of ctx as soon as that ends.
func (a *Alarm) Sleep(ctx context.Context, d time.Duration) error {
	if d <= 0 || ctx.Err() != nil {
		return ctx.Err()
	}
	if a.f == nil {
		return timer(ctx, d)
	}
	var failed error
	err := a.conn(func(fd uintptr) {
		failed = unix.TimerfdSettime(int(fd), 0, &unix.ItimerSpec{Value: unix.NsecToTimespec(int64(d))}, nil)
	})
	if err != nil || failed != nil {
		return timer(ctx, d)
	}
	// The past wakes a read that waits.
	stop := context.AfterFunc(ctx, func() { _ = a.f.SetReadDeadline(time.Unix(1, 0)) })
	var expirations [8]byte
	_, err = a.f.Read(expirations[:])
	if !stop() || ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil { // the deadline of a context that ended in an earlier Sleep
		return timer(ctx, d)
	}
	return nil
}
