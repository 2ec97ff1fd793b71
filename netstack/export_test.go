package netstack

// SetTuning varies the driver for measurements: lock a thread, yield, tell the
// scheduler of system calls, spin.
func (o *StackOptions) SetTuning(lock, yield, block bool, spins int) {
	o.tuning = tuning{set: true, lock: lock, yield: yield, block: block, spins: spins}
}
