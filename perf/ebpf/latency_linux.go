//go:build linux && (amd64 || arm64)

package ebpf

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/cilium/ebpf/ringbuf"
	"golang.org/x/sys/unix"

	"github.com/overtake-stream/overtake/perf/probe"
)

// Waking up costs this process more than reading what has come meanwhile, and looking for
// connections walks through all sockets of the machine.
const (
	pollInterval = 20 * time.Millisecond
	pollBusy     = 5 * time.Millisecond // after a read of many

	refreshInterval = 200 * time.Millisecond // while there are messages on connections that are not followed
	refreshIdle     = 2 * time.Second
)

// Latency follows messages between processes for a while, or until ctx ends, which is
// no error. Given one process, it finds those at the other ends of its connections.
//
// What the kernel refuses is in the report, and no error: in tier C the report has
// connections and run queues only. The error is that of a process that is not there,
// or has no probe points (ErrNoProbes).
func Latency(ctx context.Context, pids []int, d time.Duration, opts LatencyOptions) (*LatencyReport, error) {
	if len(pids) == 0 {
		return nil, errors.New("latency: no process given")
	}
	s, err := newSession(ctx, pids, opts)
	if err != nil {
		return nil, fmt.Errorf("latency: %w", err)
	}
	defer s.kernel.close()
	if err := s.run(ctx, d); err != nil {
		return nil, fmt.Errorf("latency: %w", err)
	}
	return s.report()
}

// session is one call of Latency.
type session struct {
	opts    LatencyOptions
	pids    []int
	given   []int // of those, the ones to replace
	kernel  *kernel
	flows   flows
	matcher *Matcher
	reader  *ringbuf.Reader

	began, attached, ended time.Time
	cpu                    time.Duration
	queues                 []queueReading
	traps, events          uint64

	refreshed time.Time // when connections were looked for last,
	foreign   uint64    // and how many messages had been on others by then
	checked   time.Time // when it was looked for processes that have ended
	joined    []int     // processes that have taken the places of those
}

func newSession(ctx context.Context, pids []int, opts LatencyOptions) (*session, error) {
	s := &session{opts: opts, pids: slices.Clone(pids), given: slices.Clone(pids), began: time.Now(), cpu: ownCPU()}
	others, err := peers(ctx, pids)
	if err != nil {
		return nil, err
	}
	if len(pids) == 1 {
		others = slices.DeleteFunc(others, func(pid int) bool { return pid == os.Getpid() }) // it asks the job over HTTP
		s.pids = append(s.pids, others...)
		slices.Sort(s.pids)
		s.pids = slices.Compact(s.pids)
	}
	if s.kernel, err = loadKernel(opts); err != nil {
		return nil, err
	}
	s.matcher = NewMatcher(s.message)
	if s.kernel.tier == TierC {
		return s, nil
	}
	if err := s.start(ctx); err != nil {
		s.kernel.close()
		return nil, err
	}
	return s, nil
}

// start attaches everything, the processes last.
func (s *session) start(ctx context.Context) (err error) {
	maps := s.kernel.coll.Maps
	s.flows = flows{pids: s.pids, kernel: maps[latencyMapFlows], dirs: maps[latencyMapDirs], known: map[uint64]uint64{}, maximum: int(maps[latencyMapDirs].MaxEntries())}
	for _, pid := range s.pids {
		if err := maps[latencyMapProcs].Put(uint32(pid), uint32(1)); err != nil {
			return err
		}
	}
	if s.reader, err = ringbuf.NewReader(maps[latencyMapEvents]); err != nil {
		return err
	}
	if err := s.flows.refresh(ctx); err != nil {
		return err
	}
	if err := s.kernel.attachKernel(); err != nil {
		return err
	}
	if s.opts.NoEvents {
		return nil
	}
	return s.attachPrograms()
}

// attachPrograms attaches to all processes. One that has no probe points is left out,
// unless none has; the kernel's refusal lowers the tier.
func (s *session) attachPrograms() error {
	attached := 0
	var absent error
	for _, pid := range s.pids {
		switch err := s.kernel.attachProgram(pid, s.opts.Rate); {
		case err == nil:
			attached++
		case errors.Is(err, ErrNoProbes):
			absent = fmt.Errorf("process %d: %w", pid, err)
		case errors.Is(err, os.ErrNotExist):
			return fmt.Errorf("process %d: %w", pid, err)
		default:
			part := fmt.Sprintf("uprobes in process %d", pid)
			s.kernel.refusals = append(s.kernel.refusals, attachRefusal(part, err))
		}
	}
	if attached == 0 && absent != nil {
		return absent
	}
	if attached == 0 {
		s.kernel.tier = TierC
	}
	return nil
}

// attachRefusal is refusal for an uprobe. The kernel allows one semaphore for a place.
func attachRefusal(part string, err error) Refusal {
	r := refusal(part, "stages of its messages", err)
	if errors.Is(err, unix.EINVAL) {
		r.Reason += ": another profiler is attached to the same program, at another rate"
		r.Remedy = "wait for it, or use its rate"
	}
	return r
}

