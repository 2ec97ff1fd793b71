package probe

import "time"

// start is where Now's clock and the kernel's are compared.
var start = time.Now()

// Now is the time in nanoseconds of the clock that kernel probes read
// (CLOCK_MONOTONIC), right to about 0.1 us; elsewhere than on Linux, of some
// monotonic clock.
func Now() int64 { return int64(time.Since(start)) + offset }
