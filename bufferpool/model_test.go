package bufferpool_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/overtake-stream/overtake/bufferpool"
	"pgregory.net/rapid"
)

// model knows who holds what, and nothing of how the arena keeps its accounts.
type model struct {
	arena   *bufferpool.Arena
	pools   []*modelPool // closed ones too, while they hold something
	handles []*modelBuffer
	made    int
}

type modelPool struct {
	*bufferpool.Pool
	name   string
	min    int
	closed bool
	wake   signal // set while registered
}

type modelBuffer struct {
	bufferpool.Buffer
	pool *modelPool
	refs int
}

func TestAccountsAreExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 24).Draw(t, "segments")
		a, err := bufferpool.New(bufferpool.Options{SegmentSize: segment, Budget: int64(n) * segment})
		if err != nil {
			t.Fatal(err)
		}
		m := &model{arena: a}
		t.Repeat(map[string]func(*rapid.T){
			"pool": m.newPool, "close": m.closePool, "max": m.setMax,
			"get": m.get, "overdraft": m.overdraft, "notify": m.notify,
			"retain": m.retain, "release": m.release, "recycle": m.recycle, "swap": m.swap,
			"": m.check,
		})
		m.drain(t)
	})
}

func (m *model) open(t *rapid.T) *modelPool {
	open := slices.DeleteFunc(slices.Clone(m.pools), func(p *modelPool) bool { return p.closed })
	if len(open) == 0 {
		return m.add(t, bufferpool.PoolOptions{Max: 4})
	}
	return rapid.SampledFrom(open).Draw(t, "pool")
}

// buffer returns a buffer in use, or nil when there is none.
func (m *model) buffer(t *rapid.T) *modelBuffer {
	if len(m.handles) == 0 {
		return nil
	}
	return rapid.SampledFrom(m.handles).Draw(t, "buffer")
}

func (p *modelPool) String() string { return p.name }

func (m *model) newPool(t *rapid.T) {
	small := rapid.IntRange(0, 8)
	m.add(t, bufferpool.PoolOptions{Min: small.Draw(t, "min"), Max: small.Draw(t, "max"), Overdraft: small.Draw(t, "overdraft")})
}

// add makes a pool, unless its minimum is more than there is.
func (m *model) add(t *rapid.T, o bufferpool.PoolOptions) *modelPool {
	o.Name = fmt.Sprint("p", m.made)
	m.made++
	sum := o.Min
	for _, p := range m.pools {
		if !p.closed {
			sum += p.min
		}
	}
	p, err := m.arena.NewPool(o)
	if (err == nil) != (sum <= m.arena.Segments()) {
		t.Fatalf("%d reserved of %d: %v", sum, m.arena.Segments(), err)
	}
	if err != nil {
		return nil
	}
	m.pools = append(m.pools, &modelPool{Pool: p, name: o.Name, min: o.Min})
	return m.pools[len(m.pools)-1]
}

func (m *model) closePool(t *rapid.T) {
	p := m.open(t)
	p.closed, p.wake = true, nil
	p.Close()
}

func (m *model) setMax(t *rapid.T) { m.open(t).SetMax(rapid.IntRange(0, 30).Draw(t, "max")) }

func (m *model) got(t *rapid.T, p *modelPool, b bufferpool.Buffer) {
	if b.Len() != 0 || b.Shared() {
		t.Fatalf("a buffer of length %d, shared %v", b.Len(), b.Shared())
	}
	for _, h := range m.handles {
		if &h.Segment()[0] == &b.Segment()[0] {
			t.Fatal("a buffer in use was handed out")
		}
	}
	m.handles = append(m.handles, &modelBuffer{Buffer: b, pool: p, refs: 1})
}

func (m *model) get(t *rapid.T) {
	p := m.open(t)
	available := p.Available()
	b, ok := p.Get()
	if ok != (available > 0) {
		t.Fatalf("%d available, got one: %v", available, ok)
	}
	if ok {
		m.got(t, p, b)
	}
}

func (m *model) overdraft(t *rapid.T) {
	p := m.open(t)
	if b, ok := p.GetOverdraft(); ok {
		m.got(t, p, b)
	} else if p.Available() > 0 {
		t.Fatalf("%d available, and no overdraft", p.Available())
	}
}

func (m *model) notify(t *rapid.T) {
	p, wake := m.open(t), newSignal()
	waits := p.NotifyAvailable(wake)
	if waits == (p.Available() > 0) {
		t.Fatalf("%d available, registered: %v", p.Available(), waits)
	}
	if waits {
		p.wake = wake
	}
}

