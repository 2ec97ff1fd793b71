package credit_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/overtake-stream/overtake/netstack/credit"
	"pgregory.net/rapid"
)

// model is a channel with both its ends, a producer, a consumer, and the memory
// that buffers are parked from. Data and reports keep their order; announcements
// may be lost, repeated and overtaken. Its steps are chosen by the tests. A model
// can be copied with clone.
type model struct {
	exclusive, floats int // the channel's own buffers; those it may get beyond

	s       credit.Sender
	r       credit.Receiver
	queue   int         // data buffers at the producer
	wire    []wireFrame // data and reports on their way
	limits  []uint64    // announcements that may still arrive, at any time
	highest uint64      // limit announced so far

	sent, received, returned, told int // told: of returned, to the receiver
	parked                         int
	owes                           bool // parked since it last asked Announce
}

type wireFrame struct {
	data     bool
	sequence uint64
	backlog  int
}

func newModel(exclusive, floats int) *model {
	return &model{exclusive: exclusive, floats: floats, r: credit.NewReceiver(exclusive)}
}

func (m *model) clone() *model {
	c := *m
	c.wire, c.limits = slices.Clone(m.wire), slices.Clone(m.limits)
	return &c
}

func (m *model) String() string {
	return fmt.Sprintf("%v | %v | queue=%d wire=%v limits=%v returned=%d told=%d owes=%v",
		&m.s, &m.r, m.queue, m.wire, m.limits, m.returned, m.told, m.owes)
}

// push queues a buffer at the producer, and tells the backlog if that is due.
func (m *model) push() {
	m.queue++
	if m.s.Report(m.queue) {
		m.wire = append(m.wire, wireFrame{backlog: m.queue})
	}
}

// send puts a data buffer on the wire; the report that may be due then follows.
func (m *model) send() bool {
	if m.queue == 0 || m.s.Available() == 0 {
		return false
	}
	m.queue--
	m.sent++
	m.wire = append(m.wire, wireFrame{data: true, sequence: m.s.Send(m.queue), backlog: m.queue})
	if m.s.Report(m.queue) {
		m.wire = append(m.wire, wireFrame{backlog: m.queue})
	}
	return true
}

// arrive takes the oldest frame off the wire.
func (m *model) arrive() bool {
	if len(m.wire) == 0 {
		return false
	}
	f := m.wire[0]
	m.wire = m.wire[1:]
	if !f.data {
		m.r.Backlog(f.backlog)
		return true
	}
	if err := m.r.Data(f.sequence, f.backlog); err != nil {
		panic(err)
	}
	m.parked--
	m.received++
	return true
}

// giveBack is the consumer's: it finishes a buffer.
func (m *model) giveBack() bool {
	if m.returned == m.received {
		return false
	}
	m.returned++
	return true
}

// tell lets the receiver know, once half of the channel's own buffers are back.
func (m *model) tell() bool {
	if m.returned-m.told < max(1, m.exclusive/2) {
		return false
	}
	m.told = m.returned
	m.r.Returned(uint64(m.told))
	return true
}

// park parks one buffer, if it is wanted and there is one.
func (m *model) park() bool {
	if m.r.WantsExclusive() == 0 && (m.r.WantsFloating() == 0 || m.r.Floating() == m.floats) {
		return false
	}
	m.r.Park(1)
	m.parked++
	m.owes = true
	return true
}

// announce asks once for all that was parked since the last time.
func (m *model) announce() bool {
	if !m.owes {
		return false
	}
	m.owes = false
	if limit, due := m.r.Announce(); due {
		m.limits = append(m.limits, limit)
		m.highest = limit
	}
	return true
}

// deliver gives the sender announcement i, which stays there to be repeated.
func (m *model) deliver(i int) bool {
	grew, err := m.s.Limit(m.limits[i])
	if err != nil {
		panic(err)
	}
	return grew
}

// check holds in every state.
func (m *model) check() error {
	inFlight := 0
	for _, f := range m.wire {
		if f.data {
			inFlight++
		}
	}
	atConsumer := m.received - m.told
	switch {
	case uint64(m.sent) > m.highest:
		return fmt.Errorf("sent %d beyond the limit %d", m.sent, m.highest)
	case m.s.Available() < 0:
		return fmt.Errorf("%d available", m.s.Available())
	case m.parked < int(m.highest)-m.received:
		return fmt.Errorf("%d parked for %d announced", m.parked, int(m.highest)-m.received)
	case m.r.Held() != m.parked+atConsumer:
		return fmt.Errorf("held %d, want %d parked and %d with the consumer", m.r.Held(), m.parked, atConsumer)
	case m.r.Floating() > m.floats:
		return fmt.Errorf("%d floating buffers of %d", m.r.Floating(), m.floats)
	case m.parked > max(m.exclusive, inFlight+m.queue):
		return fmt.Errorf("%d parked, %d are the channel's own, and only %d are on their way", m.parked, m.exclusive, inFlight+m.queue)
	}
	return nil
}

