package netstack

import (
	"sync"
	"time"

	"github.com/overtake-stream/overtake/bufferpool"
	"github.com/overtake-stream/overtake/netstack/credit"
	"github.com/overtake-stream/overtake/perf"
	"github.com/overtake-stream/overtake/perf/probe"
)

// subpartition is the output queue of one channel.
type subpartition struct {
	// constant once connected
	partition *Partition
	index     int
	link      link
	local     bool // the receiver is in this process

	mu struct {
		sync.Mutex
		queue     ring[item]
		events    int // events in queue
		credit    credit.Sender
		scheduled bool // the link has been told and is draining
		closed    bool // everything queued is dropped

		sent    sent
		delays  perf.Batch    // of OutTimes.FlushDelay
		queued  perf.Batch    // of OutTimes.Queue
		waiting time.Duration // since when the head of the queue has lacked credit; 0: it does not
		now     time.Duration // the latest time that is known
		granted int64         // when credit came last for an empty account, while a profiler looks, ns
	}
}

// push queues an item that stays behind all others, with what the account wants to know of
// it. It takes the item's buffer.
func (s *subpartition) push(it item, f filled) {
	s.mu.Lock()
	if s.mu.closed {
		s.mu.Unlock()
		it.release()
		return
	}
	s.mu.queue.push(it)
	if it.isData() {
		it.buf.SetState(bufferpool.Queued)
		s.partition.grew(s.backlog())
		s.pushed(it, f)
	} else {
		s.mu.events++
	}
	ready := s.schedule()
	s.mu.Unlock()
	if ready {
		s.link.ready(s)
	}
}

// priorities is the number of priority events at the head. Caller holds mu.
func (s *subpartition) priorities() int {
	n := 0
	for n < s.mu.queue.len() && s.mu.queue.at(n).isPriority() {
		n++
	}
	return n
}

// backlog is the number of data buffers queued. Caller holds mu.
func (s *subpartition) backlog() int { return s.mu.queue.len() - s.mu.events }

// schedule decides whether the link must be told. Caller holds mu.
func (s *subpartition) schedule() bool {
	if s.mu.scheduled || !s.sendable() {
		return false
	}
	s.mu.scheduled = true
	return true
}

// sendable reports whether take would return something. Caller holds mu.
func (s *subpartition) sendable() bool {
	if s.mu.queue.len() == 0 {
		return false
	}
	return !s.mu.queue.at(0).isData() || s.mu.credit.Available() > 0 || s.reportDue()
}

func (s *subpartition) reportDue() bool {
	c := s.mu.credit // a copy: asking must not note that it was told
	return c.Report(s.backlog())
}

// taken says how the link must send what take returned.
type taken struct {
	sequence uint64 // of the first data buffer; the others count up
	backlog  int    // data buffers still queued behind the last one
	report   bool   // no item, but the backlog must be told on its own

	now     time.Duration // the time, if an account is kept
	granted int64         // see subpartition.mu
}

// take moves up to limit sendable items to dst. It gives their buffers to the
// caller. When it returns no items and no report, the link is no longer
// scheduled and must not call take again before ready.
//
// now is the time. A local link leaves it out, and has it from the push or the grant of
// credit that it follows.
func (s *subpartition) take(dst []item, limit int, now time.Duration) ([]item, taken) {
	s.mu.Lock()
	if !s.local {
		s.mu.now = now
	}
	dst, t, relieved := s.takeLocked(dst, limit)
	s.mu.Unlock()
	if relieved {
		s.partition.opts.Waker.Wake()
	}
	return dst, t
}

func (s *subpartition) takeLocked(dst []item, limit int) (_ []item, t taken, relieved bool) {
	before, data := s.backlog(), 0
	for len(dst) < limit && s.mu.queue.len() > 0 {
		if s.mu.queue.at(0).isData() {
			if s.mu.credit.Available() == 0 {
				s.lacksCredit()
				break
			}
			seq := s.mu.credit.Send(before - data - 1)
			if data == 0 {
				t.sequence = seq
			}
			data++
		} else {
			s.mu.events--
		}
		dst = append(dst, s.mu.queue.pop())
	}
	if s.partition.account != nil {
		t.now = s.left(dst)
	}
	t.backlog, t.granted = before-data, s.mu.granted
	relieved = s.partition.shrank(before, t.backlog)
	if len(dst) == 0 {
		t.report = s.mu.credit.Report(t.backlog)
		s.mu.scheduled = t.report
	}
	return dst, t, relieved
}

// limit takes a credit announcement. clock tells the time, if an account is kept.
func (s *subpartition) limit(limit uint64, clock perf.Clock) error {
	s.mu.Lock()
	lacked := s.mu.credit.Available() == 0
	_, err := s.mu.credit.Limit(limit)
	if lacked && probe.Attached() {
		s.mu.granted = probe.Now()
	}
	if s.mu.waiting > 0 && s.mu.credit.Available() > 0 {
		s.hasCredit(clock.Now())
	}
	ready := s.schedule()
	s.mu.Unlock()
	if ready {
		s.link.ready(s)
	}
	return err
}

// close drops what is queued and whatever is pushed later.
func (s *subpartition) close() {
	s.mu.Lock()
	var dropped ring[item]
	dropped, s.mu.queue = s.mu.queue, dropped
	s.mu.events, s.mu.closed = 0, true
	s.mu.Unlock()
	for dropped.len() > 0 {
		dropped.pop().release()
	}
}
