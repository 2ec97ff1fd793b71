//go:build !linux

package checkpoint

import "errors"

// kernelAIO is there on Linux only.
type kernelAIO struct{}

func newKernelAIO() (kernelAIO, error)     { return kernelAIO{}, errors.ErrUnsupported }
func (kernelAIO) close()                   {}
func (kernelAIO) submitSync(uintptr) error { return errors.ErrUnsupported }
func (kernelAIO) done() (bool, error)      { return true, errors.ErrUnsupported }
