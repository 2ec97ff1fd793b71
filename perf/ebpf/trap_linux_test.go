//go:build linux && (amd64 || arm64)

package ebpf_test

import (
	"context"
	"runtime"
	"testing"

	"github.com/overtake-stream/overtake/perf/ebpf"
	"github.com/overtake-stream/overtake/perf/probe"
)

func TestTrapsAtBothNoOpsAreMeasured(t *testing.T) {
	five, one, err := ebpf.TrapCosts(context.Background())
	if err != nil {
		t.Skipf("SKIPPED: %v", err)
	}
	if five < 50 || one < 50 || runtime.GOARCH != "amd64" {
		t.Errorf("%v ns at 5 bytes, %v ns at 1: that is no trap", five, one)
	}
	t.Logf("%.0f ns at 5 bytes, %.0f ns at 1", five, one)
	if probe.Attached() {
		t.Error("the gate has stayed open")
	}
}
