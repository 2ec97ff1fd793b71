package operators

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"github.com/overtake-stream/overtake/statecow"
)

// ErrMerge says that session windows were given an Aggregator without Merge.
var ErrMerge = errors.New("session windows merge: give the Aggregator a Merge function")

func (w Windows) validateSessions() error {
	if w.Gap < 1 {
		return errors.New("sessions with a gap of less than 1 ms: want that or more")
	}
	if w.Size != 0 || w.Slide != 0 {
		return fmt.Errorf("sessions with a size of %d ms and a slide of %d ms: want neither", w.Size, w.Slide)
	}
	return nil
}

// session is a session that has not ended: its first record came at Start, its last one a
// gap before End.
type session[A any] struct {
	Start, End int64
	Acc        A
}

// openSessions are those of a key: its state.
type openSessions[A any] struct {
	// Timer is when the key's only timer fires, if there are any: no later than the first
	// of them ends. It is left where it is when a session grows, and moved when it fires: a
	// record then costs no timer.
	Timer int64
	List  []session[A] // by their times, which do not overlap
}

// sessions is what the Processors behind WindowAggregate have in common for session windows.
type sessions[K comparable, T, A, O any] struct {
	gap   int64
	early int64 // how long before its end a session's timer fires
	agg   Aggregator[T, A, O]
	ctx   *KeyedContext
	state *ValueState[openSessions[A]]
	set   func(at int64) error // a timer
	drop  func(at int64) error // one that is set
	late  uint64               // records that came when their session was over

	// of the record being added
	v      T
	at     int64
	floor  int64 // a session that has not ended ends behind it
	before int64 // the timer before; none: noTimer
	after  int64 // and after
	add    func(openSessions[A], bool) (openSessions[A], bool)
}

const noTimer = LastWatermark

// sessionAggregate is WindowAggregate for sessions.
func sessionAggregate[K comparable, T, A, O any](key func(T) K, cut Windows, agg Aggregator[T, A, O], next Collector[Windowed[K, O]]) (Transform[T], error) {
	if agg.Merge == nil {
		return nil, ErrMerge
	}
	s := sessions[K, T, A, O]{gap: cut.Gap, agg: agg}
	if cut.Processing { // records may come until the last millisecond is over
		return Process[K, T, Windowed[K, O]](key, &processingSessions[K, T, A, O]{s}, next)
	}
	s.early = 1 // the watermark says that nothing comes at that time
	return Process[K, T, Windowed[K, O]](key, &eventSessions[K, T, A, O]{s}, next)
}

// open makes the state.
func (s *sessions[K, T, A, O]) open(ctx *KeyedContext) error {
	accs, err := CodecFor[A]()
	if err != nil {
		return err
	}
	s.ctx, s.add = ctx, s.gather
	s.state, err = statecow.NewValueState(ctx.states, "sessions", &sessionCodec[A]{accs: accs}, TTL{})
	return err
}

// process adds a record of time t. A session that ends up to floor is over.
func (s *sessions[K, T, A, O]) process(v T, t, floor int64) error {
	s.v, s.at, s.floor = v, t, floor
	if err := s.state.Update(s.add); err != nil {
		return err
	}
	if s.after == s.before {
		return nil
	}
	if s.before != noTimer {
		if err := s.drop(s.before); err != nil {
			return err
		}
	}
	return s.set(s.after)
}

// gather adds the record to the sessions of its key: to a new one, or to those that it
// overlaps, which are one session then.
func (s *sessions[K, T, A, O]) gather(old openSessions[A], found bool) (openSessions[A], bool) {
	if !found {
		old.Timer = noTimer
	}
	s.before, s.after = old.Timer, old.Timer
	start, end := s.at, s.at+s.gap
	first := 0
	for first < len(old.List) && old.List[first].End <= start {
		first++
	}
	last := first // behind those that overlap
	for last < len(old.List) && old.List[last].Start < end {
		last++
	}
	switch {
	case first == last && end-1 <= s.floor:
		s.late++
		return old, found
	case first == last:
		old.List = slices.Insert(old.List, first, session[A]{Start: start, End: end})
	default:
		into := &old.List[first]
		into.Start, into.End = min(into.Start, start), max(old.List[last-1].End, end)
		for i := first + 1; i < last; i++ {
			s.agg.Merge(&into.Acc, &old.List[i].Acc)
		}
		old.List = slices.Delete(old.List, first+1, last)
	}
	s.agg.Add(&old.List[first].Acc, s.v)
	old.Timer = min(old.Timer, old.List[0].End-s.early)
	s.after = old.Timer
	return old, true
}

