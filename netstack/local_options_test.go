package netstack_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/overtake-stream/overtake/bufferpool"
	"github.com/overtake-stream/overtake/netstack"
	"github.com/overtake-stream/overtake/netstack/credit"
)

func TestOptionsReportAllProblemsAtOnce(t *testing.T) {
	tests := map[string]struct {
		err  error
		want []string
	}{
		"partition": {
			netstack.PartitionOptions{Name: "map[3]", Subpartitions: netstack.MaxChannels + 1, Exclusive: -1, MaxQueued: 1}.Validate(),
			[]string{`"map[3]"`, "65537 subpartitions", "exclusive -1", "Waker and Wait"},
		},
		"gate": {
			netstack.GateOptions{Name: "map[3]", Inputs: []int{1, 0}, Exclusive: credit.MaxWindow, Floating: 1}.Validate(),
			[]string{`"map[3]"`, "input 1 has 0 channels", "want 1 to 65536", "Waker is required"},
		},
		"gate without channels": {
			netstack.GateOptions{Floating: -1}.Validate(),
			[]string{"0 channels", "floating -1"},
		},
	}
	for name, test := range tests {
		for _, want := range test.want {
			if test.err == nil || !strings.Contains(test.err.Error(), want) {
				t.Errorf("%s: %v does not say %q", name, test.err, want)
			}
		}
	}
}

func TestPartitionThatDoesNotFitNamesTheMemory(t *testing.T) {
	a := newArena(t, 256, 4)
	_, err := netstack.NewPartition(a, netstack.PartitionOptions{Subpartitions: 4, Waker: &alarm{}, Wait: func() {}})
	var budget *bufferpool.BudgetError
	if !errors.As(err, &budget) || budget.Needed != 5 {
		t.Errorf("error %v, want a BudgetError for 5 buffers", err)
	}
	wantNothingHeld(t, a)
}
