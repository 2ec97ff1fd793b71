package checkpoint_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/overtake-stream/overtake/checkpoint"
)

// A process that dies while it claims an epoch leaves a temporary file.
func TestOpeningRemovesWhatAClaimHasLeft(t *testing.T) {
	dir := t.TempDir()
	left := filepath.Join(dir, "EPOCH.1f-1.tmp")
	if err := os.WriteFile(left, []byte("7"), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := checkpoint.OpenDir(dir, checkpoint.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := os.Stat(left); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%s is still there: %v", left, err)
	}
	if epoch, err := checkpoint.Claim(context.Background(), s, 0); err != nil || epoch != 1 {
		t.Errorf("epoch %d, %v, want 1: what was not claimed does not count", epoch, err)
	}
}
