//go:build !linux

package pace

import "time"

const precise = false

func prepare() (undo func()) { return func() {} }

func sleep(d time.Duration) { time.Sleep(d) }
