package files

import (
	"cmp"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// ErrLost says that what a checkpoint has prepared is neither pending nor published.
var ErrLost = errors.New("what was prepared is gone")

// transaction is a file that one subtask wrote between two checkpoints. Its names follow
// from its numbers. While it is pending it is in the output's folder itself, so that one
// look at that folder finds all that an attempt has left.
type transaction struct {
	folder  string // of the part, below the output's, with /; "": there
	subtask uint64
	epoch   uint64 // of the attempt that wrote it
	seq     uint64 // 0, 1 … in the attempt
	length  int64
	sum     uint32 // CRC-32C of all its bytes
}

func (t transaction) pending(ext string) string {
	return fmt.Sprintf("%s%d-%d-%d%s", pendingPrefix, t.epoch, t.subtask, t.seq, ext)
}

func (t transaction) part(ext string) string {
	return fmt.Sprintf("%s%05d-%d-%d%s", partPrefix, t.subtask, t.epoch, t.seq, ext)
}

const (
	pendingPrefix = ".pending-"
	partPrefix    = "part-"
	lockPrefix    = ".lock-"
)

func parsePending(name string) (t transaction, ok bool) {
	ext, ok := parseNumbers(name, pendingPrefix, &t.epoch, &t.subtask, &t.seq)
	return t, ok && t.pending(ext) == name
}

func parsePart(name string) (t transaction, ok bool) {
	ext, ok := parseNumbers(name, partPrefix, &t.subtask, &t.epoch, &t.seq)
	return t, ok && t.part(ext) == name
}

// lockName is the name of the file that the live writer of a subtask has locked.
func lockName(subtask uint64) string { return fmt.Sprint(lockPrefix, subtask) }

func parseLock(name string) (subtask uint64, ok bool) {
	_, ok = parseNumbers(name, lockPrefix, &subtask)
	return subtask, ok && lockName(subtask) == name
}

// parseNumbers reads the numbers of a name, with - between them, and the extension
// after the last one.
func parseNumbers(name, prefix string, to ...*uint64) (ext string, ok bool) {
	rest, ok := strings.CutPrefix(name, prefix)
	if !ok {
		return "", false
	}
	if dot := strings.IndexByte(rest, '.'); dot >= 0 {
		rest, ext = rest[:dot], rest[dot:]
	}
	fields := strings.Split(rest, "-")
	if len(fields) != len(to) {
		return "", false
	}
	for i, field := range fields {
		n, err := strconv.ParseUint(field, 10, 64)
		if err != nil {
			return "", false
		}
		*to[i] = n
	}
	return ext, true
}

// check reports whether there is a file at path, and whether it is the transaction's:
// by its length, and if all, its checksum.
func (t transaction) check(path string, all bool) (present bool, err error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	info, err := f.Stat()
	if err == nil && info.Size() != t.length {
		err = fmt.Errorf("%s: %w: it has %d bytes, not %d", path, cmp.Or(shorter(info.Size(), t.length), ErrForeign), info.Size(), t.length)
	}
	if err == nil && all {
		sum := crc32.New(castagnoli())
		if _, err = io.Copy(sum, f); err == nil && sum.Sum32() != t.sum {
			err = fmt.Errorf("%s: %w: its checksum is another", path, ErrForeign)
		}
	}
	return true, errors.Join(err, f.Close())
}

func shorter(have, want int64) error {
	if have < want {
		return ErrShort
	}
	return nil
}

// commit gives the file its part's name, if it has not got it yet. It does not sync the
// folders.
func (t transaction) commit(dir, ext string, all, replace bool) error {
	pending, part := filepath.Join(dir, t.pending(ext)), t.path(dir, ext)
	waits, err := t.check(pending, all)
	if err != nil {
		return err
	}
	if waits {
		if there, err := os.Lstat(part); err == nil && !replace {
			return t.unlink(pending, part, there)
		}
		if err := os.MkdirAll(filepath.Dir(part), 0o777); err != nil {
			return err
		}
		return os.Rename(pending, part)
	}
	published, err := t.check(part, all)
	if err == nil && !published {
		err = fmt.Errorf("%w: there is neither %s nor %s", ErrLost, pending, part)
	}
	return err
}

// unlink removes the pending name of a file that has its part's name too: not every file
// system moves a file from one folder to another at once. Another file is left alone.
func (t transaction) unlink(pending, part string, there os.FileInfo) error {
	if waits, err := os.Lstat(pending); err == nil && os.SameFile(waits, there) {
		return removeFile(pending)
	}
	return fmt.Errorf("%s: %w: remove it, or write to another folder", part, ErrLeft)
}

// abort removes the file.
func (t transaction) abort(dir, ext string) error {
	part := t.path(dir, ext)
	if _, err := os.Lstat(part); err == nil {
		return fmt.Errorf("%s is published: it cannot be taken back", part)
	}
	return removeFile(filepath.Join(dir, t.pending(ext)))
}

// path is where the part is, or will be.
func (t transaction) path(dir, ext string) string {
	return filepath.Join(dir, filepath.FromSlash(t.folder), t.part(ext))
}