// settle lets everything that can happen happen, except more pushes. Whatever came
// before, no data may be left, and floating buffers must be free again. Of the
// announcements lost before, the current one is repeated, as after reconnecting.
func (m *model) settle() error {
	if m.highest > 0 {
		m.limits = append(m.limits, m.r.Reannounce())
	}
	for busy := true; busy; {
		busy = false
		for _, step := range []func() bool{m.send, m.arrive, m.giveBack, m.tell, m.park, m.announce} {
			for step() {
				busy = true
			}
		}
		for i := range m.limits {
			busy = m.deliver(i) || busy
		}
		m.limits = nil
		if err := m.check(); err != nil {
			return err
		}
	}
	if m.queue > 0 || m.received != m.sent || m.returned != m.received {
		return fmt.Errorf("stalled: %v", m)
	}
	if m.parked > m.exclusive {
		return fmt.Errorf("floating buffers stay parked: %v", m)
	}
	return nil
}

// TestEveryInterleavingIsSafeAndLive visits all states that a few buffers can get
// into, and lets each of them settle.
func TestEveryInterleavingIsSafeAndLive(t *testing.T) {
	for exclusive := range 4 {
		for floats := range 3 {
			if exclusive+floats == 0 {
				continue
			}
			n := explore(t, newModel(exclusive, floats), 4)
			t.Logf("exclusive %d, floating %d: %d states", exclusive, floats, n)
		}
	}
}

func explore(t *testing.T, start *model, pushes int) int {
	seen := map[string]bool{}
	todo := []*model{start}
	for len(todo) > 0 {
		m := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		key := m.String()
		if seen[key] {
			continue
		}
		seen[key] = true
		if err := m.check(); err != nil {
			t.Fatalf("%v: %v", m, err)
		}
		if err := m.clone().settle(); err != nil {
			t.Fatalf("%v: %v", m, err)
		}
		todo = append(todo, successors(m, pushes)...)
	}
	return len(seen)
}

// successors are the states that one step leads to. An announcement that is not
// above the sender's limit changes nothing, so it is forgotten; and losing one is
// the same as never delivering it.
func successors(m *model, pushes int) (next []*model) {
	try := func(step func(*model) bool) {
		c := m.clone()
		if step(c) {
			limit := uint64(c.s.Available() + c.sent)
			c.limits = slices.DeleteFunc(c.limits, func(l uint64) bool { return l <= limit })
			next = append(next, c)
		}
	}
	try(func(c *model) bool {
		if c.sent+c.queue == pushes {
			return false
		}
		c.push()
		return true
	})
	for _, step := range []func(*model) bool{
		(*model).send, (*model).arrive, (*model).giveBack, (*model).tell, (*model).park, (*model).announce,
	} {
		try(step)
	}
	for i := range m.limits {
		try(func(c *model) bool { return c.deliver(i) })
	}
	return next
}

// TestRandomWalksAreSafeAndLive does the same with windows large enough for
// announcements to be held back.
func TestRandomWalksAreSafeAndLive(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := newModel(rapid.IntRange(0, 64).Draw(t, "exclusive"), rapid.IntRange(1, 64).Draw(t, "floating"))
		repeat := func(step func() bool) func(*rapid.T) {
			return func(t *rapid.T) {
				for range rapid.IntRange(1, 40).Draw(t, "times") {
					step()
				}
			}
		}
		t.Repeat(map[string]func(*rapid.T){
			"push":     repeat(func() bool { m.push(); return true }),
			"send":     repeat(m.send),
			"arrive":   repeat(m.arrive),
			"giveBack": repeat(m.giveBack),
			"tell":     repeat(m.tell),
			"park":     repeat(m.park),
			"announce": repeat(m.announce),
			"deliver": func(t *rapid.T) {
				if len(m.limits) > 0 {
					m.deliver(rapid.IntRange(0, len(m.limits)-1).Draw(t, "which"))
				}
			},
			"": func(t *rapid.T) {
				if err := m.check(); err != nil {
					t.Fatal(err)
				}
			},
		})
		if err := m.settle(); err != nil {
			t.Fatal(err)
		}
	})
}

// TestNothingAllocates pins that the machines are free of garbage.
func TestNothingAllocates(t *testing.T) {
	m := newModel(2, 8)
	if n := testing.AllocsPerRun(1000, func() {
		for m.r.WantsExclusive() > 0 {
			m.r.Park(1)
		}
		if limit, due := m.r.Announce(); due {
			_, _ = m.s.Limit(limit)
		}
		_ = m.s.Report(1)
		m.received++
		_ = m.r.Data(m.s.Send(0), 0)
		m.r.Returned(uint64(m.received))
	}); n != 0 {
		t.Fatalf("%v allocations per buffer", n)
	}
}
