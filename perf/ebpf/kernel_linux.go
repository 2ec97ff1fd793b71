//go:build linux && (amd64 || arm64)

package ebpf

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/link"
	"golang.org/x/sys/unix"

	"github.com/overtake-stream/overtake/perf/probe"
)

// kernel is the loaded latency programs.
type kernel struct {
	tier     Tier
	refusals []Refusal
	coll     *ebpf.Collection
	links    []link.Link // in the order in which they were attached
}

// Programs of bpf/latency.c.
var (
	traceProgs   = []string{latencyProgSent, latencyProgReady, latencyProgReceived, latencyProgWaking, latencyProgSwitched}
	syscallProgs = []string{latencyProgEntered, latencyProgLeft}
)

const (
	losesKernel = "kernel send, socket queue, wake, run queue, read, unread"
	losesAll    = "all stages of messages"
)

// loadKernel loads what the kernel allows. Whatever it refuses is in refusals; the
// collection is nil in tier C.
func loadKernel(opts LatencyOptions) (*kernel, error) {
	k := &kernel{}
	spec, err := loadLatency()
	if err != nil {
		return nil, fmt.Errorf("compiled program: %w", err)
	}
	if err := errors.Join(
		spec.Variables["with_events"].Set(flagByte(!opts.NoEvents)),
		spec.Variables["with_histograms"].Set(flagByte(opts.Histograms))); err != nil {
		return nil, fmt.Errorf("compiled program: %w", err)
	}
	if !opts.SystemCalls {
		drop(spec, syscallProgs)
	}
	full := spec.Copy()
	if k.coll, err = ebpf.NewCollection(full); err == nil {
		k.tier = TierA
		return k, nil
	}
	first := err
	drop(spec, traceProgs)
	drop(spec, syscallProgs)
	if k.coll, err = ebpf.NewCollection(spec); err == nil {
		k.tier = TierB
		k.refusals = append(k.refusals, refusal("kernel tracepoints (tp_btf)", losesKernel, first))
		return k, nil
	}
	k.refusals = append(k.refusals, refusal("kernel tracepoints (tp_btf) and uprobes", losesAll, first))
	k.coll = nil
	return k, nil
}

func drop(spec *ebpf.CollectionSpec, progs []string) {
	for _, name := range progs {
		delete(spec.Programs, name)
	}
}

func flagByte(on bool) uint8 {
	if on {
		return 1
	}
	return 0
}

// attachKernel attaches the kernel's edges.
func (k *kernel) attachKernel() error {
	for _, name := range slices.Concat(traceProgs, syscallProgs) {
		prog := k.coll.Programs[name]
		if prog == nil {
			continue
		}
		l, err := link.AttachTracing(link.TracingOptions{Program: prog})
		if err != nil {
			return fmt.Errorf("attach %s: %w", name, err)
		}
		k.links = append(k.links, l)
	}
	return nil
}

// attachProgram attaches to the probe points of a process.
func (k *kernel) attachProgram(pid int, rate probe.Rate) error {
	name := fmt.Sprintf("/proc/%d/exe", pid)
	s, err := programSites(name)
	if err != nil {
		return err
	}
	ex, err := link.OpenExecutable(name)
	if err != nil {
		return err
	}
	ref := s.semaphores + 2*uint64(rate)
	lead := uint64(0)
	if s.lead != 0 && !optimisedUprobes() {
		lead = s.lead
	}
	l, err := ex.UprobeMulti(nil, k.coll.Programs[latencyProgPoint], &link.UprobeMultiOptions{
		Addresses:     []uint64{s.writeBegin - lead, s.processed - lead},
		RefCtrOffsets: []uint64{ref, ref},
		Cookies:       []uint64{0, 1},
		PID:           uint32(pid),
	})
	if err != nil {
		return fmt.Errorf("uprobe: %w", err)
	}
	k.links = append(k.links, l)
	return nil
}

// programSites finds the probe points in a file.
func programSites(name string) (sites, error) {
	f, err := os.Open(name)
	if err != nil {
		return sites{}, err
	}
	defer func() { _ = f.Close() }()
	p, err := openProgram(f)
	if err != nil {
		return sites{}, fmt.Errorf("%s: %w", name, err)
	}
	s, err := p.sites()
	if err != nil {
		return sites{}, fmt.Errorf("%s: %w", name, err)
	}
	return s, nil
}

// optimisedUprobes reports whether the kernel replaces a no-op of 5 bytes by a call.
// Such kernels have the system call that the call ends in, which answers ENXIO to
// everybody else.
func optimisedUprobes() bool {
	if runtime.GOARCH != "amd64" {
		return false
	}
	const uprobe = 336
	_, _, errno := unix.RawSyscall(uprobe, 0, 0, 0)
	return errno == unix.ENXIO
}

// detach detaches everything, the programs first: their gates close at once.
func (k *kernel) detach() {
	for _, l := range slices.Backward(k.links) {
		_ = l.Close()
	}
	k.links = nil
}

func (k *kernel) close() {
	k.detach()
	if k.coll != nil {
		k.coll.Close()
	}
}

// counts reads the counters and histograms. Histograms that counted nothing are left out.
func (k *kernel) counts() (drops, faults uint64, histograms []Histogram, err error) {
	m := k.coll.Maps[latencyMapCounters]
	if drops, err = sumCPUs(m, counterDrops); err == nil {
		faults, err = sumCPUs(m, counterFaults)
	}
	if err == nil {
		histograms, err = readHistograms(k.coll.Maps[latencyMapHistograms], spans[:])
	}
	return drops, faults, histograms, err
}

// sumCPUs adds an entry of a per-CPU array up.
func sumCPUs(m *ebpf.Map, i uint32) (sum uint64, err error) {
	var each []uint64
	if err := m.Lookup(i, &each); err != nil {
		return 0, fmt.Errorf("the kernel's counts: %w", err)
	}
	for _, n := range each {
		sum += n
	}
	return sum, nil
}

// Indices of counters in bpf/latency.c.
const (
	counterDrops uint32 = iota
	counterUnknown
	counterFaults
)

// spans are the names of histograms in bpf/latency.c.
var spans = [...]string{"run queue", "unread", "send call", "receive call"}

// readHistograms reads histograms that lie one after the other in a per-CPU array.
func readHistograms(m *ebpf.Map, names []string) (all []Histogram, err error) {
	for span, name := range names {
		h := Histogram{Name: name}
		for i := range h.Buckets {
			if h.Buckets[i], err = sumCPUs(m, uint32(span*len(h.Buckets)+i)); err != nil {
				return nil, err
			}
		}
		if h.Count() > 0 {
			all = append(all, h)
		}
	}
	return all, nil
}
