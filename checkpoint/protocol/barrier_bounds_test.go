package protocol_test

import (
	"testing"

	. "github.com/overtake-stream/overtake/checkpoint/protocol"
)

// TestBarriersRememberFew: aborts of checkpoints that never come do not pile up, and
// none that is remembered is forgotten wrongly.
func TestBarriersRememberFew(t *testing.T) {
	const aborts = 10 * MaxAborted
	m := NewBarriers(1, 0)
	for id := ID(1); id <= aborts; id++ {
		m.Abort(nil, id)
		if m.Remembered() > MaxAborted {
			t.Fatalf("%d are remembered after %d aborts", m.Remembered(), id)
		}
	}
	for id := ID(1); id <= aborts; id++ {
		got := m.Arrive(nil, 0, Barrier{ID: id}, false)
		if len(got) != 1 || got[0].Kind != Ignored {
			t.Fatalf("barrier %d after its abort: %v", id, got)
		}
	}
	got := m.Arrive(nil, 0, Barrier{ID: aborts + 1}, false)
	if len(got) != 2 || got[0].Kind != Start || got[1].Kind != Done {
		t.Fatalf("the next: %v", got)
	}
	if m.Remembered() != 0 {
		t.Fatalf("%d are remembered at the end", m.Remembered())
	}
}

// TestBarriersAbortWhileOpen: aborts push the floor up past a round that is open, which
// goes on.
func TestBarriersAbortWhileOpen(t *testing.T) {
	m := NewBarriers(2, 0)
	m.Arrive(nil, 0, Barrier{ID: 1, Mode: Unaligned}, true)
	for id := ID(2); id <= 3*MaxAborted; id++ {
		m.Abort(nil, id)
	}
	if !m.Knows(1) || m.Last() < 1 {
		t.Fatalf("round 1 is known: %v, last %d", m.Knows(1), m.Last())
	}
	got := m.Arrive(nil, 1, Barrier{ID: 1, Mode: Unaligned}, true)
	if len(got) != 2 || got[0].Kind != Captured || got[1].Kind != Done {
		t.Fatalf("its last barrier: %v", got)
	}
	if m.Open() != 0 {
		t.Fatalf("%d rounds are open", m.Open())
	}
}