func (m *model) retain(t *rapid.T) {
	if b := m.buffer(t); b != nil {
		b.Retain()
		b.refs++
	}
}

func (m *model) release(t *rapid.T) {
	if b := m.buffer(t); b != nil {
		b.Release()
		m.dropped(b)
	}
}

func (m *model) recycle(t *rapid.T) {
	if b := m.buffer(t); b != nil {
		m.open(t).Recycle(b.Buffer) // whosever it is
		m.dropped(b)
	}
}

func (m *model) dropped(b *modelBuffer) {
	if b.refs--; b.refs == 0 {
		m.handles = slices.DeleteFunc(m.handles, func(h *modelBuffer) bool { return h == b })
	}
}

func (m *model) swap(t *rapid.T) {
	x, y := m.buffer(t), m.buffer(t)
	if x == nil || x == y || x.refs > 1 || y.refs > 1 {
		return // only a sole owner may swap
	}
	bufferpool.Swap(x.Buffer, y.Buffer)
	x.pool, y.pool = y.pool, x.pool
}

func (m *model) check(t *rapid.T) {
	ledger := m.arena.Ledger()
	held, limits := 0, 0
	promised, deficit := 0, false
	for _, l := range ledger.Pools {
		held += l.Held
		limits += l.Limit
		promised += max(0, l.Min-l.Held)
	}
	deficit = promised > ledger.Free
	if held+ledger.Free != m.arena.Segments() || ledger.InUse != len(m.handles) || limits > m.arena.Segments() {
		t.Fatalf("%d in use, limits of %d of %d: %v", len(m.handles), limits, m.arena.Segments(), ledger)
	}
	if deficit && !m.someoneOver(ledger) {
		t.Fatalf("minimums are out on nobody's loan: %v", ledger)
	}
	for _, p := range m.pools {
		m.checkPool(t, p, ledger)
	}
	m.pools = slices.DeleteFunc(m.pools, func(p *modelPool) bool { return p.closed && m.inUse(p) == 0 })
}

// someoneOver reports whether a pool has more in use than its limit. Idle buffers
// do not count: they must be within reach.
func (m *model) someoneOver(l bufferpool.Ledger) bool {
	return slices.ContainsFunc(l.Pools, func(p bufferpool.PoolLedger) bool { return p.InUse() > p.Limit })
}

func (m *model) inUse(p *modelPool) (n int) {
	for _, b := range m.handles {
		if b.pool == p {
			n++
		}
	}
	return n
}

func (m *model) checkPool(t *rapid.T, p *modelPool, ledger bufferpool.Ledger) {
	at := slices.IndexFunc(ledger.Pools, func(l bufferpool.PoolLedger) bool { return l.Name == p.name })
	n := m.inUse(p)
	if at < 0 {
		if !p.closed || n > 0 {
			t.Fatalf("%s is not in the ledger: %v", p, ledger)
		}
		return
	}
	l := ledger.Pools[at]
	if l.InUse() != n {
		t.Fatalf("%s has %d in use: %v", p, n, ledger)
	}
	if l.Held > l.Limit && l.Held > n {
		t.Fatalf("%s keeps idle buffers beyond its limit: %v", p, ledger)
	}
	if p.closed {
		return
	}
	available := p.Available()
	if available == 0 && l.Held < l.Limit && !m.someoneOver(ledger) {
		t.Fatalf("%s starves below its limit, and nobody is over theirs: %v", p, ledger)
	}
	if available > 0 && p.wake != nil && !p.wake.fired() {
		t.Fatalf("%s sleeps with %d available: %v", p, available, ledger)
	} else if available > 0 {
		p.wake = nil
	}
}

// drain releases everything: then every pool can have all of its limit at once.
func (m *model) drain(t *rapid.T) {
	for _, b := range m.handles {
		for range b.refs {
			b.Release()
		}
	}
	m.handles = nil
	m.check(t)
	var all []bufferpool.Buffer
	for _, p := range m.pools {
		got := getAll(p.Pool)
		if len(got) != p.Limit() {
			t.Fatalf("%s gets %d: %v", p, len(got), m.arena.Ledger())
		}
		all = append(all, got...)
	}
	release(all...)
	if err := m.arena.Close(); err != nil {
		t.Fatal(err)
	}
}
