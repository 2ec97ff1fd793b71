package invariant_test

import (
	"strings"
	"testing"

	"github.com/overtake-stream/overtake/internal/invariant"
)

func TestCheckPanicsWithTheMessage(t *testing.T) {
	defer func() {
		if r := recover(); r == nil || !strings.Contains(r.(string), "buffer 7") {
			t.Fatalf("recovered %v, want the formatted message", r)
		}
	}()
	invariant.Check(true, "never shown")
	invariant.Check(false, "buffer %d", 7)
}

func TestPoison(t *testing.T) {
	b := []byte("payload")
	invariant.Poison(b)
	if got := invariant.Poisoned(b); got != invariant.Enabled {
		t.Fatalf("Poisoned = %v, want %v", got, invariant.Enabled)
	}
}
