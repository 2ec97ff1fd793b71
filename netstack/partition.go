package netstack

import (
	"sync/atomic"
	"time"

	"github.com/overtake-stream/overtake/bufferpool"
	"github.com/overtake-stream/overtake/perf"
	"github.com/overtake-stream/overtake/perf/probe"
)

// Partition is the output of one subtask: a subpartition for each receiver.
// All methods are for the subtask's goroutine, except Cancel.
type Partition struct {
	// constant
	opts PartitionOptions
	pool *bufferpool.Pool
	subs []subpartition

	account *outAccount // nil: none is kept

	// subtask goroutine
	builders  []builder         // one per subpartition; a single one for a broadcast
	open      []int             // builders that hold a buffer
	spare     bufferpool.Buffer // in hand, so that a record that fills a buffer finds the next
	spared    bool              // spare is set
	passed    []item            // what an event passed, kept for its memory
	changed   *bool             // see Watch
	expected  int               // see Expect
	lastFlush time.Duration
	lacking   time.Duration // since when the pool has had no buffer for it; 0: it had, or no account is kept
	awaited   time.Duration // the time at which a wait for it has ended; 0: that is not known
	debloat   debloat
	sampler   probe.Sampler

	// atomic
	overfull  atomic.Int32 // subpartitions with MaxQueued or more buffers
	cancelled atomic.Bool
}

// NewPartition makes a partition with a pool of its own in arena. The error is
// a *bufferpool.BudgetError when the arena is too small.
func NewPartition(arena *bufferpool.Arena, opts PartitionOptions) (*Partition, error) {
	opts = opts.withDefaults()
	if err := opts.Validate(); err != nil {
		return nil, err
	}
	pool, err := arena.NewPool(opts.poolOptions())
	if err != nil {
		return nil, err
	}
	p := &Partition{opts: opts, pool: pool, subs: make([]subpartition, opts.Subpartitions), changed: new(bool)}
	p.builders = make([]builder, opts.builders())
	p.debloat.fill = p.MaxRecord()
	if perf.Enabled && opts.Clock != nil {
		p.account = &outAccount{clock: opts.Clock}
	}
	for i := range p.subs {
		p.subs[i].partition, p.subs[i].index = p, i
	}
	return p, nil
}

// Subpartitions is the number of receivers.
func (p *Partition) Subpartitions() int { return len(p.subs) }

// Watch sets changed whenever Available may have turned from true to false: only the
// subtask's own writing does that. It shares changed, which belongs to the subtask's
// goroutine.
func (p *Partition) Watch(changed *bool) {
	p.changed = changed
	*changed = true
}

// Available reports whether the output of one more record can be taken without
// overdraft. It is cheap enough to be asked before every record.
func (p *Partition) Available() bool {
	return p.spared && p.overfull.Load() == 0 || p.takeSpare()
}

func (p *Partition) takeSpare() bool {
	switch {
	case p.cancelled.Load():
		return true
	case p.overfull.Load() > 0:
		p.debloat.refused = true
		return false
	case !p.spared:
		p.spare, p.spared = p.pool.Get()
		p.debloat.refused = p.debloat.refused || !p.spared
		if p.spared && p.lacking > 0 {
			p.got()
		}
	}
	return p.spared
}

// Await makes the Waker fire once Available may have become true.
func (p *Partition) Await() {
	if p.awaits() {
		p.lacks(p.now())
	}
}

// AwaitAt is Await for a caller who has just looked at PartitionOptions.Clock: it was now.
func (p *Partition) AwaitAt(now time.Duration) {
	if p.awaits() {
		p.lacks(now)
	}
}

// awaits reports whether the pool will wake.
func (p *Partition) awaits() bool {
	if p.overfull.Load() > 0 {
		return false // a full queue is in the way: its link wakes when it is relieved
	}
	if p.spared || !p.pool.NotifyAvailable(p.opts.Waker) {
		p.opts.Waker.Wake()
		return false
	}
	return true
}

// Awaited tells when a wait after Await has ended, so that Available need not look at the clock.
func (p *Partition) Awaited(now time.Duration) { p.awaited = now }

// MaxRecord is the largest n for Space, in bytes.
func (p *Partition) MaxRecord() int { return p.pool.Arena().PayloadSize() }

// Space lends at least n bytes (n <= MaxRecord) at the end of the open buffer of
// subpartition sub, or of the shared buffer of a broadcast partition, where sub
// is 0. Write a whole record there, then Commit it, before the next call.
//
// It never fails. Without a free buffer it overdraws; when that too is used up,
// it waits, and the subtask serves nothing meanwhile.
func (p *Partition) Space(sub, n int) []byte {
	b := &p.builders[sub]
	if len(b.mem)-b.used < n {
		return p.next(sub, n)
	}
	return b.mem[b.used:]
}

// Commit adds a record of n bytes, written to what Space lent, to the open buffer.
func (p *Partition) Commit(sub, n int) {
	b := &p.builders[sub]
	b.used += n
	if perf.Enabled {
		b.records++
	}
}

// Extend is Space and Commit at once: it adds a record of n bytes to the open buffer and
// lends its place, to be written before the next call.
func (p *Partition) Extend(sub, n int) []byte {
	b := &p.builders[sub]
	if len(b.mem)-b.used < n {
		p.next(sub, n)
	}
	at := b.used
	b.used += n
	if perf.Enabled {
		b.records++
	}
	return b.mem[at:b.used]
}

// CommitMark is Commit for what is not a record of the user's: the account does not
// count it.
func (p *Partition) CommitMark(sub, n int) {
	b := &p.builders[sub]
	b.used += n
}

