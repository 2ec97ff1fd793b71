package checkpoint_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"go.uber.org/goleak"

	"github.com/overtake-stream/overtake/checkpoint"
	"github.com/overtake-stream/overtake/checkpoint/storetest"
)

func TestMain(m *testing.M) {
	if dir := os.Getenv("OVERTAKE_TEST_OPEN"); dir != "" { // the other process of TestDirOwned
		_, err := checkpoint.OpenDir(dir, checkpoint.Options{})
		if errors.Is(err, checkpoint.ErrOwned) {
			os.Exit(10)
		}
		fmt.Fprintln(os.Stderr, err)
		os.Exit(11)
	}
	goleak.VerifyTestMain(m)
}

func TestDirOwned(t *testing.T) {
	dir := t.TempDir() + "/store"
	s := mustOpen(t, dir, checkpoint.Options{})
	other := exec.Command(os.Args[0])
	other.Env = append(os.Environ(), "OVERTAKE_TEST_OPEN="+dir)
	out, err := other.CombinedOutput()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != 10 {
		t.Errorf("another process opens the store: %v: %s", err, out)
	}
	if err := os.Symlink(dir, dir+"2"); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{dir, dir + "/../store", dir + "2"} {
		if _, err := checkpoint.OpenDir(name, checkpoint.Options{}); !errors.Is(err, checkpoint.ErrOwned) {
			t.Errorf("this process opens it again as %s: %v", name, err)
		}
	}
	// That has not taken the lock away.
	other = exec.Command(os.Args[0])
	other.Env = append(os.Environ(), "OVERTAKE_TEST_OPEN="+dir)
	if err := other.Run(); !errors.As(err, &exit) || exit.ExitCode() != 10 {
		t.Errorf("another process opens the store after all: %v", err)
	}
	mustBlobs(t, dir, checkpoint.Options{})
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if err := mustOpen(t, dir, checkpoint.Options{}).Close(); err != nil {
		t.Fatal(err)
	}
}

