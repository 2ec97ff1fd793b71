//go:build !linux

package bench

import "syscall"

// Offspring are the attributes of a process that a measurement starts. Here it outlives
// this one if this one is killed.
func Offspring() *syscall.SysProcAttr { return &syscall.SysProcAttr{} }
