package bench

import "time"

// CPUTime is the processor time that this process has used so far, all threads together.
// Off Linux it is not measured, and is 0.
func CPUTime() time.Duration { return cpuTime() }

// CPUSeconds is CPUTime in seconds.
func CPUSeconds() float64 { return CPUTime().Seconds() }
