package state

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"
)

// write is the rate at which a full snapshot is written to memory that is reused. With
// Settle, the map is as before afterwards.
func (s *server) write(q request, c cow) (reply, error) {
	snap, err := c.state().Snapshot()
	if err != nil {
		return reply{}, err
	}
	to, took := &sink{}, time.Duration(0)
	for took < q.Least && err == nil {
		start := s.busy.Now()
		_, err = snap.Write(to, 0)
		took += s.busy.Now() - start
	}
	snap.Release()
	c.state().Abandon(snap.Mark())
	if err == nil && q.Settle {
		err = s.settle()
	}
	return rate(to.bytes, took), err
}

// copy is the rate at which memory is copied: to other memory or, with Keep, to a
// small buffer that is reused.
func (s *server) copy(q request) (reply, error) {
	n := min(512<<20, s.spec.N*s.spec.Layout.entry())
	from, err := newRegion(n)
	if err != nil {
		return reply{}, err
	}
	to, err := newRegion(n)
	if err != nil {
		return reply{}, errors.Join(err, from.close())
	}
	took, copied := time.Duration(0), int64(0)
	for took < q.Least {
		start := s.busy.Now()
		for at := int64(0); at < n; at += 64 << 10 {
			part := from.bytes[at:min(n, at+64<<10)]
			if q.Keep > 0 {
				copy(to.bytes, part)
			} else {
				copy(to.bytes[at:], part)
			}
		}
		took += s.busy.Now() - start
		copied += n
	}
	return rate(copied, took), errors.Join(from.close(), to.close())
}

// writeFile is the rate at which a full snapshot gets to a new file and is durable.
func (s *server) writeFile(q request, c cow) (reply, error) {
	snap, err := c.state().Snapshot()
	if err != nil {
		return reply{}, err
	}
	defer c.state().Abandon(snap.Mark())
	defer snap.Release()
	size := int64(0)
	took, err := s.toFile(q.Path, func(f io.Writer) error {
		st, err := snap.Write(f, 0)
		size = st.Bytes
		return err
	})
	r := rate(size, took)
	r.More = map[string]float64{"bytes": float64(size)}
	return r, err
}

// fillFile is the same for Bytes of no meaning.
func (s *server) fillFile(q request) (reply, error) {
	took, err := s.toFile(q.Path, func(f io.Writer) error {
		b := bytes.Repeat([]byte("overtake"), 1<<17)
		for left := q.Bytes; left > 0; left -= int64(len(b)) {
			if _, err := f.Write(b[:min(left, int64(len(b)))]); err != nil {
				return err
			}
		}
		return nil
	})
	return rate(q.Bytes, took), err
}

func (s *server) toFile(folder string, fill func(io.Writer) error) (time.Duration, error) {
	f, err := os.CreateTemp(folder, "overtake-bench-state-*")
	if err != nil {
		return 0, err
	}
	defer os.Remove(f.Name())
	start := s.clock.Now()
	err = fill(s.spec.Pressure.Writer(context.Background(), f))
	if err == nil {
		err = f.Sync()
	}
	took := s.clock.Now() - start
	return took, errors.Join(err, f.Close())
}

// restore is the rate, in entries per second, at which a snapshot in memory becomes an
// empty map's content.
func (s *server) restore(q request, c cow) (reply, error) {
	snap, err := c.state().Snapshot()
	if err != nil {
		return reply{}, err
	}
	var buf bytes.Buffer
	buf.Grow(int(s.spec.N*(s.spec.Layout.entry()+8)) + 64<<10)
	_, err = snap.Write(&buf, 0)
	snap.Release()
	c.state().Abandon(snap.Mark())
	took, entries := time.Duration(0), int64(0)
	for took < q.Least && err == nil {
		var to cow
		if to, err = c.empty(); err != nil {
			break
		}
		start := s.busy.Now()
		err = to.state().Restore(bytes.NewReader(buf.Bytes()))
		took += s.busy.Now() - start
		entries += int64(to.state().Len())
		if n := to.state().Len(); err == nil && int64(n) != s.spec.N {
			err = fmt.Errorf("%d keys were restored of %d", n, s.spec.N)
		}
		err = errors.Join(err, to.close())
	}
	return rate(entries, took), err
}
