//go:build !linux || !(amd64 || arm64)

package ebpf

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"time"
)

func unsupported() Refusal {
	return Refusal{
		Part: "eBPF", Loses: "everything",
		Reason: fmt.Sprintf("it is there on Linux (amd64, arm64) alone, not on %s/%s", runtime.GOOS, runtime.GOARCH),
	}
}

// Check says that there is no eBPF here.
func Check(ctx context.Context) (*Support, error) {
	return &Support{Kernel: runtime.GOOS, Refusals: []Refusal{unsupported()}}, ctx.Err()
}

// TrapCosts says that there is no eBPF here.
func TrapCosts(context.Context) (five, one float64, err error) {
	return 0, 0, errors.New(unsupported().String())
}

// Latency says that there is no eBPF here.
func Latency(context.Context, []int, time.Duration, LatencyOptions) (*LatencyReport, error) {
	return &LatencyReport{Refusals: []Refusal{unsupported()}}, nil
}

// RunQueue says that there is no eBPF here.
func RunQueue(context.Context, []int, time.Duration) (*RunQueueReport, error) {
	return &RunQueueReport{Refusals: []Refusal{unsupported()}}, nil
}

// OffCPU says that there is no eBPF here.
func OffCPU(context.Context, []int, time.Duration) (*OffCPUReport, error) {
	return &OffCPUReport{Refusals: []Refusal{unsupported()}}, nil
}
