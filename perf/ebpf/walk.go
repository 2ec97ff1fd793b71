package ebpf

import (
	"time"

	"github.com/overtake-stream/overtake/perf/probe"
)

// clockError is by how much a program's time may differ from the kernel's for the same moment: the
// programs compare the two clocks with system calls, which take that long where they are traced.
// From the kernel's read to the program's decode it may be a third of that.
const clockError = int64(time.Microsecond)

// put takes a message's stages apart, edge by edge.
func (m *Matcher) put(d *direction, p *pair) {
	send, receive := &p.write.Message.Stamps, p.done.Message.Stamps
	for i := range receive {
		if receive[i] > p.done.Time+clockError {
			m.counts.Disordered++
		}
		receive[i] = min(receive[i], p.done.Time)
	}
	msg := Message{
		Direction: p.done.Direction, Channel: p.done.Message.Channel, Sequence: p.done.Message.Sequence,
		Sender: p.write.PID, Receiver: p.done.PID, Opened: send[probe.Opened], Ended: p.done.Time,
	}
	w := walk{msg: &msg, at: send[probe.Opened], waits: m.waits, disordered: &m.counts.Disordered}
	w.to(Fill, send[probe.Sealed])
	w.to(Credit, send[probe.Granted])
	w.to(SendQueue, send[probe.Taken])
	w.thread = p.write.TID
	w.runs(Batch, p.write.Time)
	if d.known && p.write.Message.End != 0 && w.kernel(d, p) {
		m.counts.Kernel++
	} else {
		w.thread = 0 // it is not known who reads
		w.to(Network, receive[probe.Read])
	}
	w.runs(Decode, receive[probe.Decoded])
	w.to(ReceiveQueue, receive[probe.Dequeued])
	w.thread = p.done.TID
	w.runs(Process, p.done.Time)
	m.counts.Matched++
	m.emit(&msg)
}

// walk goes along a message's edges.
type walk struct {
	msg        *Message
	at         int64
	thread     uint32 // that has the message in its hands, 0: not known
	waits      waits
	disordered *uint64
}

// to ends a stage at a time. 0 is a time that is not known: the stage was not seen.
func (w *walk) to(s Stage, t int64) { w.end(s, t, 0) }

// runs does so for a stage in which the thread has something to do: for as long as it waited for
// a processor meanwhile, that is what the message waited for.
func (w *walk) runs(s Stage, t int64) {
	w.end(s, t, w.waits.between(w.thread, w.at, t))
}

// end ends a stage, of which a part was spent in the run queue.
func (w *walk) end(s Stage, t int64, queued time.Duration) {
	switch {
	case t == 0:
	case t < w.at-clockError:
		*w.disordered++
	case t < w.at: // the two happened within less than can be told
		w.msg.add(s, 0)
	default:
		w.msg.add(s, time.Duration(t-w.at)-queued)
		if queued > 0 {
			w.msg.add(Runnable, queued)
		}
		w.at = t
	}
}

// decoded is when the receiver had read the message at the latest. What the kernel reports of it
// after that is of bytes behind it: its own event was lost.
func (p *pair) decoded() int64 {
	if at := p.done.Message.Stamps[probe.Decoded]; at != 0 {
		return min(at+clockError, p.done.Time)
	}
	return p.done.Time
}

// kernel goes through the kernel, if its edges were seen.
func (w *walk) kernel(d *direction, p *pair) bool {
	end, limit := d.base+uint32(p.write.Message.End), p.decoded()
	ready := d.first(Ready, p.write.Time, end)
	if ready == nil || ready.Time > limit {
		return false
	}
	received := d.first(Received, ready.Time, end)
	if received == nil || received.Time > limit {
		return false
	}
	if sent := d.first(Sent, p.write.Time, end); sent != nil {
		if sent.Enter >= w.at && sent.Enter <= ready.Time {
			w.runs(GoEntry, sent.Enter)
		}
		w.runs(KernelSend, min(sent.Time, ready.Time))
		if sent.Time < ready.Time {
			w.to(SocketQueue, ready.Time)
		}
	} else {
		w.runs(KernelSend, ready.Time)
	}
	w.thread = received.TID
	w.wake(d, ready, received)
	return true
}

// wake goes from readable to read. The last time that a thread was woken and ran counts: if it
// was woken for later bytes, nobody had read these until then.
func (w *walk) wake(d *direction, ready, received *Event) {
	run := last(d.since(Run, ready.Time), received.Time, 0)
	if run == nil {
		w.runs(Unread, received.Time)
		return
	}
	if waking := last(d.since(Waking, ready.Time), run.Time, run.TID); waking != nil {
		if last(d.since(Ready, ready.Time+1), waking.Time, 0) != nil {
			w.runs(Unread, waking.Time)
		} else {
			w.to(Wake, waking.Time)
		}
	}
	w.to(Runnable, run.Time)
	if received.Enter >= run.Time && received.Enter <= received.Time {
		w.runs(GoScheduler, received.Enter)
	}
	w.runs(ReadCall, received.Time)
}

// last returns the last event until a time, of a thread if that is not 0.
func last(events []Event, until int64, tid uint32) (found *Event) {
	for i := range events {
		if events[i].Time > until {
			break
		}
		if tid == 0 || events[i].TID == tid {
			found = &events[i]
		}
	}
	return found
}
