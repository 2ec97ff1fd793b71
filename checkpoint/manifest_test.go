package checkpoint_test

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"reflect"
	"runtime"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/overtake-stream/overtake/checkpoint"
	"github.com/overtake-stream/overtake/checkpoint/storetest"
)

// sample is a manifest that uses every field, and its file.
func sample(t testing.TB) (*checkpoint.Manifest, []byte) {
	t.Helper()
	ref := checkpoint.BlobRef{Name: storetest.Name(5, 2), Size: 1 << 40, Stored: 1<<40 + 5, Sum: 1<<63 + 7, Compressed: true}
	other := checkpoint.BlobRef{Name: checkpoint.BlobName{Epoch: 1<<64 - 1, Checkpoint: 1<<64 - 1, Subtask: 1<<32 - 1, Seq: 1<<32 - 1}, Stored: 1}
	m := storetest.Manifest(1<<64-1, []checkpoint.BlobRef{ref, other}, nil, []checkpoint.BlobRef{ref})
	m.Kind, m.Epoch = checkpoint.Savepoint, 1<<64-1
	m.Triggered = -1
	m.Operators[0].Subtasks[0].Parts[0].Inline = bytes.Repeat([]byte("inline"), 50)
	data, err := checkpoint.EncodeManifest(m)
	if err != nil {
		t.Fatal(err)
	}
	return m, data
}

func TestManifestRoundTrip(t *testing.T) {
	m, data := sample(t)
	got, err := checkpoint.DecodeManifest("file", data)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(m, got); diff != "" {
		t.Error(diff)
	}
	empty := &checkpoint.Manifest{ID: 1}
	if data, err = checkpoint.EncodeManifest(empty); err != nil {
		t.Fatal(err)
	}
	if got, err = checkpoint.DecodeManifest("file", data); err != nil || got.Operators != nil {
		t.Errorf("an empty manifest becomes %+v, %v", got, err)
	}
}

// refused fails unless an error says that a file is damaged, or by chance newer.
func refused(t *testing.T, what string, at int, err error) {
	t.Helper()
	var corrupt *checkpoint.CorruptError
	if !errors.As(err, &corrupt) || corrupt.File != "file" || corrupt.Offset < 0 {
		t.Errorf("%s at %d: %v", what, at, err)
	}
}

func TestManifestDamage(t *testing.T) {
	_, data := sample(t)
	for n := range data {
		_, err := checkpoint.DecodeManifest("file", data[:n])
		refused(t, "truncation", n, err)
		for bit := range 8 {
			bad := bytes.Clone(data)
			bad[n] ^= 1 << bit
			_, err := checkpoint.DecodeManifest("file", bad)
			refused(t, "flip", n*8+bit, err)
		}
	}
	_, err := checkpoint.DecodeManifest("file", append(bytes.Clone(data), 0))
	refused(t, "a byte too many", len(data), err)
	_, err = checkpoint.DecodeManifest("file", checkpoint.Seal(append(bytes.Clone(data), 0)))
	refused(t, "a byte too many under the checksum", len(data), err)
	t.Logf("%d truncations and %d flips of %d bytes", len(data), 8*len(data), len(data))
}

// TestManifestBehindTheChecksum damages the body and corrects the checksums, as a bug
// or an attacker would.
func TestManifestBehindTheChecksum(t *testing.T) {
	_, data := sample(t)
	for seed := range uint64(20_000) {
		rng := rand.New(rand.NewPCG(seed, 3))
		bad := bytes.Clone(data)
		for range 1 + rng.IntN(4) {
			bad[28+rng.IntN(len(bad)-28)] = byte(rng.Uint32())
		}
		if rng.IntN(4) == 0 {
			bad = bad[:28+rng.IntN(len(bad)-28)]
		}
		checkDecoded(t, checkpoint.Seal(bad))
	}
}

// checkDecoded decodes and, if that succeeds, expects the same again from what it
// encodes to. Nothing else than the typed errors may come of it.
func checkDecoded(t *testing.T, data []byte) {
	t.Helper()
	m, err := checkpoint.DecodeManifest("file", data)
	var corrupt *checkpoint.CorruptError
	var version *checkpoint.VersionError
	if err != nil {
		if !errors.As(err, &corrupt) && !errors.As(err, &version) {
			t.Fatalf("an error of another type: %v", err)
		}
		return
	}
	again, err := checkpoint.EncodeManifest(m)
	if err != nil {
		t.Fatalf("what was read cannot be written: %v", err)
	}
	m2, err := checkpoint.DecodeManifest("file", again)
	if err != nil || !reflect.DeepEqual(m, m2) {
		t.Fatalf("written and read again it is another: %v", err)
	}
}

func FuzzManifest(f *testing.F) {
	_, data := sample(f)
	f.Add(data)
	f.Add(data[:30])
	f.Fuzz(func(t *testing.T, data []byte) {
		checkDecoded(t, data)
		if len(data) >= 28 {
			checkDecoded(t, checkpoint.Seal(bytes.Clone(data)))
		}
	})
}

// TestManifestMemory gives numbers that promise much and files that hold little.
func TestManifestMemory(t *testing.T) {
	_, data := sample(t)
	large := append(bytes.Clone(data[:28]), bytes.Repeat([]byte{0xff, 0xff, 0xff, 0x7f}, 1000)...)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for at := 28; at < 28+400; at++ {
		bad := bytes.Clone(data)
		copy(bad[at:], large[28:28+min(8, len(bad)-at)])
		_, _ = checkpoint.DecodeManifest("file", checkpoint.Seal(bad))
	}
	runtime.ReadMemStats(&after)
	if got := after.TotalAlloc - before.TotalAlloc; got > 40<<20 {
		t.Errorf("400 damaged manifests of %d bytes took %d bytes", len(data), got)
	}
}

func TestManifestNewerVersion(t *testing.T) {
	_, data := sample(t)
	data[8]++
	_, err := checkpoint.DecodeManifest("file", checkpoint.Seal(data))
	var version *checkpoint.VersionError
	if !errors.As(err, &version) || version.Found != 2 || version.Known != 1 || version.File != "file" {
		t.Error(err)
	}
}

func TestNames(t *testing.T) {
	n := checkpoint.BlobName{Epoch: 3, Checkpoint: 17, Subtask: 2, Seq: 1<<32 - 1}
	if got, ok := checkpoint.ParseBlobName(n.String()); !ok || got != n {
		t.Errorf("%v becomes %v, %t", n, got, ok)
	}
	for _, s := range []string{
		"", "e3-c17-s2", "e3-c17-s2-0-0", "e03-c17-s2-0", "e+3-c17-s2-0", "e3-c17-s2-4294967296", "../e3-c17-s2-0",
		"e3-c17-s2-0/", "E3-c17-s2-0", "e3-c17-s2- 0", "e-3-c17-s2-0", "e3-c17-s2-00", "e18446744073709551616-c1-s1-0",
	} {
		if n, ok := checkpoint.ParseBlobName(s); ok {
			t.Errorf("%q is taken for %v", s, n)
		}
	}
	for _, s := range []string{"", "c1", "c01.manifest", "1.manifest", "c-1.manifest", "cc1.manifest", "c1.manifest.tmp", "../c1.manifest"} {
		if id, ok := checkpoint.ParseManifestName(s); ok {
			t.Errorf("%q is taken for %d", s, id)
		}
	}
}
