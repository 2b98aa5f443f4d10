package pace

import (
	"os"
	"runtime"
	"time"
)

// Processors gives waiters that spin processors of their own in Go's scheduler,
// until undo is called, and leaves it to the system to share out the cores.
//
// A goroutine that spins on a locked thread keeps one of Go's processors, of
// which there are as many as cores, and Go takes it away after 10 ms in favour
// of any goroutine that is ready, which may then keep it as long. On two cores
// that are busy with other things, at 1,000,000 messages a second, three runs
// each: with two processors the p99 of the send lag was 0.9 to 2.4 s and
// messages were overrun in most runs, with three it was 0.05 to 0.4 s and none
// was.
//
// A waiter that sleeps between its moments gives its processor back, and one
// more of them then only makes other goroutines compete with its thread for the
// cores: at 10,000 a second on two quiet cores the p99 of the lag was 0.3 to
// 2 ms with a third processor and 24 to 35 µs without. So period, the time
// between the moments of a waiter, must be one that is spun over.
//
// Who sets GOMAXPROCS in the environment keeps what they set.
func Processors(waiters int, period time.Duration) (undo func()) {
	extra := min(waiters, runtime.NumCPU())
	if extra <= 0 || period > spin || os.Getenv("GOMAXPROCS") != "" {
		return func() {}
	}
	before := runtime.GOMAXPROCS(0)
	runtime.GOMAXPROCS(before + extra)
	return func() { runtime.GOMAXPROCS(before) }
}
