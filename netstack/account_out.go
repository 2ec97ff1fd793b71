package netstack

import (
	"time"

	"github.com/overtake-stream/overtake/perf"
)

// OutTimes are the times, in nanoseconds, that buffers of a partition have spent on
// their way out. Any goroutine may read them while the partition is used. What was recorded
// before a call of Partition.Stats is in them after it; the latest is added some values at a time.
type OutTimes struct {
	// FlushDelay is from the first record in a buffer until the buffer was sealed and
	// queued.
	FlushDelay perf.Histogram
	// BufferWait is for how long the pool had no buffer for the subtask, once for each
	// time that it waited for one.
	BufferWait perf.Histogram

	_ [128]byte // what follows is written by links

	// Queue is from there until the buffer left for its receiver.
	Queue perf.Histogram
	// CreditWait is for how long a channel with a buffer in its queue had no credit to
	// send it, once for each time that it ran out.
	CreditWait perf.Histogram
}

// PartitionStats is a partition's account so far. A buffer of a broadcast, and the
// records in it, count once for each receiver.
type PartitionStats struct {
	Records, Buffers, Bytes uint64 // queued so far; records that begin in these buffers
	Queued                  int    // data buffers in the queues
	Full                    int    // channels whose queue is full
	Credits                 int    // data buffers that may be sent at once, of all channels
	Starved                 int    // channels that have data queued and no credit
	Held, Limit             int    // segments that the pool holds, and may hold

	Times *OutTimes // shared; nil if no account of times is kept
}

// outAccount is what a partition keeps for its account.
type outAccount struct {
	clock perf.Clock
	times OutTimes
}

// sent counts what was queued in a subpartition.
type sent struct{ records, buffers, bytes uint64 }

// Stats returns the account so far. Any goroutine may call it; it takes the queues' locks
// one by one, so the sums are of slightly different moments.
func (p *Partition) Stats() PartitionStats {
	st := PartitionStats{Limit: p.pool.Limit(), Held: p.pool.HeldCount()}
	if p.account != nil {
		st.Times = &p.account.times
	}
	for i := range p.subs {
		s := &p.subs[i]
		s.mu.Lock()
		if st.Times != nil {
			s.mu.delays.Flush(&st.Times.FlushDelay)
			s.mu.queued.Flush(&st.Times.Queue)
		}
		st.Records += s.mu.sent.records
		st.Buffers += s.mu.sent.buffers
		st.Bytes += s.mu.sent.bytes
		backlog, credits := s.backlog(), s.mu.credit.Available()
		s.mu.Unlock()
		st.Queued += backlog
		st.Credits += int(credits)
		if backlog >= p.opts.MaxQueued {
			st.Full++
		}
		if backlog > 0 && credits == 0 {
			st.Starved++
		}
	}
	return st
}

// now is the time, if an account is kept.
func (p *Partition) now() time.Duration {
	if p.account == nil {
		return 0
	}
	return p.account.clock.Now()
}

// lacks notes that the subtask is about to wait for the pool, got that it has a buffer.
func (p *Partition) lacks(now time.Duration) {
	if p.account != nil && p.lacking == 0 {
		p.lacking, p.awaited = now, 0
	}
}

func (p *Partition) got() {
	if p.awaited == 0 {
		p.awaited = p.account.clock.Now()
	}
	p.account.times.BufferWait.Record(int64(p.awaited - p.lacking))
	p.lacking, p.awaited = 0, 0
}

// filled is what the account wants to know of a data buffer that is queued.
type filled struct {
	records int           // that begin in it
	delay   time.Duration // since the first of them
	again   bool          // it is queued for another receiver, which counts the delay
}

// pushed counts a data buffer that was queued just now. Caller holds mu.
func (s *subpartition) pushed(it item, f filled) {
	a := s.partition.account
	if a == nil {
		return
	}
	if !f.again {
		s.mu.delays.Record(&a.times.FlushDelay, int64(f.delay))
	}
	n := &s.mu.sent
	n.records += uint64(f.records)
	n.buffers++
	n.bytes += uint64(it.buf.Len())
	s.mu.now = it.at
	if s.mu.waiting == 0 && s.mu.credit.Available() == 0 {
		s.mu.waiting = it.at
	}
}

// lacksCredit notes that the data at the head of the queue cannot be sent. Caller holds
// mu.
func (s *subpartition) lacksCredit() {
	if s.partition.account != nil && s.mu.waiting == 0 {
		s.mu.waiting = s.mu.now
	}
}

// hasCredit ends that. Caller holds mu.
func (s *subpartition) hasCredit(now time.Duration) {
	s.partition.account.times.CreditWait.Record(int64(now - s.mu.waiting))
	s.mu.now, s.mu.waiting = now, 0
}

// left accounts for items that leave the queue, and returns the time. Caller holds mu.
func (s *subpartition) left(items []item) time.Duration {
	if len(items) == 0 {
		return 0
	}
	now := s.mu.now
	for i := range items {
		if items[i].isData() {
			s.mu.queued.Record(&s.partition.account.times.Queue, int64(now-items[i].at))
		}
	}
	return now
}
