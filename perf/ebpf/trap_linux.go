//go:build linux && (amd64 || arm64)

package ebpf

import (
	"context"
	"errors"
	"fmt"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
	"github.com/cilium/ebpf/link"

	"github.com/overtake-stream/overtake/perf/probe"
)

var errOneNoOp = errors.New("there is one no-op on this processor, not two to compare")

// TrapCosts measures what it takes a thread to run into an uprobe whose program does
// nothing, in nanoseconds: at the no-op of 5 bytes, which some kernels replace by a call, and
// at that of 1 byte in front of it, which they replace by a breakpoint. It does so in this
// process, for some 20 ms. The error is in the kernel's words.
func TrapCosts(ctx context.Context) (five, one float64, err error) {
	const self = "/proc/self/exe"
	s, err := programSites(self)
	if err != nil {
		return 0, 0, err
	}
	if s.lead == 0 {
		return 0, 0, errOneNoOp
	}
	ex, err := link.OpenExecutable(self)
	if err != nil {
		return 0, 0, err
	}
	nothing, err := ebpf.NewProgram(&ebpf.ProgramSpec{
		Name: "nothing", Type: ebpf.Kprobe, AttachType: ebpf.AttachTraceUprobeMulti, License: "GPL",
		Instructions: asm.Instructions{asm.Mov.Imm(asm.R0, 0), asm.Return()},
	})
	if err != nil {
		return 0, 0, fmt.Errorf("uprobe's program: %w", err)
	}
	defer nothing.Close()
	if five, err = trapAt(ex, nothing, s.writeBegin); err == nil {
		one, err = trapAt(ex, nothing, s.writeBegin-s.lead)
	}
	return five, one, errors.Join(err, ctx.Err())
}

// trapAt is the time of a trap at an offset in a program's file that is this one's, ns.
func trapAt(ex *link.Executable, prog *ebpf.Program, at uint64) (float64, error) {
	l, err := ex.UprobeMulti(nil, prog, &link.UprobeMultiOptions{Addresses: []uint64{at}})
	if err != nil {
		return 0, fmt.Errorf("uprobe: %w", err)
	}
	m := probe.Message{}
	ns := each(1000, func() { probe.WriteBegin(&m) })
	return ns, l.Close()
}
