package overtake

import "syscall"

// dieWithParent makes the kernel kill a copy whose parent is gone.
func dieWithParent() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
}
