package bench

import "syscall"

// Offspring are the attributes of a process that a measurement starts: the kernel kills it
// when this one is gone, however it has ended, so that no copy goes on measuring for
// nobody.
func Offspring() *syscall.SysProcAttr { return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} }
