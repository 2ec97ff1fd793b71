package lsm

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/objstorage/objstorageprovider"
	"github.com/cockroachdb/pebble/v2/sstable"
	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/overtake-stream/overtake/statecow"
)

const (
	ingestFrom  = 10_000   // entries in a stream, for it to become tables directly
	ingestTable = 32 << 20 // bytes, roughly
	batchBytes  = 1 << 20
)

// loader adds many entries. If all keys are new and there are many, it makes tables
// of them, without the memtable: one after the other while they come in ascending
// order, and else one of each chunk. Otherwise it writes batches.
type loader struct {
	s       *Store
	fresh   bool
	ingests bool
	batch   *pebble.Batch
	chunk   chunk
	table   *sstable.Writer
	path    string // of table
	tables  int
	last    []byte // key added in ascending order
}

// newLoader expects about n entries. fresh says that every key is new.
func (s *Store) newLoader(fresh bool, n int) *loader {
	return &loader{s: s, fresh: fresh, ingests: fresh && n >= ingestFrom, batch: s.db.NewBatch()}
}

// pick returns what adds the entries of a block.
func (l *loader) pick(b statecow.Block) func(statecow.Entry) error {
	switch {
	case b.Deletions():
		return l.remove
	case !l.ingests:
		return l.put
	case len(l.chunk.items) == 0 && ascending(b, l.last):
		return l.append
	}
	return l.gather
}

// ascending reports whether the keys of a block ascend, from above last on.
func ascending(b statecow.Block, last []byte) bool {
	prev, key := bytes.Clone(last), []byte(nil)
	return b.Peek(func(e statecow.Entry) bool {
		key = appendData(key[:0], e.Hash, e.Key)
		if bytes.Compare(prev, key) >= 0 {
			return false
		}
		prev, key = key, prev
		return true
	})
}

// put adds an entry to the batch.
func (l *loader) put(e statecow.Entry) error {
	s := l.s
	if l.fresh {
		s.keys.add(1)
	} else if err := s.sample(e.Hash, e.Key); err != nil {
		return err
	}
	s.key = appendData(s.key[:0], e.Hash, e.Key)
	s.value = appendValue(s.value[:0], s.mark, e.Value)
	if err := l.batch.Set(s.key, s.value, nil); err != nil {
		return err
	}
	s.expiry.note(e.Hash, e.Key, e.Value)
	return l.flushBatch(batchBytes)
}

// remove adds a deletion to the batch.
func (l *loader) remove(e statecow.Entry) error {
	s := l.s
	if w := s.keys.weight(); w > 0 {
		had, err := s.has(e.Hash, e.Key)
		if err != nil {
			return err
		}
		if had {
			s.keys.add(-w)
		}
	}
	if _, err := s.removeIn(l.batch, e.Hash, e.Key); err != nil {
		return err
	}
	return l.flushBatch(batchBytes)
}

// flushBatch applies the batch if it has at least so many bytes.
func (l *loader) flushBatch(from int) error {
	n := l.batch.Len()
	if n < from || l.batch.Empty() {
		return nil
	}
	if err := l.batch.Commit(pebble.NoSync); err != nil {
		return err
	}
	l.batch.Reset()
	return l.s.wrote(n)
}

// gather adds an entry to the chunk.
func (l *loader) gather(e statecow.Entry) error {
	l.s.keys.add(1)
	l.s.expiry.note(e.Hash, e.Key, e.Value)
	if l.chunk.add(l.s.mark, e); l.chunk.full() {
		return l.flushChunk()
	}
	return nil
}

// flushChunk makes a table of the chunk.
func (l *loader) flushChunk() error {
	if len(l.chunk.items) == 0 {
		return nil
	}
	if err := l.ingest(); err != nil { // what came in order
		return err
	}
	if err := l.begin(); err != nil {
		return err
	}
	if err := l.chunk.sorted(l.table.Set); err != nil {
		return err
	}
	if err := l.ingest(); err != nil {
		return err
	}
	return l.s.catchUp()
}

// append adds an entry whose key is above all before to a table.
func (l *loader) append(e statecow.Entry) error {
	s := l.s
	if l.table != nil && l.table.Raw().EstimatedSize() >= ingestTable {
		if err := l.ingest(); err != nil {
			return err
		}
	}
	if l.table == nil {
		if err := l.begin(); err != nil {
			return err
		}
	}
	l.last = appendData(l.last[:0], e.Hash, e.Key)
	s.value = appendValue(s.value[:0], s.mark, e.Value)
	s.keys.add(1)
	s.expiry.note(e.Hash, e.Key, e.Value)
	return l.table.Set(l.last, s.value)
}

func (l *loader) begin() error {
	s := l.s
	l.path = s.opts.FS.PathJoin(s.opts.Dir, fmt.Sprintf("restore-%d.tmp", l.tables))
	l.tables++
	f, err := scratchFS{s.opts.FS, s.guard}.Create(l.path, vfs.WriteCategoryUnspecified)
	if err != nil {
		return err
	}
	o := s.opts.pebble(s.guard, &s.present)
	o.EnsureDefaults()
	l.table = sstable.NewWriter(objstorageprovider.NewFileWritable(f), o.MakeWriterOptions(6, s.db.TableFormat()))
	return nil
}

// ingest makes the table a part of the store.
func (l *loader) ingest() error {
	if l.table == nil {
		return nil
	}
	err := l.table.Close()
	l.table = nil
	if err == nil {
		err = l.s.db.Ingest(context.Background(), []string{l.path})
	}
	return err
}

// close adds what is left, unless loading has failed, and gives back memory.
func (l *loader) close(ok bool) error {
	var err error
	if ok {
		if err = l.ingest(); err == nil {
			err = l.flushChunk()
		}
		if err == nil {
			err = l.flushBatch(0)
		}
	}
	if l.table != nil {
		err = errors.Join(err, l.table.Close(), l.s.opts.FS.Remove(l.path))
	}
	return l.s.fault(errors.Join(err, l.batch.Close()))
}