// WriteLarge cuts a record that is larger than MaxRecord over several buffers.
// It lends the record.
func (p *Partition) WriteLarge(sub int, rec []byte) {
	p.seal(sub, false, p.now())
	for first := true; len(rec) > 0; first = false {
		n := copy(p.next(sub, p.MaxRecord()), rec)
		if first {
			p.Commit(sub, n)
		} else {
			p.CommitMark(sub, n)
		}
		rec = rec[n:]
		p.seal(sub, len(rec) > 0, p.now())
	}
}

// next seals the open buffer of sub, if it holds anything, opens another, and
// lends it: n bytes at least.
func (p *Partition) next(sub, n int) []byte {
	now := p.now()
	p.seal(sub, false, now)
	b := &p.builders[sub]
	b.buf = p.obtain()
	if b.buf.IsZero() {
		b.mem = make([]byte, p.MaxRecord()) // cancelled: what is written goes nowhere
		return b.mem
	}
	b.mem, b.at, b.since = b.buf.Space(), len(p.open), now
	if fill := min(max(p.debloat.fill, n), len(b.mem)); fill < len(b.mem) || p.debloat.fits {
		p.debloat.fits = true
		b.buf.Fit(fill)
		b.mem = b.mem[:fill:fill]
	}
	p.open = append(p.open, sub)
	if probe.Attached() && (p.opts.Broadcast || !p.subs[sub].local) {
		b.opened, _ = p.sampler.Next()
	}
	return b.mem
}

// obtain returns a buffer by all means; none only after Cancel.
func (p *Partition) obtain() bufferpool.Buffer {
	*p.changed = true
	if p.spared {
		p.spared = false
		return p.spare
	}
	for !p.cancelled.Load() {
		buf, ok := p.pool.Get()
		if !ok {
			buf, ok = p.pool.GetOverdraft()
		}
		if ok {
			if p.lacking > 0 {
				p.got()
			}
			return buf
		}
		if p.pool.NotifyAvailable(p.opts.Waker) {
			p.lacks(p.now())
			p.opts.Wait()
			p.awaited = 0
		}
	}
	return bufferpool.Buffer{}
}

// seal queues the open buffer of sub. An empty one goes back. now is the time, if an
// account is kept.
func (p *Partition) seal(sub int, part bool, now time.Duration) {
	b := &p.builders[sub]
	buf, n := b.buf, b.used
	*p.changed = true
	if buf.IsZero() {
		*b = builder{}
		return
	}
	p.closed(sub, b.at)
	records, since, opened := b.records, b.since, b.opened
	*b = builder{}
	if n == 0 {
		buf.Release()
		return
	}
	buf.SetLen(n)
	p.debloat.sealed += int64(n)
	it, f := item{buf: buf, part: part, at: now}, filled{records: records, delay: now - since}
	if opened != 0 {
		traceSent(buf, opened)
	}
	if !p.opts.Broadcast {
		it.trace = opened != 0
		p.subs[sub].push(it, f)
		return
	}
	f.again = true
	for i := range p.subs[1:] {
		it.buf, it.trace = buf.Retain(), opened != 0 && !p.subs[1+i].local
		p.subs[1+i].push(it, f)
	}
	f.again = false
	it.buf, it.trace = buf, opened != 0 && !p.subs[0].local
	p.subs[0].push(it, f)
}

// closed forgets that builder sub is open: the last in the list takes its place.
func (p *Partition) closed(sub, at int) {
	last := len(p.open) - 1
	p.open[at] = p.open[last]
	p.builders[p.open[at]].at = at
	p.open = p.open[:last]
}

// grew and shrank keep count of overfull subpartitions. Callers hold the
// subpartition's mu.
func (p *Partition) grew(backlog int) {
	if backlog == p.opts.MaxQueued {
		p.overfull.Add(1)
	}
}

func (p *Partition) shrank(before, after int) (relieved bool) {
	return before >= p.opts.MaxQueued && after < p.opts.MaxQueued && p.overfull.Add(-1) == 0
}

// Emit sends an event to subpartition sub. An ordered one seals what is open. A
// priority event goes ahead of everything that is queued, except priority events
// with nothing else ahead of them.
func (p *Partition) Emit(sub int, e *Event) {
	if e.Priority {
		p.subs[sub].urge(e)
		return
	}
	p.sealFor(sub)
	p.subs[sub].push(item{event: e}, filled{})
}

// EmitAll sends an event to every subpartition.
func (p *Partition) EmitAll(e *Event) {
	for i := range p.subs {
		p.Emit(i, e)
	}
}

func (p *Partition) sealFor(sub int) {
	if p.opts.Broadcast {
		sub = 0
	}
	if !p.builders[sub].buf.IsZero() {
		p.seal(sub, false, p.now())
	}
}

// Finish sends what is open, and then the end of the partition, to every
// receiver. Nothing may be written after it.
func (p *Partition) Finish() { p.EmitAll(endOfPartition) }

// Cancel ends all waiting, now and later: what is written from then on may go
// nowhere, and Close drops what is queued. Any goroutine may call it.
func (p *Partition) Cancel() {
	p.cancelled.Store(true)
	p.opts.Waker.Wake()
}

// Close gives back what the partition holds: after Finish only its pool's idle
// buffers (what is queued is still delivered), after Cancel everything.
func (p *Partition) Close() {
	if p.cancelled.Load() {
		for i := range p.subs {
			p.subs[i].close()
		}
	}
	for i := range p.builders {
		if b := &p.builders[i]; !b.buf.IsZero() {
			b.buf.Release()
		}
	}
	p.builders, p.open = nil, nil
	if p.spared {
		p.spare.Release()
		p.spared = false
	}
	p.pool.Close()
}
