package atomicfile

import (
	"bufio"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// Replace writes what fill says to a file beside path, syncs it, and gives it path's name. If
// any of that fails, what was at path stays, and nothing is left beside it. A link is
// followed. What is no regular file, such as a pipe or /dev/stdout, is written to directly.
// The writer is buffered, and fill's until it returns.
func Replace(path string, mode fs.FileMode, fill func(w io.Writer) error) error {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		f, err := os.OpenFile(path, os.O_WRONLY, 0)
		if err != nil {
			return err
		}
		return errors.Join(buffered(f, fill), f.Close())
	}
	tmp := path + ".tmp"
	f, err := os.OpenFile(tmp, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, mode)
	if err != nil {
		return err
	}
	err = buffered(f, fill)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(tmp, path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(tmp))
	}
	return nil
}

func buffered(f *os.File, fill func(w io.Writer) error) error {
	w := bufio.NewWriterSize(f, 64<<10)
	if err := fill(w); err != nil {
		return err
	}
	return w.Flush()
}

// ReplaceText is Replace for a content that is there already.
func ReplaceText[T ~string | ~[]byte](path string, mode fs.FileMode, text T) error {
	return Replace(path, mode, func(w io.Writer) error {
		_, err := w.Write([]byte(text))
		return err
	})
}
