package task

import (
	"encoding/binary"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/overtake-stream/overtake/netstack/record"
	"github.com/overtake-stream/overtake/perf"
)

// Markers lets latency markers through a subtask: records without content that its
// sources send at an interval, and that every subtask passes on behind what it has
// written. So a marker is never ahead of the records before it, and takes as long as
// they do, except that no operator works on it.
//
// A marker is sent to one receiver of each output, of a broadcast to all: to all of every
// output they would multiply with each. Each subtask takes the receivers in turn, for each
// subtask of a source by itself, so that all pairs of source and sink are measured after a
// while, at a cost that does not depend on the parallelism.
type Markers struct {
	Interval time.Duration // of a source's markers; > 0
	Source   int           // which of the job's sources the subtask is, if it is one
	Sources  []int         // how many subtasks each source of the job has
	Clocks   []PeerClock   // by channel of the gate: the sender's clock; nil where it is the own one
}

// PeerClock is the clock of another process.
type PeerClock interface {
	// At returns how far it is ahead of the own clock at a time of that, and by how much
	// this may be wrong; ok is not set as long as nothing is known.
	At(now time.Duration) (ahead, bound time.Duration, ok bool)
}

// Latency is how long the markers of a source have taken to a subtask.
type Latency struct {
	Source int           // of Markers.Sources
	Times  perf.Snapshot // nanoseconds
	Error  time.Duration // by which any of Times may be wrong, as the clocks of processes differ
	Lost   uint64        // markers that came before the sender's clock was known
}

// marker is a latency marker. Its payload is source and subtask as u32, time and error as
// u64, little-endian.
type marker struct {
	source, subtask int
	time            time.Duration // on the clock of the process that it is in
	bound           time.Duration // the error of that
}

const markerSize = 24

// markers is a subtask's part.
type markers struct {
	Markers

	// subtask goroutine
	due   time.Duration // a source's next marker
	held  bool          // the source has waited for its outputs since it looked whether it is due
	turns [][]uint32    // by source and subtask of it: markers sent on

	// atomic
	seen []atomic.Pointer[latency] // by source; nil: none has come
}

type latency struct {
	times perf.Histogram
	bound atomic.Int64 // the largest
	lost  atomic.Uint64
}

func (t *Task) initMarkers() {
	if t.cfg.Markers == nil {
		return
	}
	m := &markers{Markers: *t.cfg.Markers}
	m.seen = make([]atomic.Pointer[latency], len(m.Sources))
	m.turns = make([][]uint32, len(m.Sources))
	for i, n := range m.Sources {
		m.turns[i] = make([]uint32, n)
		for j := range m.turns[i] {
			m.turns[i][j] = uint32(t.ctx.Subtask)
		}
	}
	t.markers = m
}

// Latencies returns how long markers have taken to the subtask so far, by source; any
// goroutine may ask.
func (t *Task) Latencies() (list []Latency) {
	if t.markers == nil {
		return nil
	}
	for source := range t.markers.seen {
		if l := t.markers.seen[source].Load(); l != nil {
			list = append(list, Latency{Source: source, Times: l.times.Snapshot(), Error: time.Duration(l.bound.Load()), Lost: l.lost.Load()})
		}
	}
	return list
}

// ownMarker sends a source's marker, if one is due. It carries the present time, as a
// record would that is read now. But if one could not be read when the marker was due, as
// the outputs were full, the marker says when that was: else it would leave out the wait.
func (t *Task) ownMarker(now time.Duration) {
	m := t.markers
	if m == nil || !t.sends() {
		return
	}
	if now < m.due {
		m.held = false
		return
	}
	if !t.ctx.Available() {
		m.held = true
		for _, p := range t.ctx.Partitions() {
			p.Await()
		}
		return
	}
	mark := marker{source: m.Source, subtask: t.ctx.Subtask, time: now}
	if m.held {
		mark.time = m.due
	}
	m.held = false
	if m.due += m.Interval; m.due <= now { // those in between are left out
		m.due = now + m.Interval
	}
	m.record(mark, now)
	t.passOn(mark)
}

