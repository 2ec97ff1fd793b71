package lsm

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/zeebo/xxh3"

	"github.com/overtake-stream/overtake/statecow"
)

// ListName is the file that makes a directory a checkpoint: its list. Whoever
// copies a checkpoint copies it last.
const ListName = "CHECKPOINT"

const listFormat = 1

// Checkpoint lists a store's files as they were at a moment.
type Checkpoint struct {
	Format    int
	Mark      statecow.Mark   // of the moment, a base of increments like a snapshot's
	Keys      int             // an estimate, as Len
	MaxGroups int             // of the store that made it
	Groups    statecow.Groups // that it holds
	Files     []File          // in the order of their names, all but the list
}

// PendingCheckpoint is a checkpoint whose files are frozen but not listed yet.
type PendingCheckpoint struct {
	list Checkpoint
	dir  string
	fs   vfs.FS
	sums *sums
}

// Checkpoint freezes the present state in dir, which must not exist and should be
// in the file system of the store: hard links to its tables. It takes as long as
// flushing what is in memory, so at most Options.MemtableSize; see Prepare. Its mark
// is a base of increments, as a snapshot's is. If it fails, there is no dir; with
// errors other than of flushing, the store can be used on.
//
// Finish must follow before anybody can open it. The caller removes dir when it is
// of no more use.
func (s *Store) Checkpoint(dir string) (*PendingCheckpoint, error) {
	if err := s.usable(); err != nil {
		return nil, err
	}
	done, err := s.flush()
	if err != nil {
		return nil, err
	}
	if err := s.guard.await(done); err != nil {
		return nil, err
	}
	if err := s.db.Checkpoint(dir); err != nil {
		return nil, typed(dir, err)
	}
	c := Checkpoint{Format: listFormat, Keys: s.keys.n, MaxGroups: s.opts.MaxGroups, Groups: s.opts.Groups, Mark: s.turn()}
	return &PendingCheckpoint{list: c, dir: dir, fs: s.opts.FS, sums: s.sums}, nil
}

// Mark names the checkpoint, for Confirm and Abandon.
func (p *PendingCheckpoint) Mark() statecow.Mark { return p.list.Mark }

// Finish makes the files durable, lists them and writes the list. It syncs and reads
// every table that no checkpoint of the store had before; those of the checkpoint
// that it was opened with count as durable. Any goroutine may call it, also after the
// store was closed; checkpoints of a store are finished one at a time.
func (p *PendingCheckpoint) Finish() (Checkpoint, error) {
	names, err := p.fs.List(p.dir)
	if err != nil {
		return Checkpoint{}, typed(p.dir, err)
	}
	slices.Sort(names)
	p.list.Files = p.list.Files[:0]
	for _, name := range names {
		if name == ListName || name == "LOCK" {
			continue
		}
		f, err := p.sums.of(p.fs, p.dir, name)
		if err != nil {
			return Checkpoint{}, typed(p.dir, err)
		}
		p.list.Files = append(p.list.Files, f)
	}
	err = p.list.write(p.fs, p.dir)
	if err == nil {
		err = syncDir(p.fs, p.fs.PathDir(p.dir))
	}
	if err != nil {
		return Checkpoint{}, typed(p.dir, err)
	}
	p.sums.keep(p.list.Files)
	return p.list, nil
}

// Encode returns the list as ListName holds it: one line of JSON and one with the
// sum of the first.
func (c Checkpoint) Encode() ([]byte, error) {
	line, err := json.Marshal(c)
	if err != nil {
		return nil, err
	}
	return fmt.Appendf(line, "\n%s\n", Sum(xxh3.Hash128(line).Bytes())), nil
}

// DecodeCheckpoint is the inverse of Encode.
func DecodeCheckpoint(data []byte) (c Checkpoint, err error) {
	line, rest, _ := bytes.Cut(data, []byte("\n"))
	if string(rest) != Sum(xxh3.Hash128(line).Bytes()).String()+"\n" {
		return c, errors.New("statecow/lsm: list of a checkpoint is damaged")
	}
	if err := json.Unmarshal(line, &c); err != nil {
		return c, fmt.Errorf("statecow/lsm: list of a checkpoint is damaged: %w", err)
	}
	if c.Format != listFormat {
		return c, fmt.Errorf("statecow/lsm: list of a checkpoint has format %d, known is %d", c.Format, listFormat)
	}
	return c, nil
}

// write makes the list appear in dir as a whole or not at all.
func (c Checkpoint) write(fs vfs.FS, dir string) error {
	data, err := c.Encode()
	if err != nil {
		return err
	}
	path := fs.PathJoin(dir, ListName)
	if err := create(fs, path+".tmp", func(w io.Writer) error { _, err := w.Write(data); return err }); err != nil {
		return err
	}
	if err := fs.Rename(path+".tmp", path); err != nil {
		return err
	}
	return syncDir(fs, dir)
}

// create writes a file and syncs it.
func create(fs vfs.FS, path string, fill func(io.Writer) error) error {
	f, err := fs.Create(path, vfs.WriteCategoryUnspecified)
	if err != nil {
		return err
	}
	if err = fill(f); err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

func syncDir(fs vfs.FS, dir string) error {
	d, err := fs.OpenDir(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// ReadCheckpoint reads the list in dir and checks that all its files are there with
// their sizes. Use File.Verify to check their content too. Errors: a *DirError if
// there is no whole checkpoint, a *TableError that names the file that is wrong.
func ReadCheckpoint(fs vfs.FS, dir string) (Checkpoint, error) {
	var data bytes.Buffer
	if _, err := readFile(fs, fs.PathJoin(dir, ListName), ListName, &data); err != nil {
		return Checkpoint{}, &DirError{Dir: dir, Kind: ErrNoCheckpoint, Detail: err.Error()}
	}
	c, err := DecodeCheckpoint(data.Bytes())
	if err != nil {
		return Checkpoint{}, &TableError{File: fs.PathJoin(dir, ListName), Err: err}
	}
	for _, f := range c.Files {
		path := fs.PathJoin(dir, f.Name)
		info, err := fs.Stat(path)
		if err == nil && info.Size() != f.Size {
			err = fmt.Errorf("it has %d bytes, listed are %d", info.Size(), f.Size)
		}
		if err != nil {
			return Checkpoint{}, &TableError{File: path, Err: err}
		}
	}
	return c, nil
}

// link puts the files of a checkpoint into another directory. Files other than
// tables are copied, since a store changes them, and checked.
func (c Checkpoint) link(fs vfs.FS, from, to string) error {
	for _, f := range c.Files {
		src, dst := fs.PathJoin(from, f.Name), fs.PathJoin(to, f.Name)
		if f.table() {
			if err := vfs.LinkOrCopy(fs, src, dst); err != nil {
				return typed(to, err)
			}
			continue
		}
		err := create(fs, dst, func(w io.Writer) error {
			got, err := readFile(fs, src, f.Name, w)
			return f.compare(src, got, err)
		})
		if err != nil {
			return typed(to, err)
		}
	}
	return nil
}
