package lsm

import (
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/zeebo/xxh3"
)

// Sum is a 128-bit hash (XXH3) of a file's content. It tells files apart and finds
// damage; it is no protection against somebody who makes up files.
type Sum [16]byte

// String is the sum in hexadecimal digits.
func (s Sum) String() string { return hex.EncodeToString(s[:]) }

// MarshalText implements encoding.TextMarshaler.
func (s Sum) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (s *Sum) UnmarshalText(text []byte) error {
	if n, err := hex.Decode(s[:], text); err != nil || n != len(s) || len(text) != 2*len(s) {
		return fmt.Errorf("statecow/lsm: %q is no sum", text)
	}
	return nil
}

// File is one file of a checkpoint. Files never change; two with the same Size and
// Sum have the same content, whatever store they are from.
type File struct {
	Name string // in the directory
	Size int64  // bytes
	Sum  Sum
}

// Object is a name for the content: what an uploader may store it under.
func (f File) Object() string { return fmt.Sprintf("%s-%d", f.Sum, f.Size) }

// table reports whether the file is a sorted table, the bulk of a checkpoint.
func (f File) table() bool { return strings.HasSuffix(f.Name, ".sst") }

// Verify reads the file in dir. A *TableError says that its content differs.
func (f File) Verify(fs vfs.FS, dir string) error {
	path := fs.PathJoin(dir, f.Name)
	got, err := readFile(fs, path, f.Name, io.Discard)
	return f.compare(path, got, err)
}

func (f File) compare(path string, got File, err error) error {
	if err == nil && got != f {
		err = fmt.Errorf("it has %d bytes with sum %s, listed are %d with sum %s", got.Size, got.Sum, f.Size, f.Sum)
		return &TableError{File: path, Err: err}
	}
	return typed(path, err)
}

// readFile copies a file to w and describes it.
func readFile(fs vfs.FS, path, name string, w io.Writer) (File, error) {
	return readAndSync(fs, path, name, w, false)
}

// readAndSync is readFile that makes the content durable first.
func readAndSync(fs vfs.FS, path, name string, w io.Writer, sync bool) (File, error) {
	r, err := fs.Open(path, vfs.SequentialReadsOption)
	if err != nil {
		return File{}, err
	}
	if sync {
		if err := r.Sync(); err != nil {
			return File{}, errors.Join(err, r.Close())
		}
	}
	h := xxh3.New()
	n, err := io.CopyBuffer(io.MultiWriter(h, w), reader{r}, make([]byte, 256<<10))
	f := File{Name: name, Size: n, Sum: h.Sum128().Bytes()}
	return f, errors.Join(err, r.Close())
}

// reader hides what else a file can do from io.CopyBuffer, which would not use its
// buffer.
type reader struct{ io.Reader }

// sums remember the sums of tables, so that each is read once.
type sums struct {
	mu    sync.Mutex
	known map[string]File // by name
}

func (s *sums) add(files []File) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, f := range files {
		if f.table() {
			s.known[f.Name] = f
		}
	}
}

// keep forgets all tables but these.
func (s *sums) keep(files []File) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.known = map[string]File{}
	for _, f := range files {
		if f.table() {
			s.known[f.Name] = f
		}
	}
}

// of describes a file of a directory, which it syncs if it is unknown.
func (s *sums) of(fs vfs.FS, dir, name string) (File, error) {
	s.mu.Lock()
	f, ok := s.known[name]
	s.mu.Unlock()
	if ok {
		return f, nil
	}
	return readAndSync(fs, fs.PathJoin(dir, name), name, io.Discard, true)
}
