package files

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
)

// scanner reads the lines of one split through a buffer. split.next is the offset of
// the buffer's first unread byte, always.
type scanner struct {
	// constant
	maxLine int

	split  split
	file   *os.File // nil: no split begun
	buf    []byte   // reused for all splits
	lo, hi int      // unread bytes of buf
	eof    bool
}

// begin goes on with another split, at its first line that is not yet read.
func (s *scanner) begin(next split) (err error) {
	s.split, s.lo, s.hi, s.eof = next, 0, 0, false
	if s.file, err = os.Open(next.path); err != nil {
		return fmt.Errorf("files: %w", err)
	}
	if next.next == 0 {
		return nil
	}
	// Whether a split begins with a line or inside one is told by the byte before it.
	inside := next.next == next.start
	if inside {
		s.split.next--
	}
	if _, err = s.file.Seek(s.split.next, io.SeekStart); err == nil && inside {
		err = s.skipLine()
	}
	return s.wrap(err)
}

// skipLine passes over the rest of a line that belongs to the split before. It may
// find that the split has no line of its own.
func (s *scanner) skipLine() error {
	for {
		if i := bytes.IndexByte(s.buf[s.lo:s.hi], '\n'); i >= 0 {
			s.pass(i + 1)
			return nil
		}
		s.pass(s.hi - s.lo)
		if s.split.next >= s.split.end {
			return nil
		}
		if err := s.fill(); err != nil {
			return err
		}
	}
}

// line lends the next line if it is in the buffer, without its \n.
func (s *scanner) line() ([]byte, bool) {
	unread := s.buf[s.lo:s.hi]
	n := bytes.IndexByte(unread, '\n')
	if uint(n) > uint(s.maxLine) || s.split.next >= s.split.end {
		return nil, false
	}
	s.pass(n + 1)
	return unread[:n], true
}

// next lends the next whole lines: one if single, else as many as fit in a block. It
// returns nil at the end of the split. The \n of the last line is left out.
func (s *scanner) next(single bool) ([]byte, error) {
	for s.split.next < s.split.end {
		n := 0
		if single {
			n = bytes.IndexByte(s.buf[s.lo:s.hi], '\n') + 1
		} else {
			n = s.block()
		}
		if n == 0 && s.eof {
			n = s.hi - s.lo // the file's last line, without \n
		}
		if n > 0 {
			lines := bytes.TrimSuffix(s.buf[s.lo:s.lo+n], newline)
			err := s.checkLines(lines)
			s.pass(n)
			return lines, s.wrap(err)
		}
		if err := s.fill(); err != nil {
			return nil, s.wrap(err)
		}
	}
	return nil, nil
}

var newline = []byte{'\n'}

// block is the length of the whole lines to take from the front of the buffer as one
// block; 0 while there are not enough. Only lines that begin in the split count.
func (s *scanner) block() int {
	unread := s.buf[s.lo:s.hi]
	window := unread[:min(len(unread), blockSize)]
	if last := s.split.end - 1 - s.split.next; last < int64(len(window)) {
		// The split's last line ends with the first \n from the split's last byte on.
		if i := bytes.IndexByte(window[last:], '\n'); i >= 0 {
			return int(last) + i + 1
		}
	}
	if len(window) < blockSize && !s.eof {
		return 0
	}
	if i := bytes.LastIndexByte(window, '\n'); i >= 0 {
		return i + 1
	}
	return bytes.IndexByte(unread, '\n') + 1 // a line longer than a block
}

// checkLines reports a line that is too long.
func (s *scanner) checkLines(lines []byte) error {
	for at := 0; len(lines)-at > s.maxLine; {
		n := bytes.IndexByte(lines[at:], '\n')
		if n < 0 {
			n = len(lines) - at
		}
		if n > s.maxLine {
			return s.tooLong(s.split.next + int64(at))
		}
		at += n + 1
	}
	return nil
}

func (s *scanner) tooLong(at int64) error {
	return fmt.Errorf("the line at byte %d is longer than MaxLine, %d bytes", at, s.maxLine)
}

// pass leaves n bytes behind.
func (s *scanner) pass(n int) {
	s.lo += n
	s.split.next += int64(n)
}

// fill reads more bytes behind the unread ones, which are part of one line or block.
func (s *scanner) fill() error {
	if s.eof {
		return fmt.Errorf("it has fewer than the %d bytes it had when the job began: files must not shrink while they are read", s.split.end)
	}
	s.hi = copy(s.buf, s.buf[s.lo:s.hi])
	s.lo = 0
	if s.hi > max(s.maxLine, blockSize) {
		return s.tooLong(s.split.next)
	}
	if s.hi == len(s.buf) {
		s.buf = append(s.buf, make([]byte, max(bufferSize, len(s.buf)))...)
	}
	// What follows the split is another reader's: only the end of one line is needed.
	space := s.buf[s.hi:]
	if most := max(s.split.end-s.split.next-int64(s.hi), 0) + blockSize; most < int64(len(space)) {
		space = space[:most]
	}
	n, err := s.file.Read(space)
	s.hi += n
	if errors.Is(err, io.EOF) {
		s.eof, err = true, nil
	}
	return err
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