// fire passes on the results of the key's sessions that end up to a time, and sets the timer
// of those that do not.
func (s *sessions[K, T, A, O]) fire(key K, at int64, out Collector[Windowed[K, O]]) error {
	open, ok, err := s.state.Get()
	if err != nil || !ok {
		return err
	}
	ended := 0
	for ended < len(open.List) && open.List[ended].End-s.early <= at {
		one := &open.List[ended]
		s.ctx.Time, s.ctx.HasTime = one.End-1, true
		out.Collect(Windowed[K, O]{Key: key, Start: one.Start, End: one.End, Value: s.agg.Result(&one.Acc)})
		ended++
	}
	if ended == len(open.List) {
		return s.state.Clear()
	}
	open.List = open.List[ended:]
	open.Timer = open.List[0].End - s.early
	if err := s.state.Set(open); err != nil {
		return err
	}
	return s.set(open.Timer)
}

// eventSessions is the Processor for sessions of event time.
type eventSessions[K comparable, T, A, O any] struct{ sessions[K, T, A, O] }

// Open implements Processor.
func (s *eventSessions[K, T, A, O]) Open(ctx *KeyedContext) error {
	s.set, s.drop = ctx.SetTimer, ctx.DeleteTimer
	return s.open(ctx)
}

// Process implements Processor.
func (s *eventSessions[K, T, A, O]) Process(_ K, v T, _ Collector[Windowed[K, O]]) error {
	if !s.ctx.HasTime {
		return ErrNoTime
	}
	return s.process(v, s.ctx.Time, s.ctx.Watermark)
}

// OnTimer implements TimerProcessor.
func (s *eventSessions[K, T, A, O]) OnTimer(key K, at int64, out Collector[Windowed[K, O]]) error {
	return s.fire(key, at, out)
}

// processingSessions is the Processor for sessions of processing time.
type processingSessions[K comparable, T, A, O any] struct{ sessions[K, T, A, O] }

// Open implements Processor.
func (s *processingSessions[K, T, A, O]) Open(ctx *KeyedContext) error {
	s.set, s.drop = ctx.SetProcessingTimer, ctx.DeleteProcessingTimer
	return s.open(ctx)
}

// Process implements Processor. No record is late.
func (s *processingSessions[K, T, A, O]) Process(_ K, v T, _ Collector[Windowed[K, O]]) error {
	return s.process(v, s.ctx.ProcessingTime(), NoWatermark)
}

// OnProcessingTimer implements ProcessingTimerProcessor.
func (s *processingSessions[K, T, A, O]) OnProcessingTimer(key K, at int64, out Collector[Windowed[K, O]]) error {
	if s.ctx.timers.last { // a timer that is set now is dropped: all sessions end
		at = LastWatermark
	}
	return s.fire(key, at, out)
}

// sessionCodec encodes the sessions of a key:
//
//	| timer i64 | sessions: start i64, end i64, bytes of the accumulator u32, accumulator |
//
// What it decodes is good until it decodes again.
type sessionCodec[A any] struct {
	accs Codec[A]
	list []session[A]
}

const sessionHead = 8 + 8 + 4

var errSessions = errors.New("operators: the sessions of a key are damaged")

// Append implements statecow.Codec.
func (c *sessionCodec[A]) Append(dst []byte, v openSessions[A]) []byte {
	le := binary.LittleEndian
	dst = le.AppendUint64(dst, uint64(v.Timer))
	for i := range v.List {
		s := &v.List[i]
		dst = le.AppendUint64(dst, uint64(s.Start))
		dst = le.AppendUint64(dst, uint64(s.End))
		size := len(dst)
		dst = c.accs.Append(append(dst, 0, 0, 0, 0), s.Acc)
		le.PutUint32(dst[size:], uint32(len(dst)-size-4))
	}
	return dst
}

// Decode implements statecow.Codec.
func (c *sessionCodec[A]) Decode(src []byte) (v openSessions[A], err error) {
	le := binary.LittleEndian
	if len(src) < 8 {
		return v, errSessions
	}
	v.Timer, src = int64(le.Uint64(src)), src[8:]
	c.list = c.list[:0]
	for len(src) > 0 {
		if len(src) < sessionHead || uint64(le.Uint32(src[16:])) > uint64(len(src)-sessionHead) {
			return v, errSessions
		}
		s := session[A]{Start: int64(le.Uint64(src)), End: int64(le.Uint64(src[8:]))}
		n := sessionHead + int(le.Uint32(src[16:]))
		if s.Acc, err = c.accs.Decode(src[sessionHead:n:n]); err != nil {
			return v, err
		}
		c.list, src = append(c.list, s), src[n:]
	}
	v.List = c.list
	return v, nil
}

// Fingerprint implements statecow.Codec.
func (c *sessionCodec[A]) Fingerprint() uint64 { return c.accs.Fingerprint()*31 + 1 }
