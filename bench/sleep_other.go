//go:build !linux

package bench

import "time"

// PreciseSleep is time.Sleep here.
func PreciseSleep(d time.Duration) { time.Sleep(d) }