// sends reports whether the subtask is a source that may send.
func (t *Task) sends() bool {
	c := t.checkpoints
	return t.cfg.Source != nil && !t.time.final && (c == nil || !c.held && !c.finished)
}

// markerDue is when ownMarker has something to do.
func (t *Task) markerDue() (at time.Duration, ok bool) {
	m := t.markers
	if m == nil || !t.sends() || !t.ctx.Available() {
		return 0, false
	}
	return m.due, true
}

// holdMarkers notes that the subtask waits for its outputs.
func (t *Task) holdMarkers() {
	if t.markers != nil {
		t.markers.held = true
	}
}

// takeMarker takes a marker from a channel. One among records in flight that were restored
// is dropped: it tells the time of another attempt.
func (t *Task) takeMarker(ch int, r *record.Record) error {
	m := t.markers
	if m == nil || !t.cursor.holding {
		return nil
	}
	mark, err := m.parse(r.Payload)
	if err != nil {
		return err
	}
	now := t.clock.Now()
	if !m.translate(&mark, ch, now) {
		m.of(mark.source).lost.Add(1)
		return nil
	}
	m.record(mark, now)
	t.passOn(mark)
	return nil
}

// translate makes the time of a marker that has come from another process one of the own
// clock.
func (m *markers) translate(mark *marker, ch int, now time.Duration) bool {
	if m.Clocks == nil || m.Clocks[ch] == nil {
		return true
	}
	ahead, bound, ok := m.Clocks[ch].At(now)
	mark.time -= ahead
	mark.bound += bound
	return ok
}

// of is the account of a source.
func (m *markers) of(source int) *latency {
	l := m.seen[source].Load()
	if l == nil {
		l = new(latency)
		m.seen[source].Store(l)
	}
	return l
}

func (m *markers) record(mark marker, now time.Duration) {
	l := m.of(mark.source)
	if int64(mark.bound) > l.bound.Load() {
		l.bound.Store(int64(mark.bound))
	}
	l.times.Record(int64(now - mark.time))
}

// passOn sends a marker to one receiver of each output.
func (t *Task) passOn(mark marker) {
	list := t.ctx.Partitions()
	if len(list) == 0 {
		return
	}
	turn := &t.markers.turns[mark.source][mark.subtask]
	var payload [markerSize]byte
	r := record.Record{Kind: record.Marker, Payload: mark.append(payload[:0])}
	size := record.Size(markerSize, false)
	for _, p := range list {
		sub := int(*turn % uint32(p.Builders()))
		record.Append(p.Space(sub, size)[:0], r)
		p.CommitMark(sub, size)
	}
	*turn++
}

func (mark *marker) append(b []byte) []byte {
	b = binary.LittleEndian.AppendUint32(b, uint32(mark.source))
	b = binary.LittleEndian.AppendUint32(b, uint32(mark.subtask))
	b = binary.LittleEndian.AppendUint64(b, uint64(mark.time))
	return binary.LittleEndian.AppendUint64(b, uint64(mark.bound))
}

func (m *markers) parse(b []byte) (mark marker, err error) {
	if len(b) == markerSize {
		source, subtask := binary.LittleEndian.Uint32(b), binary.LittleEndian.Uint32(b[4:])
		if uint64(source) < uint64(len(m.Sources)) && uint64(subtask) < uint64(m.Sources[source]) {
			u64 := func(i int) time.Duration { return time.Duration(binary.LittleEndian.Uint64(b[i:])) }
			return marker{source: int(source), subtask: int(subtask), time: u64(8), bound: u64(16)}, nil
		}
	}
	return mark, fmt.Errorf("task: % x is no latency marker: do all workers run the same program?", b)
}
