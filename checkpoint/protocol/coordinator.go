package protocol

import (
	"errors"
	"fmt"
	"math"
)

// never is a time that does not come.
const never = math.MaxInt64

// Coordinator decides about the checkpoints of one attempt to run a job. The zero
// value is not ready: see NewCoordinator.
type Coordinator struct {
	// constant
	options Options
	members int
	sources memberSet
	floor   ID // IDs up to here are of earlier attempts

	now       int64
	started   bool
	over      bool // nothing more is done
	ending    ID   // the last checkpoint, once it is complete; those asked for meanwhile are waited for
	endKind   Kind
	finished  memberSet
	flights   []*flight // by ID
	last      ID
	retained  []ID // complete, neither dropped nor kept by a user
	failures  int  // in a row
	history   history
	waiting   []Token // of those who asked for a checkpoint by hand that could not begin yet
	lastToken Token

	publishing *flight // nil: no Publish is out
	due        int64   // when the interval is over
	pause      int64   // when the pause is over
	retry      int64   // when a final checkpoint may be triggered
	armed      int64   // the last Wake
	out        []Command
}

// NewCoordinator returns the coordinator of an attempt. Its time starts with its first
// event: send a Tick once all members run. The error reports all that is wrong with
// the arguments.
func NewCoordinator(o Options, a Attempt) (*Coordinator, error) {
	if err := errors.Join(o.Validate(), a.Validate()); err != nil {
		return nil, err
	}
	o = o.withDefaults()
	c := &Coordinator{
		options: o, members: a.Members, sources: newMemberSet(a.Members), finished: newMemberSet(a.Members),
		floor: a.Last, last: a.Last, retained: append([]ID(nil), a.Retained...), history: history{size: o.History},
		now: math.MinInt64, pause: math.MinInt64, retry: math.MinInt64, due: never, armed: never,
	}
	for _, m := range a.Sources {
		c.sources.add(m)
	}
	return c, nil
}

// Step takes an event, appends what is to be done to dst and returns it. Commands are
// to be carried out in their order, and all of them before the next Step. Only Publish,
// which takes time and has an outcome, is always the last: so it holds nothing up, and
// one that is carried out on the spot may call Step with its outcome.
func (c *Coordinator) Step(dst []Command, e Event) []Command {
	c.out = dst
	c.now = max(c.now, e.Now)
	if !c.started {
		c.started = true
		c.restartInterval()
	}
	c.take(e)
	c.work()
	dst, c.out = c.out, nil
	return dst
}

func (c *Coordinator) take(e Event) {
	switch e.Type {
	case Tick: // work does it all
	case Request:
		c.request(e)
	case Ack:
		c.ack(e)
	case Decline:
		c.decline(e)
	case Published:
		c.published(e)
	case PublishFailed:
		c.publishFailed(e)
	case Finished:
		c.finish(e)
	case Failed:
		c.end(e, CauseJobFailed)
	case Stop:
		c.end(e, CauseStopped)
	default:
		c.note(e, NoteUnknown)
	}
}

// work does what is due, whatever the event was: so a Tick that comes late does no harm.
func (c *Coordinator) work() {
	if !c.over {
		c.expire()
	}
	if c.over {
		return
	}
	f := c.nextToPublish()
	c.triggerNext()
	if c.ending != 0 && len(c.flights) == 0 {
		c.close(CauseEnded)
		c.emit(Command{Type: EndJob, ID: c.ending, Kind: c.endKind})
		return
	}
	c.wake()
	if f != nil {
		c.emit(Command{Type: Publish, ID: f.id(), Kind: f.kind, Payloads: f.payloads})
	}
}

// Over says whether the coordinator has ended: after FailJob, EndJob, Failed or Stop.
func (c *Coordinator) Over() bool { return c.over }

// Last is the newest ID that was triggered, for the next attempt's Attempt.Last.
func (c *Coordinator) Last() ID { return c.last }

// Retained appends to dst the complete checkpoints that retention keeps, oldest
// first, for the next attempt's Attempt.Retained. If the history has one that was
// aborted while it was published, ask the store: it may be visible as well.
func (c *Coordinator) Retained(dst []ID) []ID { return append(dst, c.retained...) }

// Failures is how many checkpoints have failed in a row.
func (c *Coordinator) Failures() int { return c.failures }

// String is the state on one line.
func (c *Coordinator) String() string {
	s := fmt.Sprintf("last=%d", c.last)
	for _, f := range c.flights {
		s += fmt.Sprintf(" %d:%v=%d/%d", f.id(), f.kind, f.acked.count, c.members)
		if f == c.publishing {
			s += "(publishing)"
		}
	}
	s += fmt.Sprintf(" finished=%d failures=%d retained=%v", c.finished.count, c.failures, c.retained)
	if len(c.waiting) > 0 {
		s += fmt.Sprintf(" waiting=%d", len(c.waiting))
	}
	switch {
	case c.over:
		s += " over"
	case c.ending != 0:
		s += " ending"
	}
	return s
}

func (c *Coordinator) emit(x Command) { c.out = append(c.out, x) }

func (c *Coordinator) note(e Event, why NoteWhy) {
	c.emit(Command{Type: Note, Event: e.Type, ID: e.ID, Member: e.Member, Token: e.Token, Why: why})
}

func (c *Coordinator) find(id ID) *flight {
	for _, f := range c.flights {
		if f.id() == id {
			return f
		}
	}
	return nil
}

// of is the first flight of a kind, nil if there is none.
func (c *Coordinator) of(k Kind) *flight {
	for _, f := range c.flights {
		if f.kind == k {
			return f
		}
	}
	return nil
}

func (c *Coordinator) isMember(m Member) bool { return m >= 0 && int(m) < c.members }
