package files

import (
	"bufio"
	"errors"
	"hash/crc32"
	"os"
	"path/filepath"
)

// partition is an open file.
type partition struct {
	transaction // without length and sum
	file        summed
	out         *bufio.Writer
	used        uint64 // number of its last row among all of the writer
}

// summed is a file that knows the length and the checksum of what was written.
type summed struct {
	*os.File
	length int64
	sum    uint32
	table  *crc32.Table
}

// Write implements io.Writer.
func (s *summed) Write(b []byte) (int, error) {
	n, err := s.File.Write(b)
	s.length += int64(n)
	s.sum = crc32.Update(s.sum, s.table, b[:n])
	return n, err
}

// begin creates a file for a folder.
func (w *transactionWriter[T]) begin(folder string) (*partition, error) {
	if w.err != nil {
		return nil, w.err
	}
	if w.partitions.Folder != nil {
		if err := checkFolder(folder); err != nil {
			return nil, w.wrap(err)
		}
	}
	if len(w.open) == w.maxOpen {
		if err := w.end(w.oldest()); err != nil {
			return nil, w.fail(err)
		}
	}
	p := &partition{transaction: transaction{folder: folder, subtask: w.subtask, epoch: w.epoch, seq: w.seq}}
	f, err := os.OpenFile(filepath.Join(w.dir, p.pending(w.ext)), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return nil, w.fail(err)
	}
	w.seq++
	p.file = summed{File: f, table: castagnoli()}
	if n := len(w.spare); n > 0 {
		p.out, w.spare = w.spare[n-1], w.spare[:n-1]
	} else {
		p.out = bufio.NewWriterSize(nil, w.bufferSize)
	}
	p.out.Reset(&p.file)
	w.open[folder] = p
	if _, err = p.out.Write(w.format.head); err != nil {
		return nil, w.fail(err)
	}
	return p, nil
}

// oldest is the open file that has had no row for the longest. To look at all of them is
// little beside ending one.
func (w *transactionWriter[T]) oldest() (oldest *partition) {
	for _, p := range w.open {
		if oldest == nil || p.used < oldest.used {
			oldest = p
		}
	}
	return oldest
}

// end makes a file durable and closes it. If that fails, it is removed.
func (w *transactionWriter[T]) end(p *partition) error {
	err := errors.Join(p.out.Flush(), p.file.Sync())
	if err != nil {
		return errors.Join(err, w.drop(p))
	}
	t := p.transaction
	t.length, t.sum = p.file.length, p.file.sum
	w.forget(p)
	if err := p.file.Close(); err != nil {
		return errors.Join(err, removeFile(p.file.Name()))
	}
	w.ended = append(w.ended, t)
	return nil
}

// drop closes a file and removes it.
func (w *transactionWriter[T]) drop(p *partition) error {
	w.forget(p)
	return errors.Join(p.file.Close(), os.Remove(p.file.Name()))
}

// forget takes a file from the open ones, and keeps its buffer for others.
func (w *transactionWriter[T]) forget(p *partition) {
	delete(w.open, p.folder)
	if w.last == p {
		w.last = nil
	}
	p.out.Reset(nil)
	w.spare = append(w.spare, p.out)
}
