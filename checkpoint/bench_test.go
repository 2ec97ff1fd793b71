package checkpoint_test

import (
	"fmt"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/overtake-stream/overtake/checkpoint"
	"github.com/overtake-stream/overtake/checkpoint/storetest"
)

// BenchmarkPublish takes checkpoints of 64 subtasks whose blobs are there: the
// manifest and the catalogue. "dropped" drops the one before, too.
func BenchmarkPublish(b *testing.B) {
	for name, o := range map[string]checkpoint.Options{"sync": {}, "no sync": {NoSync: true}, "memory": {FS: vfs.NewMem()}} {
		for _, drop := range []bool{false, true} {
			b.Run(fmt.Sprintf("%s/dropped=%t", name, drop), func(b *testing.B) {
				s := mustOpen(b, b.TempDir(), o)
				defer s.Close()
				chains := make([][]checkpoint.BlobRef, 64)
				for i := range chains {
					chains[i] = []checkpoint.BlobRef{storetest.MustWrite(b, s, storetest.Name(1, i), 100)}
				}
				id := checkpoint.ID(0)
				for b.Loop() {
					id++
					storetest.MustPublish(b, s, storetest.Manifest(id, chains...))
					if drop && id > 1 {
						if err := s.Drop(b.Context(), id-1); err != nil {
							b.Fatal(err)
						}
					}
				}
			})
		}
	}
}

// BenchmarkBlob writes and reads blobs of 16 MiB.
func BenchmarkBlob(b *testing.B) {
	data := storetest.Bytes(1, 16<<20)
	for name, o := range map[string]checkpoint.Options{
		"sync": {}, "no sync": {NoSync: true}, "memory": {FS: vfs.NewMem()}, "no sync, zstd": {NoSync: true, Compress: true},
	} {
		b.Run("write/"+name, func(b *testing.B) {
			blobs := mustBlobs(b, b.TempDir(), o)
			b.SetBytes(int64(len(data)))
			for i := 0; b.Loop(); i++ {
				w, err := blobs.Create(b.Context(), storetest.Name(1, i))
				if err != nil {
					b.Fatal(err)
				}
				if _, err = w.Write(data); err == nil {
					_, err = w.Commit()
				}
				if err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run("read/"+name, func(b *testing.B) {
			s := mustOpen(b, b.TempDir(), o)
			defer s.Close()
			ref, err := storetest.Write(b.Context(), s, storetest.Name(1, 0), data)
			if err != nil {
				b.Fatal(err)
			}
			storetest.MustPublish(b, s, storetest.Manifest(1, []checkpoint.BlobRef{ref}))
			b.SetBytes(int64(len(data)))
			for b.Loop() {
				if err := s.Verify(b.Context(), 1); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkSmallBlob writes blobs of 1 KiB, as subtasks with little state do.
func BenchmarkSmallBlob(b *testing.B) {
	for name, o := range map[string]checkpoint.Options{"sync": {}, "no sync": {NoSync: true}} {
		b.Run(name, func(b *testing.B) {
			blobs := mustBlobs(b, b.TempDir(), o)
			data := storetest.Bytes(1, 1<<10)
			for i := 0; b.Loop(); i++ {
				if _, err := storetest.Write(b.Context(), blobs, storetest.Name(1, i), data); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkManifest(b *testing.B) {
	_, data := sample(b)
	m, err := checkpoint.DecodeManifest("file", data)
	if err != nil {
		b.Fatal(err)
	}
	b.Run("encode", func(b *testing.B) {
		b.SetBytes(int64(len(data)))
		for b.Loop() {
			if _, err := checkpoint.EncodeManifest(m); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("decode", func(b *testing.B) {
		b.SetBytes(int64(len(data)))
		for b.Loop() {
			if _, err := checkpoint.DecodeManifest("file", data); err != nil {
				b.Fatal(err)
			}
		}
	})
}
