package netstack

import (
	"fmt"
	"sync/atomic"
)

// remoteOut is the link of a subpartition whose receiver is another worker. The
// driver carries items over, when told that there are some.
type remoteOut struct {
	// constant
	conn *conn
	id   uint32
	sub  *subpartition

	// atomic
	pressing atomic.Bool // posted to the driver for its priority events
}

var _ link = (*remoteOut)(nil)

// ready is called once until take has returned nothing, so that the mailbox holds
// a channel at most once.
func (o *remoteOut) ready(*subpartition) { o.conn.stack.driver.post(o) }

func (o *remoteOut) work() {
	if o.conn.closed {
		o.conn.refused()
		return
	}
	o.conn.out.active.push(o)
	o.conn.kick()
}

// urgent lets the next priority events leave before the data of other channels,
// however many of them wait for their turn.
func (o *remoteOut) urgent(*subpartition) {
	if o.pressing.CompareAndSwap(false, true) {
		o.conn.stack.driver.post((*urgentOut)(o))
	}
}

// urgentOut is a remoteOut posted for its priority events alone.
type urgentOut remoteOut

// work looks for them. The flag falls first: what comes later posts again.
func (u *urgentOut) work() {
	o := (*remoteOut)(u)
	o.pressing.Store(false)
	if o.conn.closed {
		return
	}
	o.conn.out.urgent.push(o)
	o.conn.kick()
}

func (o *remoteOut) edge() string {
	return fmt.Sprintf("%s → %s, channel %d", o.sub.partition.opts.Name, o.conn.addr, o.id)
}
