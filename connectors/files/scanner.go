package files

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
)

// scanner reads the lines of one split through a buffer.
type scanner struct {
	split  split
	file   *os.File
	opts   Options
	buf    []byte // reused for all splits
	lo, hi int    // unread bytes of buf
	eof    bool
	skip   bool // the split begins inside a line of the one before
}

// begin goes on with another split.
func (s *scanner) begin(next split) (err error) {
	s.split, s.lo, s.hi, s.eof = next, 0, 0, false
	if s.file, err = next.open(); err != nil {
		return err
	}
	from := next.next
	// Whether the split begins with a line is told by the byte before it.
	s.skip = from == next.start && from > 0
	if s.skip {
		from--
	}
	_, err = s.file.Seek(from, io.SeekStart)
	return s.wrap(err)
}

// next lends the next whole lines: one if single, else as many as fit in a block. It
// returns nothing at the end of the split. The \n of the last line is left out.
func (s *scanner) next(single bool) ([]byte, error) {
	if s.skip {
		if err := s.skipLine(); err != nil {
			return nil, err
		}
	}
	if s.split.next >= s.split.end {
		return nil, nil
	}
	for {
		if n, ok := s.whole(single); ok {
			return s.take(n), nil
		}
		if s.eof && s.hi == s.lo {
			s.split.next = s.split.end // the file has become shorter
			return nil, nil
		}
		if s.eof {
			return s.take(s.hi - s.lo), nil
		}
		if err := s.fill(); err != nil {
			return nil, err
		}
	}
}

// whole is the length of the whole lines at the front of the buffer, their last \n
// included. Only lines that begin in the split count.
func (s *scanner) whole(single bool) (n int, ok bool) {
	unread := s.buf[s.lo:s.hi]
	if single {
		i := bytes.IndexByte(unread, '\n')
		return i + 1, i >= 0
	}
	rest := s.split.end - s.split.next
	if int64(len(unread)) >= rest {
		// The split's last line ends with the first \n from its last byte on.
		i := bytes.IndexByte(unread[rest-1:], '\n')
		if n = int(rest) + i; i >= 0 && n <= blockSize {
			return n, true
		}
	}
	if len(unread) < blockSize && !s.eof {
		return 0, false
	}
	if i := bytes.LastIndexByte(unread[:min(len(unread), blockSize, int(min(rest, blockSize)))], '\n'); i >= 0 {
		return i + 1, true
	}
	i := bytes.IndexByte(unread, '\n') // a line longer than a block
	return i + 1, i >= 0
}

// take consumes n bytes and lends them without a final \n.
func (s *scanner) take(n int) []byte {
	lines := s.buf[s.lo : s.lo+n]
	s.lo += n
	s.split.next += int64(n)
	return bytes.TrimSuffix(lines, []byte{'\n'})
}

// skipLine passes over the rest of a line that belongs to the split before.
func (s *scanner) skipLine() error {
	for {
		if i := bytes.IndexByte(s.buf[s.lo:s.hi], '\n'); i >= 0 {
			s.lo += i + 1
			s.split.next += int64(i)
			s.skip = false
			return nil
		}
		s.split.next += int64(s.hi - s.lo)
		s.lo = s.hi
		if s.eof || s.split.next > s.split.end {
			s.split.next, s.skip = s.split.end, false
			return nil
		}
		if err := s.fill(); err != nil {
			return err
		}
	}
}

// fill reads more bytes behind the unread ones.
func (s *scanner) fill() error {
	if s.lo > 0 {
		s.hi = copy(s.buf, s.buf[s.lo:s.hi])
		s.lo = 0
	}
	if s.hi > s.opts.MaxLine && bytes.IndexByte(s.buf[:s.hi], '\n') < 0 {
		return fmt.Errorf("files: %s: the line at byte %d is longer than MaxLine, %d bytes", s.split.path, s.split.next, s.opts.MaxLine)
	}
	if s.hi == len(s.buf) {
		s.buf = append(s.buf, make([]byte, max(bufferSize, len(s.buf)))...)
	}
	n, err := s.file.Read(s.buf[s.hi:])
	s.hi += n
	if errors.Is(err, io.EOF) {
		s.eof, err = true, nil
	}
	return s.wrap(err)
}

func (s *scanner) wrap(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("files: %s: %w", s.split.path, err)
}

func (s *scanner) close() error {
	if s.file == nil {
		return nil
	}
	err := s.file.Close()
	s.file = nil
	return err
}
