package files

import (
	"errors"
	"os"
	"syscall"
)

// flock locks an open file, at once or not at all. The kernel drops the lock with the
// last descriptor, so a killed process leaves none. Some file systems have no locks:
// they are as good to write to as before.
func flock(f *os.File) error {
	err := withDescriptor(f, syscall.LOCK_EX|syscall.LOCK_NB)
	switch {
	case errors.Is(err, syscall.EWOULDBLOCK):
		return ErrInUse
	case lacksLocks(err):
		return nil
	}
	return err
}

func lacksLocks(err error) bool {
	return errors.Is(err, syscall.ENOTSUP) || errors.Is(err, syscall.ENOSYS) || errors.Is(err, syscall.ENOLCK)
}

func funlock(f *os.File) error {
	if err := withDescriptor(f, syscall.LOCK_UN); !lacksLocks(err) {
		return err
	}
	return nil
}

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
