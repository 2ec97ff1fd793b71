//go:build linux && (amd64 || arm64)

package ebpf

import (
	"context"
	"fmt"
	"time"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/link"
)

// RunQueue counts how long threads of processes wait for a processor, for a while or
// until ctx ends. What the kernel refuses is in the report.
func RunQueue(ctx context.Context, pids []int, d time.Duration) (*RunQueueReport, error) {
	r := &RunQueueReport{}
	before := make([]queueReading, len(pids))
	for i, pid := range pids {
		before[i] = readQueue(pid)
	}
	s, refused, err := startSched(pids, false)
	if err != nil {
		return nil, fmt.Errorf("run queue: %w", err)
	}
	r.Refusals = refused
	r.Duration = wait(ctx, d)
	if s != nil {
		s.detach()
		defer s.close()
		h := Histogram{Name: "run queue"}
		found, err := readHistograms(s.coll.Maps[schedMapRunQueue], []string{h.Name})
		if err != nil {
			return nil, fmt.Errorf("run queue: %w", err)
		}
		if len(found) > 0 {
			h = found[0]
		}
		r.Waits = &h
	}
	for i, pid := range pids {
		r.Processes = append(r.Processes, readQueue(pid).since(before[i]))
	}
	return r, nil
}

// OffCPU gathers the stacks of processes' threads at the time at which they give their
// processor up, for a while or until ctx ends. What the kernel refuses is in the
// report.
func OffCPU(ctx context.Context, pids []int, d time.Duration) (*OffCPUReport, error) {
	r := &OffCPUReport{}
	s, refused, err := startSched(pids, true)
	if err != nil {
		return nil, fmt.Errorf("off CPU: %w", err)
	}
	r.Refusals = refused
	r.Duration = wait(ctx, d)
	if s == nil {
		return r, nil
	}
	defer s.close()
	s.detach()
	if err := s.stacks(r); err != nil {
		return nil, fmt.Errorf("off CPU: %w", err)
	}
	r.settle()
	return r, nil
}

// wait waits, and says for how long.
func wait(ctx context.Context, d time.Duration) time.Duration {
	began := time.Now()
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
	return time.Since(began)
}

// sched is the loaded programs of bpf/sched.c.
type sched struct {
	coll  *ebpf.Collection
	links []link.Link
}

// startSched loads and attaches. What is refused is not an error.
func startSched(pids []int, stacks bool) (*sched, []Refusal, error) {
	spec, err := schedSpec(stacks)
	if err != nil {
		return nil, nil, err
	}
	loses := "the distribution of waits"
	if stacks {
		loses = "stacks"
	}
	coll, err := ebpf.NewCollection(spec)
	if err != nil {
		return nil, []Refusal{refusal("scheduler tracepoints (tp_btf)", loses, err)}, nil
	}
	s := &sched{coll: coll}
	for _, pid := range pids {
		if err := coll.Maps[schedMapProcs].Put(uint32(pid), uint32(1)); err != nil {
			s.close()
			return nil, nil, err
		}
	}
	for _, name := range []string{schedProgQueueWaking, schedProgQueueSwitched} {
		l, err := link.AttachTracing(link.TracingOptions{Program: coll.Programs[name]})
		if err != nil {
			s.close()
			return nil, []Refusal{refusal("scheduler tracepoints (tp_btf)", loses, err)}, nil
		}
		s.links = append(s.links, l)
	}
	return s, nil, nil
}

func schedSpec(stacks bool) (*ebpf.CollectionSpec, error) {
	spec, err := loadSched()
	if err != nil {
		return nil, fmt.Errorf("compiled program: %w", err)
	}
	if err := spec.Variables["with_stacks"].Set(flagByte(stacks)); err != nil {
		return nil, fmt.Errorf("compiled program: %w", err)
	}
	return spec, nil
}

func (s *sched) detach() {
	for _, l := range s.links {
		_ = l.Close()
	}
	s.links = nil
}

func (s *sched) close() {
	s.detach()
	s.coll.Close()
}

// stacks reads what was gathered, with names for addresses.
func (s *sched) stacks(r *OffCPUReport) error {
	var err error
	if r.Lost, err = sumCPUs(s.coll.Maps[schedMapLost], 0); err != nil {
		return err
	}
	symbols := map[uint32]*symbols{}
	var at schedPlace
	var sum schedTotal
	for it := s.coll.Maps[schedMapPlaces].Iterate(); it.Next(&at, &sum); {
		if symbols[at.Pid] == nil {
			symbols[at.Pid] = symbolsOf(int(at.Pid))
		}
		stack := OffCPUStack{PID: int(at.Pid), Preempted: at.Preempted != 0, Time: time.Duration(sum.Ns), Count: sum.Count}
		if at.Stack >= 0 {
			var pcs [127]uint64
			if err := s.coll.Maps[schedMapStacks].Lookup(uint32(at.Stack), &pcs); err == nil {
				stack.Frames = symbols[at.Pid].names(pcs[:])
			}
		}
		r.Stacks = append(r.Stacks, stack)
	}
	return nil
}
