//go:build !linux

package overtake

import "syscall"

// dieWithParent does nothing here: a copy notices that its parent is gone when
// their connection breaks.
func dieWithParent() *syscall.SysProcAttr { return nil }
