package checkpoint

import (
	"errors"
	"io/fs"
	"syscall"
)

// ioError wraps what the file system says with the file and what to do, unless that
// has been done.
func ioError(op, file string, err error) error {
	var named *IOError
	if err == nil || errors.As(err, &named) {
		return err
	}
	return &IOError{Op: op, File: file, Advice: advice(op, err), Err: err}
}

func advice(op string, err error) string {
	switch {
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return "free space, or retain fewer checkpoints; older checkpoints are intact"
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EROFS):
		return "let the job's user write there; older checkpoints are intact"
	case errors.Is(err, syscall.EMFILE), errors.Is(err, syscall.ENFILE):
		return "raise the limit of open files; older checkpoints are intact"
	case op == "read", op == "open":
		return "check the disk and its mount; if it stays so, restore an older checkpoint"
	case op == "sync":
		return "check the disk: what was written may be lost, so it was given up; older checkpoints are intact"
	}
	return "check the disk and its mount; older checkpoints are intact"
}
