//go:build !linux

package pace

import "time"

const precise = false

func prepare() (undo func()) { return func() {} }

func sleep(d time.Duration) { time.Sleep(d) }

// TimerSlack is not known here.
func TimerSlack() (ordinary, prepared int64, known bool) { return 0, 0, false }