// run reads events until the time is up.
func (s *session) run(ctx context.Context, d time.Duration) error {
	for _, pid := range s.pids {
		s.queues = append(s.queues, readQueue(pid))
	}
	s.attached = time.Now()
	s.matcher.Begin(probe.Now())
	if s.opts.OnAttached != nil {
		s.opts.OnAttached()
	}
	defer func() { s.ended = time.Now() }()
	end := s.attached.Add(d)
	if s.reader == nil {
		sleep(ctx, d)
		return nil
	}
	wait := pollBusy
	s.refreshed = s.attached
	for now := s.attached; ctx.Err() == nil && now.Before(end); now = time.Now() {
		sleep(ctx, wait)
		n, err := s.drain()
		if err != nil {
			return err
		}
		if wait = pollInterval; n > s.reader.BufferSize()/32 {
			wait = pollBusy
		}
		if err := s.replace(ctx, now); err != nil {
			return err
		}
		if err := s.refresh(ctx, now); err != nil {
			return err
		}
	}
	s.kernel.detach()
	_, err := s.drain()
	return err
}

// sleep waits for a time, or until ctx ends. Waiting within a system call instead, which the
// reader would, keeps the Go runtime's monitor awake.
func sleep(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
	case <-t.C:
	}
}

// refresh looks for new connections if it is time to. A message on one that is not followed is
// the sign of them.
func (s *session) refresh(ctx context.Context, now time.Time) error {
	foreign, age := s.matcher.counts.Foreign, now.Sub(s.refreshed)
	if age < refreshInterval || foreign == s.foreign && age < refreshIdle {
		return nil
	}
	s.refreshed, s.foreign = now, foreign
	if err := s.flows.refresh(ctx); err != nil && ctx.Err() == nil && !gone(err) {
		return err
	}
	return nil
}

// gone reports whether a process has ended, which ends nothing else.
func gone(err error) bool { return errors.Is(err, os.ErrNotExist) }

// drain reads what there is, and returns how many bytes that were. Nothing wakes the reader: that
// would cost the programs more than all else.
func (s *session) drain() (n int, err error) {
	s.reader.SetDeadline(time.Now())
	var r ringbuf.Record
	for {
		switch err := s.reader.ReadInto(&r); {
		case errors.Is(err, os.ErrDeadlineExceeded):
			return n, nil
		case err != nil:
			return n, err
		}
		n += len(r.RawSample)
		if e, ok := decodeEvent(r.RawSample); ok {
			s.events++
			if e.Kind == WriteBegin || e.Kind == Processed {
				s.traps++
			}
			s.matcher.Add(e)
		}
	}
}

const (
	eventSize   = 40
	messageSize = 72
)

// decodeEvent reads struct event or user_event of bpf/latency.c.
func decodeEvent(b []byte) (e Event, ok bool) {
	if len(b) < eventSize {
		return e, false
	}
	u32, u64 := binary.NativeEndian.Uint32, binary.NativeEndian.Uint64
	e = Event{
		Kind: Kind(u32(b)), Direction: u32(b[4:]), Time: int64(u64(b[8:])), Enter: int64(u64(b[16:])),
		Seq: u32(b[24:]), Base: u32(b[28:]), PID: u32(b[32:]), TID: u32(b[36:]),
	}
	if e.Kind == Run || e.Kind == Waited {
		e.PID, e.Waker = 0, e.PID
	}
	if e.Kind != WriteBegin && e.Kind != Processed {
		return e, true
	}
	if b = b[eventSize:]; len(b) < messageSize {
		return e, false
	}
	e.Message = probe.Message{Flow: u64(b), Channel: u64(b[8:]), Sequence: u64(b[16:]), End: u64(b[24:]), Start: u64(b[32:])}
	for i := range e.Message.Stamps {
		e.Message.Stamps[i] = int64(u64(b[40+8*i:]))
	}
	return e, true
}

func (s *session) message(m *Message) {
	if int(m.Direction) < len(s.flows.edges) {
		s.flows.edges[m.Direction].add(m)
	}
	if s.opts.OnMessage != nil {
		s.opts.OnMessage(m)
	}
}

// report sums up.
func (s *session) report() (*LatencyReport, error) {
	r := &LatencyReport{Tier: s.kernel.tier, Duration: s.ended.Sub(s.attached), Refusals: s.kernel.refusals, NoMessages: s.opts.NoEvents}
	r.MatchCounts = s.matcher.Close()
	for i := range s.flows.edges {
		if e := s.flows.edges[i].report(); e.Total.Count > 0 {
			r.Edges = append(r.Edges, e)
		}
	}
	if s.kernel.coll != nil {
		var err error
		if r.Drops, r.Faults, r.Histograms, err = s.kernel.counts(); err != nil {
			return nil, err
		}
	}
	for i, pid := range s.pids {
		r.RunQueues = append(r.RunQueues, readQueue(pid).since(s.queues[i]))
		conns, err := Conns(context.Background(), []int{pid})
		if gone(err) {
			r.Gone = append(r.Gone, pid)
		} else if err != nil {
			return nil, err
		}
		r.Connections = append(r.Connections, conns...)
	}
	r.Joined = s.joined
	r.Followed, r.Moved = len(s.flows.edges)/2, s.flows.moved(r.Connections)
	r.Cost = s.cost()
	return r, nil
}

// cost is what looking has cost. A trap is measured now that nothing is attached.
func (s *session) cost() OwnCost {
	c := OwnCost{CPU: ownCPU() - s.cpu, Attach: s.attached.Sub(s.began), Events: s.events, Traps: s.traps}
	if s.kernel.tier == TierC || s.opts.NoEvents {
		return c
	}
	if ns, err := s.kernel.trapCost(); err == nil {
		each, lost := time.Duration(ns), time.Duration(ns*float64(s.traps))
		c.Trap, c.Lost = &each, &lost
	}
	return c
}