func TestDirModes(t *testing.T) {
	dir := t.TempDir() + "/store"
	s := mustOpen(t, dir, checkpoint.Options{})
	storetest.MustPublish(t, s, storetest.Manifest(1, []checkpoint.BlobRef{storetest.MustWrite(t, s, storetest.Name(1, 0), 10)}))
	if err := checkpoint.Export(t.Context(), s, 1, dir+"/savepoint", checkpoint.Options{}); err != nil {
		t.Fatal(err)
	}
	n := 0
	err := filepath.Walk(dir, func(path string, info os.FileInfo, err error) error {
		n++
		if err == nil && info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s has mode %v", path, info.Mode())
		}
		return err
	})
	if err != nil || n < 10 {
		t.Errorf("%d files, %v", n, err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

// filled is a store in memory with checkpoints 1, 2 and 3, of which the later two share
// a blob. It is closed.
func filled(t *testing.T) *vfs.MemFS {
	disk := vfs.NewMem()
	s := mustOpen(t, crashDir, checkpoint.Options{FS: disk})
	shared := storetest.MustWrite(t, s, storetest.Name(2, 0), 1000)
	storetest.MustPublish(t, s, storetest.Manifest(1, []checkpoint.BlobRef{storetest.MustWrite(t, s, storetest.Name(1, 0), 1000)}))
	storetest.MustPublish(t, s, storetest.Manifest(2, []checkpoint.BlobRef{shared}))
	storetest.MustPublish(t, s, storetest.Manifest(3, []checkpoint.BlobRef{shared, storetest.MustWrite(t, s, storetest.Name(3, 0), 10)}))
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	return disk
}

// edit changes a file.
func edit(t *testing.T, fs vfs.FS, path string, change func([]byte) []byte) {
	t.Helper()
	f, err := fs.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	info, err := f.Stat()
	if err != nil {
		t.Fatal(err)
	}
	data := make([]byte, info.Size())
	if _, err := f.ReadAt(data, 0); err != nil && info.Size() > 0 {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if f, err = fs.Create(path, vfs.WriteCategoryUnspecified); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Write(change(data)); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

func blobFiles(t *testing.T, fs vfs.FS) []string {
	t.Helper()
	files, err := fs.List(crashDir + "/blobs")
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(files)
	return files
}

func noneKept(checkpoint.BlobName) bool { return false }

// whole fails unless checkpoints 1 to 3 are there, with the right owners.
func whole(t *testing.T, what string, fs vfs.FS) {
	t.Helper()
	s := mustOpen(t, crashDir, checkpoint.Options{FS: fs})
	for id := checkpoint.ID(1); id <= 3; id++ {
		if err := s.Verify(t.Context(), id); err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
	owners, err := checkpoint.Owners(s)
	if err != nil || len(owners) != 3 || len(owners[storetest.Name(2, 0)]) != 2 {
		t.Errorf("%s: owners %v, %v", what, owners, err)
	}
	if n, err := s.Sweep(t.Context(), noneKept); n != 0 || err != nil {
		t.Errorf("%s: Sweep = %d, %v", what, n, err)
	}
	if err := s.Close(); err != nil {
		t.Errorf("%s: %v", what, err)
	}
}

// TestDirCatalogue removes and damages the catalogue's files: it is made again.
func TestDirCatalogue(t *testing.T) {
	disk := filled(t)
	whole(t, "untouched", disk)
	if err := disk.RemoveAll(crashDir + "/catalogue"); err != nil {
		t.Fatal(err)
	}
	whole(t, "no catalogue", disk)
	files, err := filled(t).List(crashDir + "/catalogue")
	if err != nil || len(files) < 3 {
		t.Fatalf("catalogue has %q, %v", files, err)
	}
	for _, file := range files {
		for what, change := range map[string]func([]byte) []byte{
			"emptied": func([]byte) []byte { return nil },
			"halved":  func(b []byte) []byte { return b[:len(b)/2] },
			"flipped": func(b []byte) []byte {
				if len(b) > 0 {
					b[len(b)/2] ^= 0x10
				}
				return b
			},
			"overwritten": func(b []byte) []byte { return []byte(strings.Repeat("x", len(b))) },
		} {
			disk := filled(t)
			edit(t, disk, crashDir+"/catalogue/"+file, change)
			whole(t, file+" "+what, disk)
			if disk = filled(t); disk.Remove(crashDir+"/catalogue/"+file) == nil {
				whole(t, file+" removed", disk)
			}
		}
	}
}

func TestDirDamagedManifest(t *testing.T) {
	for what, change := range map[string]func([]byte) []byte{
		"flipped":   func(b []byte) []byte { b[50] ^= 1; return b },
		"truncated": func(b []byte) []byte { return b[:60] },
		"empty":     func([]byte) []byte { return nil },
		"newer":     func(b []byte) []byte { b[8]++; return checkpoint.Seal(b) },
	} {
		for _, catalogue := range []bool{true, false} {
			disk := filled(t)
			edit(t, disk, crashDir+"/manifests/c3.manifest", change)
			if !catalogue {
				if err := disk.RemoveAll(crashDir + "/catalogue"); err != nil {
					t.Fatal(err)
				}
			}
			s := mustOpen(t, crashDir, checkpoint.Options{FS: disk})
			fallBack(t, what, s, catalogue)
			// Dropping 2 leaves what 3 may refer to, until 3 is dropped.
			if err := s.Drop(t.Context(), 2); err != nil {
				t.Fatal(err)
			}
			if n, err := s.Sweep(t.Context(), noneKept); n != 0 || err != nil || len(blobFiles(t, disk)) != 3 {
				t.Errorf("%s: Sweep = %d, %v, left %q", what, n, err, blobFiles(t, disk))
			}
			if err := s.Drop(t.Context(), 3); err != nil {
				t.Fatal(err)
			}
			if _, err := s.Sweep(t.Context(), noneKept); err != nil || !slices.Equal(blobFiles(t, disk), []string{"e3-c1-s7-0.blob"}) {
				t.Errorf("%s: after dropping it, %v, left %q", what, err, blobFiles(t, disk))
			}
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// fallBack expects 3 to be named as damaged, and 2 to be the latest.
func fallBack(t *testing.T, what string, s checkpoint.Store, known bool) {
	t.Helper()
	m, skipped, err := s.Latest(t.Context())
	if err != nil || m.ID != 2 || len(skipped) != 1 || !strings.Contains(skipped[0].Error(), "c3.manifest") {
		t.Fatalf("%s: Latest = %v, %v, %v", what, m, skipped, err)
	}
	all, err := s.List(t.Context())
	if err != nil || len(all) != 3 || all[0].ID != 3 || all[0].Damaged == nil {
		t.Fatalf("%s: List = %+v, %v", what, all, err)
	}
	if known != (all[0].Blobs == 2 && all[0].Job == "orders") {
		t.Errorf("%s: of the damaged one it is known: %+v", what, all[0])
	}
	if err := s.Publish(t.Context(), storetest.Manifest(3)); !errors.Is(err, checkpoint.ErrExists) {
		t.Errorf("%s: publishing over a damaged one: %v", what, err)
	}
}

func TestDirBlobsGone(t *testing.T) {
	disk := filled(t)
	s := mustOpen(t, crashDir, checkpoint.Options{FS: disk})
	edit(t, disk, crashDir+"/blobs/e3-c3-s7-0.blob", func(b []byte) []byte { return b[:len(b)-1] })
	var missing *checkpoint.MissingError
	m, skipped, err := s.Latest(t.Context())
	if err != nil || m.ID != 2 || len(skipped) != 1 || !errors.As(skipped[0], &missing) || !strings.Contains(missing.File, "e3-c3-s7-0.blob") {
		t.Errorf("Latest = %v, %v, %v", m, skipped, err)
	}
	if err := disk.Remove(crashDir + "/blobs/e3-c2-s7-0.blob"); err != nil {
		t.Fatal(err)
	}
	m, skipped, err = s.Latest(t.Context())
	if err != nil || m.ID != 1 || len(skipped) != 2 {
		t.Errorf("Latest = %v, %v, %v", m, skipped, err)
	}
	edit(t, disk, crashDir+"/blobs/e3-c1-s7-0.blob", func(b []byte) []byte { b[100] ^= 1; return b })
	var corrupt *checkpoint.CorruptError
	if err := s.Verify(t.Context(), 1); !errors.As(err, &corrupt) || !strings.Contains(corrupt.File, "e3-c1-s7-0.blob") {
		t.Errorf("Verify: %v", err)
	}
	if err := s.Drop(t.Context(), 2); err != nil {
		t.Errorf("dropping one whose blobs are gone: %v", err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestDirManifestGone removes a manifest behind the store's back: what it owned is let go.
func TestDirManifestGone(t *testing.T) {
	disk := filled(t)
	if err := disk.Remove(crashDir + "/manifests/c3.manifest"); err != nil {
		t.Fatal(err)
	}
	s := mustOpen(t, crashDir, checkpoint.Options{FS: disk})
	owners, err := checkpoint.Owners(s)
	if err != nil || len(owners) != 2 || len(owners[storetest.Name(2, 0)]) != 1 {
		t.Errorf("owners %v, %v", owners, err)
	}
	if n, err := s.Sweep(t.Context(), noneKept); n != 1 || err != nil {
		t.Errorf("Sweep = %d, %v, want 1", n, err)
	}
	if err := s.Drop(t.Context(), 3); !errors.Is(err, checkpoint.ErrNotFound) {
		t.Errorf("Drop: %v", err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestDirStrangers has files that are not the store's, which it leaves alone, and
// temporary files of a process that died, which it sweeps.
func TestDirStrangers(t *testing.T) {
	disk := filled(t)
	strangers := []string{"blobs/readme", "blobs/e1-c1-s1-1", "blobs/e01-c1-s1-1.blob", "manifests/c03.manifest", "manifests/notes"}
	for _, name := range append(strangers, "blobs/e3-c9-s7-0.blob.abc-1.tmp", "manifests/c9.manifest.abc-2.tmp") {
		f, err := disk.Create(crashDir+"/"+name, vfs.WriteCategoryUnspecified)
		if err != nil {
			t.Fatal(err)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
	}
	s := mustOpen(t, crashDir, checkpoint.Options{FS: disk})
	if n, err := s.Sweep(t.Context(), func(n checkpoint.BlobName) bool { return n.Checkpoint == 9 }); n != 0 || err != nil {
		t.Errorf("Sweep of what is being written = %d, %v", n, err)
	}
	if n, err := s.Sweep(t.Context(), noneKept); n != 1 || err != nil {
		t.Errorf("Sweep = %d, %v, want the temporary file", n, err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	for _, name := range strangers {
		if _, err := disk.Stat(crashDir + "/" + name); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := disk.Stat(crashDir + "/manifests/c9.manifest.abc-2.tmp"); err == nil {
		t.Error("a temporary file of a manifest is left")
	}
}

func TestOptions(t *testing.T) {
	for _, o := range []checkpoint.Options{{BlockSize: 1}, {BlockSize: checkpoint.MaxBlockSize + 1}, {BlockSize: -1}} {
		if _, err := checkpoint.OpenDir(t.TempDir(), o); err == nil || !strings.Contains(err.Error(), "BlockSize") {
			t.Errorf("block size %d: %v", o.BlockSize, err)
		}
	}
	file := t.TempDir() + "/file"
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	var failed *checkpoint.IOError
	if _, err := checkpoint.OpenDir(file, checkpoint.Options{}); !errors.As(err, &failed) || !strings.Contains(failed.File, "file") {
		t.Errorf("a file in place of the directory: %v", err)
	}
}
