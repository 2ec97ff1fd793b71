package bufferpool

import (
	"fmt"
	"strings"
)

// State is what a buffer is being used for.
type State uint32

// The states of a buffer. Idle ones are free or in a pool.
const (
	Idle     State = iota
	Open           // being filled
	Queued         // in an output queue
	InFlight       // with a transport that sends
	Parked         // set aside for data that may arrive
	Received       // at an input
	Captured       // part of a checkpoint being written
	states
)

var stateNames = [states]string{"idle", "open", "queued", "in flight", "parked", "received", "captured"}

// String is the state's name.
func (s State) String() string {
	if s >= states {
		return fmt.Sprintf("state %d", uint32(s))
	}
	return stateNames[s]
}

// Ledger says who holds the buffers of an arena. Counts are read one after the
// other while others work: they are exact only when nobody does.
type Ledger struct {
	Segments, Free, InUse int
	Pools                 []PoolLedger
}

// PoolLedger is the account of one pool.
type PoolLedger struct {
	Name             string
	Min, Limit, Held int
	States           [states]int // segments in use, by State
}

// InUse is the number of the pool's segments that are in use.
func (l PoolLedger) InUse() (n int) {
	for _, count := range l.States[Open:] {
		n += count
	}
	return n
}

// Idle is the number of the pool's segments that wait in it for the next Get.
func (l PoolLedger) Idle() int { return max(0, l.Held-l.InUse()) }

// Ledger reads the accounts.
func (a *Arena) Ledger() Ledger {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.ledger()
}

// ledger is Ledger for callers that hold mu: no pool can be forgotten meanwhile.
func (a *Arena) ledger() Ledger {
	l := Ledger{Segments: len(a.descs), Free: len(a.mu.free)}
	pools := *a.pools.Load()
	place := make([]int, len(pools))
	for id, p := range pools {
		if p != nil {
			place[id] = len(l.Pools)
			l.Pools = append(l.Pools, PoolLedger{Name: p.opts.Name, Min: p.opts.Min, Limit: p.Limit(), Held: p.held})
		}
	}
	for i := range a.descs {
		d := &a.descs[i]
		if s := State(d.state.Load()); s != Idle {
			l.InUse++
			l.Pools[place[d.pool.Load()]].States[s]++
		}
	}
	return l
}

// String is a table with a line per pool.
func (l Ledger) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d of %d buffers in use, %d free\n", l.InUse, l.Segments, l.Free)
	for _, p := range l.Pools {
		fmt.Fprintf(&b, "  %-32s held %d (min %d, limit %d)", p.Name, p.Held, p.Min, p.Limit)
		p.States[Idle] = p.Idle()
		for s, n := range p.States {
			if n > 0 {
				fmt.Fprintf(&b, ", %s %d", State(s), n)
			}
		}
		b.WriteByte('\n')
	}
	return b.String()
}
