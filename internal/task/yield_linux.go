package task

import "syscall"

// yieldProcessor lets a thread have the processor that waits for it, of whatever process.
func yieldProcessor() { _, _, _ = syscall.Syscall(syscall.SYS_SCHED_YIELD, 0, 0, 0) }
