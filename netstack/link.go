package netstack

// link is where a subpartition's items go: a gate in this process, or a
// connection.
//
// ready is called with no lock held when the subpartition has items that may be
// sent. From then on the link, and nobody else, calls take until it returns no
// items and no report; only after that can ready be called again. So items of a
// channel can never overtake each other, whoever runs the link.
//
// urgent is called with no lock held after a priority event was queued, besides
// ready, if that is due: the link may send it ahead of other channels' data.
type link interface {
	ready(s *subpartition)
	urgent(s *subpartition)
}

// localLink joins a subpartition to a channel of a gate in the same process.
// Whoever makes items sendable (the producer by queueing, the consumer by
// granting credit) carries them over.
type localLink struct {
	sub     *subpartition
	gate    *Gate
	channel int

	// consumer's goroutine
	announced uint64 // the limit last granted
	window    uint64 // buffers that may be out at the gate
}

var (
	_ link     = (*localLink)(nil)
	_ creditor = (*localLink)(nil)
)

func (l *localLink) ready(s *subpartition) {
	var batch [16]item
	for {
		items, t := s.take(batch[:0], len(batch), 0)
		if len(items) == 0 && !t.report { // a report is of no use here: the window is fixed
			return
		}
		if len(items) == 0 {
			continue
		}
		l.gate.receiveFrom(int32(l.channel), items, t.now)
	}
}

// urgent: whoever carries items over at this moment takes the event next.
func (l *localLink) urgent(*subpartition) {}

// returned grants new credit once half of the window is used up: the producer
// still has the other half, and is not woken for every single buffer.
func (l *localLink) returned(total uint64) {
	if total+l.window-l.announced < (l.window+1)/2 {
		return
	}
	l.announced = total + l.window
	_ = l.sub.limit(l.announced, l.sub.partition.opts.Clock) // cannot be out of range: the window is ours
}

// taken: in one process nobody floods a gate with events.
func (l *localLink) taken() {}

// ConnectLocal joins subpartition sub of p to channel ch of g, in one process.
// It must be called before either is used, once for each.
func ConnectLocal(p *Partition, sub int, g *Gate, ch int) {
	s := &p.subs[sub]
	l := &localLink{sub: s, gate: g, channel: ch, window: uint64(g.opts.Exclusive + g.opts.Floating)}
	s.link, s.local = l, true
	g.channels[ch].creditor = l
	l.returned(0)
}
