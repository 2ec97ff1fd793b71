package files

import (
	"errors"
	"os"
	"syscall"
)

// flock locks an open file, at once or not at all. The kernel drops the lock with the
// last descriptor, so a killed process leaves none.
func flock(f *os.File) error {
	err := withDescriptor(f, syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return ErrInUse
	}
	return err
}

func funlock(f *os.File) error { return withDescriptor(f, syscall.LOCK_UN) }

func withDescriptor(f *os.File, how int) error {
	raw, err := f.SyscallConn()
	if err != nil {
		return err
	}
	controlErr := raw.Control(func(fd uintptr) {
		for {
			if err = syscall.Flock(int(fd), how); !errors.Is(err, syscall.EINTR) {
				return
			}
		}
	})
	return errors.Join(controlErr, err)
}
