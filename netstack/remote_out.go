package netstack

import "fmt"

// remoteOut is the link of a subpartition whose receiver is another worker. The
// driver carries items over, when told that there are some.
type remoteOut struct {
	// constant
	conn *conn
	id   uint32
	sub  *subpartition
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

func (o *remoteOut) edge() string {
	return fmt.Sprintf("%s → %s, channel %d", o.sub.partition.opts.Name, o.conn.addr, o.id)
}
