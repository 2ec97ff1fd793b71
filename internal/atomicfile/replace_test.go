package atomicfile_test

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/overtake-stream/overtake/internal/atomicfile"
)

func want(t *testing.T, path, text string) {
	t.Helper()
	if b, err := os.ReadFile(path); err != nil || string(b) != text {
		t.Errorf("%s: %q, %v, want %q", path, b, err, text)
	}
}

func TestFilesAreReplacedAsAWhole(t *testing.T) {
	dir := t.TempDir()
	path, link := filepath.Join(dir, "x"), filepath.Join(dir, "link")
	if err := atomicfile.ReplaceText(path, 0o600, "old"); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(path, link); err != nil {
		t.Fatal(err)
	}
	boom := errors.New("boom")
	err := atomicfile.Replace(link, 0o600, func(w io.Writer) error {
		_, _ = w.Write(make([]byte, 1<<20)) // more than a buffer
		want(t, path, "old")
		return boom
	})
	if !errors.Is(err, boom) {
		t.Errorf("error %v", err)
	}
	want(t, path, "old")
	if err := atomicfile.ReplaceText(link, 0o600, []byte("new")); err != nil {
		t.Error(err)
	}
	want(t, path, "new")
	if info, err := os.Lstat(link); err != nil || info.Mode().IsRegular() {
		t.Errorf("the link has become a file: %v, %v", info, err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	if left, _ := os.ReadDir(dir); len(left) != 2 {
		t.Errorf("left behind: %v", left)
	}
}

func TestWhatIsNoRegularFileIsWrittenTo(t *testing.T) {
	if err := atomicfile.ReplaceText(os.DevNull, 0o600, "x"); err != nil {
		t.Error(err)
	}
	if info, err := os.Stat(os.DevNull); err != nil || info.Mode().IsRegular() {
		t.Errorf("%v, %v", info, err)
	}
	if err := atomicfile.ReplaceText(filepath.Join(t.TempDir(), "missing", "x"), 0o600, "x"); err == nil {
		t.Error("no error for a folder that is missing")
	}
}
