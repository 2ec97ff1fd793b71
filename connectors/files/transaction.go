package files

import (
	"cmp"
	"encoding/binary"
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

const transactionVersion = 1

// transaction is what one subtask wrote between two checkpoints: one file. Its names
// follow from its numbers.
type transaction struct {
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

// append is the description of a prepared transaction in a checkpoint.
func (t transaction) append(dst []byte) []byte {
	dst = append(dst, transactionVersion)
	for _, n := range []uint64{t.subtask, t.epoch, t.seq, uint64(t.length)} {
		dst = binary.AppendUvarint(dst, n)
	}
	return binary.LittleEndian.AppendUint32(dst, t.sum)
}

var errPrepared = errors.New("files: damaged description of a prepared file")

func decodeTransaction(b []byte) (t transaction, err error) {
	if len(b) == 0 || b[0] != transactionVersion {
		return t, errPrepared
	}
	var length uint64
	b = b[1:]
	for _, to := range []*uint64{&t.subtask, &t.epoch, &t.seq, &length} {
		v, n := binary.Uvarint(b)
		if n <= 0 {
			return t, errPrepared
		}
		*to, b = v, b[n:]
	}
	if t.length = int64(length); t.length <= 0 || len(b) != 4 {
		return t, errPrepared
	}
	t.sum = binary.LittleEndian.Uint32(b)
	return t, nil
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

// commit gives the file its part's name, if it has not got it yet.
func (t transaction) commit(dir, ext string, all, replace bool) error {
	pending, part := filepath.Join(dir, t.pending(ext)), filepath.Join(dir, t.part(ext))
	waits, err := t.check(pending, all)
	if err != nil {
		return err
	}
	if waits {
		if _, err := os.Lstat(part); err == nil && !replace {
			return fmt.Errorf("%s: %w: remove it, or write to another folder", part, ErrLeft)
		}
		if err := os.Rename(pending, part); err != nil {
			return err
		}
		return syncFolder(dir)
	}
	published, err := t.check(part, all)
	if err == nil && !published {
		err = fmt.Errorf("%w: there is neither %s nor %s", ErrLost, pending, part)
	}
	if err != nil {
		return err
	}
	return syncFolder(dir) // whoever renamed it may not have come to that
}

// abort removes the file.
func (t transaction) abort(dir, ext string) error {
	part := filepath.Join(dir, t.part(ext))
	if _, err := os.Lstat(part); err == nil {
		return fmt.Errorf("%s is published: it cannot be taken back", part)
	}
	return removeFile(filepath.Join(dir, t.pending(ext)))
}
