package storetest

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"testing"

	"github.com/overtake-stream/overtake/checkpoint"
)

// Bytes returns n bytes that depend on the seed: half random, half of one value, so
// that compression does something.
func Bytes(seed uint64, n int) []byte {
	rng := rand.New(rand.NewPCG(seed, 1))
	b := make([]byte, n)
	for i := range b {
		if i&64 == 0 {
			b[i] = byte(rng.Uint32())
		}
	}
	return b
}

// Write writes a blob and returns its reference.
func Write(ctx context.Context, to checkpoint.Blobs, name checkpoint.BlobName, data []byte) (checkpoint.BlobRef, error) {
	w, err := to.Create(ctx, name)
	if err != nil {
		return checkpoint.BlobRef{}, err
	}
	defer w.Abort()
	for len(data) > 0 {
		n := min(len(data), 1000)
		if _, err := w.Write(data[:n]); err != nil {
			return checkpoint.BlobRef{}, err
		}
		data = data[n:]
	}
	return w.Commit()
}

// Read returns all bytes of a blob.
func Read(ctx context.Context, from checkpoint.Blobs, ref checkpoint.BlobRef) ([]byte, error) {
	r, err := from.Open(ctx, ref)
	if err != nil {
		return nil, err
	}
	data, err := io.ReadAll(r)
	if closed := r.Close(); err == nil {
		err = closed
	}
	return data, err
}

// Manifest returns a manifest of two operators that uses every field. Each subtask of
// the second operator has one of the chains.
func Manifest(id checkpoint.ID, chains ...[]checkpoint.BlobRef) *checkpoint.Manifest {
	m := &checkpoint.Manifest{
		Version: checkpoint.ManifestVersion, Job: "orders", ID: id, Epoch: 3, Mode: "unaligned",
		Triggered: 1_700_000_000_000_000_000 + int64(id), Completed: 1_700_000_000_100_000_000 + int64(id),
		MaxParallelism: 128,
		Operators: []checkpoint.Operator{{
			UID: "source", Name: "read orders", Parallelism: 2,
			Subtasks: []checkpoint.Subtask{
				{Index: 0, Parts: []checkpoint.Part{{Kind: checkpoint.Splits, State: "splits", Inline: []byte{1, 2, 3}}}},
				{Index: 1, Finished: true},
			},
		}, {UID: "count", Name: "count by customer", Parallelism: max(1, len(chains))}},
		Stats: checkpoint.Stats{Duration: 100e6, SyncPause: 1e6, Align: 2e6, FullBytes: 1000, NewBytes: 100},
	}
	for i, chain := range chains {
		m.Operators[1].Subtasks = append(m.Operators[1].Subtasks, checkpoint.Subtask{Index: i, Parts: []checkpoint.Part{{
			Kind: checkpoint.Keyed, State: "counts", Fingerprint: 0xfeed, FirstGroup: i, EndGroup: i + 1, Chain: chain,
		}}})
	}
	return m
}

// Name is the name of a checkpoint's blob.
func Name(id checkpoint.ID, seq int) checkpoint.BlobName {
	return checkpoint.BlobName{Epoch: 3, Checkpoint: id, Subtask: 7, Seq: uint32(seq)}
}

// MustWrite writes a blob of n bytes, seeded by its name.
func MustWrite(t testing.TB, to checkpoint.Blobs, name checkpoint.BlobName, n int) checkpoint.BlobRef {
	t.Helper()
	ref, err := Write(t.Context(), to, name, Bytes(Seed(name), n))
	if err != nil {
		t.Fatalf("writing blob %v: %v", name, err)
	}
	return ref
}

// MustRead fails unless the blob holds what MustWrite has written.
func MustRead(t testing.TB, from checkpoint.Blobs, ref checkpoint.BlobRef) {
	t.Helper()
	if err := Check(t.Context(), from, ref); err != nil {
		t.Fatal(err)
	}
}

// Check says whether a blob holds what MustWrite has written.
func Check(ctx context.Context, from checkpoint.Blobs, ref checkpoint.BlobRef) error {
	data, err := Read(ctx, from, ref)
	if err != nil {
		return fmt.Errorf("reading blob %v: %w", ref.Name, err)
	}
	if string(data) != string(Bytes(Seed(ref.Name), int(ref.Size))) {
		return fmt.Errorf("blob %v does not hold what was written", ref.Name)
	}
	return nil
}

// Seed is the seed of a blob's bytes.
func Seed(name checkpoint.BlobName) uint64 {
	return name.Epoch<<48 ^ uint64(name.Checkpoint)<<24 ^ uint64(name.Subtask)<<12 ^ uint64(name.Seq)
}

// MustPublish publishes a manifest.
func MustPublish(t testing.TB, s checkpoint.Store, m *checkpoint.Manifest) {
	t.Helper()
	if err := s.Publish(t.Context(), m); err != nil {
		t.Fatalf("publishing %d: %v", m.ID, err)
	}
}
