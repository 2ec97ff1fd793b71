package task_test

import (
	"encoding/hex"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/overtake-stream/overtake/internal/task"
)

// What is in checkpoints that were written before channels could be idle is read as it was.
func TestWatermarksOfOldCheckpoints(t *testing.T) {
	for name, c := range map[string]struct {
		hex  string
		want []task.Mark
	}{
		"before there were idle channels": {
			"14" + "e803000000000000" + "02000000" + "61203e2062202330" + "14" + "0000000000000080" + "00000000" + "61203e2062202330",
			[]task.Mark{{Edge: "a > b #0", From: 2, Time: 1000}, {Edge: "a > b #0", Time: -1 << 63}},
		},
		"since": {
			"14" + "e803000000000000" + "02000080" + "61203e2062202330" + "0c" + "d007000000000000" + "00000000",
			[]task.Mark{{Edge: "a > b #0", From: 2, Time: 1000, Idle: true}, {Time: 2000}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			b, err := hex.DecodeString(c.hex)
			if err != nil {
				t.Fatal(err)
			}
			got, err := task.ParseMarks(b)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
	if _, err := task.ParseMarks([]byte{1, 2}); err == nil {
		t.Error("damage is not noticed")
	}
}
