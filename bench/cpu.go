package bench

// CPUSeconds is the processor time that this process has used so far, all threads
// together. Off Linux it is not measured, and is 0.
func CPUSeconds() float64 { return cpuSeconds() }
