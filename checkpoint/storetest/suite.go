package storetest

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/overtake-stream/overtake/checkpoint"
)

// Factory returns a new, empty store and a second view of it, as a worker in another
// process would have. Run closes the store.
type Factory func(t *testing.T) (checkpoint.Store, checkpoint.Blobs)

// Run tests that a store does what its interface says.
func Run(t *testing.T, factory Factory) {
	tests := []struct {
		name string
		run  func(*testing.T, checkpoint.Store, checkpoint.Blobs)
	}{
		{"empty", testEmpty},
		{"blobs of all sizes", testSizes},
		{"names are used once", testNames},
		{"abort leaves nothing", testAbort},
		{"a worker's view", testWorker},
		{"publish and read back", testPublish},
		{"invalid manifests", testInvalid},
		{"missing blobs", testMissing},
		{"wrong references", testWrongReference},
		{"newest first", testOrder},
		{"shared blobs", testShared},
		{"sweep", testSweep},
		{"cancelled", testCancelled},
		{"concurrent writers", testConcurrent},
		{"export", testExport},
		{"closed", testClosed},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s, w := factory(t)
			test.run(t, s, w)
			if err := s.Close(); err != nil && !errors.Is(err, checkpoint.ErrClosed) {
				t.Errorf("Close: %v", err)
			}
		})
	}
}

func wantError(t *testing.T, what string, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Errorf("%s: %v, want %v", what, err, want)
	}
}

func testEmpty(t *testing.T, s checkpoint.Store, w checkpoint.Blobs) {
	m, skipped, err := s.Latest(t.Context())
	wantError(t, "Latest", err, checkpoint.ErrNotFound)
	if m != nil || len(skipped) != 0 {
		t.Errorf("Latest = %v, %v", m, skipped)
	}
	if all, err := s.List(t.Context()); err != nil || len(all) != 0 {
		t.Errorf("List = %v, %v", all, err)
	}
	_, err = s.Manifest(t.Context(), 1)
	wantError(t, "Manifest", err, checkpoint.ErrNotFound)
	_, err = w.Manifest(t.Context(), 1)
	wantError(t, "a worker's Manifest", err, checkpoint.ErrNotFound)
	wantError(t, "Drop", s.Drop(t.Context(), 1), checkpoint.ErrNotFound)
	wantError(t, "Verify", s.Verify(t.Context(), 1), checkpoint.ErrNotFound)
	_, err = s.Open(t.Context(), checkpoint.BlobRef{Name: Name(1, 0), Size: 1, Stored: 1})
	wantError(t, "Open", err, checkpoint.ErrNotFound)
}

func testSizes(t *testing.T, s checkpoint.Store, _ checkpoint.Blobs) {
	var refs []checkpoint.BlobRef
	for i, size := range []int{0, 1, 63, 4096, 65535, 65536, 65537, 200_000} {
		ref := MustWrite(t, s, Name(1, i), size)
		if ref.Size != int64(size) || ref.Name != Name(1, i) {
			t.Errorf("reference %+v to a blob of %d bytes", ref, size)
		}
		refs = append(refs, ref)
	}
	MustPublish(t, s, Manifest(1, refs))
	for _, ref := range refs {
		MustRead(t, s, ref)
	}
	if err := s.Verify(t.Context(), 1); err != nil {
		t.Errorf("Verify: %v", err)
	}
}

func testNames(t *testing.T, s checkpoint.Store, w checkpoint.Blobs) {
	first, err := s.Create(t.Context(), Name(1, 0))
	if err != nil {
		t.Fatal(err)
	}
	second, err := w.Create(t.Context(), Name(1, 0))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := first.Write(Bytes(Seed(Name(1, 0)), 10)); err != nil {
		t.Fatal(err)
	}
	ref, err := first.Commit()
	if err != nil {
		t.Fatal(err)
	}
	_, err = second.Commit()
	wantError(t, "the second Commit of a name", err, checkpoint.ErrExists)
	second.Abort()
	if _, err := Write(t.Context(), s, Name(1, 0), []byte("other")); !errors.Is(err, checkpoint.ErrExists) {
		t.Errorf("writing a name that is taken: %v", err)
	}
	MustRead(t, s, ref)
	MustPublish(t, s, Manifest(1, []checkpoint.BlobRef{ref}))
	wantError(t, "publishing an ID again", s.Publish(t.Context(), Manifest(1)), checkpoint.ErrExists)
	m, err := s.Manifest(t.Context(), 1)
	if err != nil || len(m.BlobSet()) != 1 {
		t.Errorf("the first manifest is now %+v, %v", m, err)
	}
}

func testAbort(t *testing.T, s checkpoint.Store, _ checkpoint.Blobs) {
	w, err := s.Create(t.Context(), Name(1, 0))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write(Bytes(1, 100_000)); err != nil {
		t.Fatal(err)
	}
	w.Abort()
	w.Abort()
	if _, err := w.Commit(); err == nil {
		t.Error("Commit after Abort succeeded")
	}
	_, err = s.Open(t.Context(), checkpoint.BlobRef{Name: Name(1, 0), Size: 100_000, Stored: 100_000})
	wantError(t, "Open", err, checkpoint.ErrNotFound)
	if n, err := s.Sweep(t.Context(), func(checkpoint.BlobName) bool { return false }); n != 0 || err != nil {
		t.Errorf("Sweep found %d, %v", n, err)
	}
	ref := MustWrite(t, s, Name(1, 0), 10) // the name is free
	MustRead(t, s, ref)
}

func testWorker(t *testing.T, s checkpoint.Store, w checkpoint.Blobs) {
	ref := MustWrite(t, w, Name(1, 0), 70_000)
	MustRead(t, w, ref)
	MustRead(t, s, ref)
	want := Manifest(1, []checkpoint.BlobRef{ref})
	MustPublish(t, s, want)
	got, err := w.Manifest(t.Context(), 1)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
