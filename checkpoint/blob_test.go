package checkpoint_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"math/rand/v2"
	"testing"
	"testing/iotest"

	"github.com/klauspost/compress/zstd"

	"github.com/overtake-stream/overtake/checkpoint"
	"github.com/overtake-stream/overtake/checkpoint/storetest"
)

// encode returns a codec, and the file of a blob with its reference.
func encode(t testing.TB, o checkpoint.Options, data []byte) (*checkpoint.Codec, []byte, checkpoint.BlobRef) {
	t.Helper()
	codec, err := checkpoint.NewCodec(o)
	if err != nil {
		t.Fatal(err)
	}
	var file bytes.Buffer
	w := codec.Writer(&file, storetest.Name(1, 0))
	if _, err := w.Write(data); err != nil {
		t.Fatal(err)
	}
	ref, err := w.Finish()
	if err != nil {
		t.Fatal(err)
	}
	if ref.Stored != int64(file.Len()) || ref.Size != int64(len(data)) {
		t.Fatalf("reference %+v to %d bytes in %d", ref, len(data), file.Len())
	}
	return codec, file.Bytes(), ref
}

func TestBlobRoundTrip(t *testing.T) {
	for _, compress := range []bool{false, true} {
		for _, size := range []int{0, 1, 511, 512, 513, 1024, 10_000} {
			data := storetest.Bytes(uint64(size), size)
			codec, file, ref := encode(t, checkpoint.Options{Compress: compress, BlockSize: 512}, data)
			if err := iotest.TestReader(codec.Reader(bytes.NewReader(file), ref, "file"), data); err != nil {
				t.Errorf("%d bytes, compressed %t: %v", size, compress, err)
			}
			got, err := io.ReadAll(codec.Reader(iotest.OneByteReader(bytes.NewReader(file)), ref, "file"))
			if err != nil || !bytes.Equal(got, data) {
				t.Errorf("%d bytes, one by one: %v", size, err)
			}
			if compress && size > 1000 && len(file) >= size {
				t.Errorf("%d bytes are compressed to %d", size, len(file))
			}
		}
	}
}

// readPrefix reads a file and fails if it returns anything but a beginning of data.
func readPrefix(t *testing.T, codec *checkpoint.Codec, file []byte, ref checkpoint.BlobRef, data []byte) error {
	t.Helper()
	got, err := io.ReadAll(codec.Reader(bytes.NewReader(file), ref, "file"))
	if !bytes.HasPrefix(data, got) {
		t.Errorf("a damaged file returns bytes that were not written")
	}
	return err
}

func TestBlobDamage(t *testing.T) {
	for _, compress := range []bool{false, true} {
		data := storetest.Bytes(1, 1300)
		codec, file, ref := encode(t, checkpoint.Options{Compress: compress, BlockSize: 512}, data)
		for n := range file {
			refused(t, "truncation", n, readPrefix(t, codec, file[:n], ref, data))
			for bit := range 8 {
				bad := bytes.Clone(file)
				bad[n] ^= 1 << bit
				refused(t, "flip", n*8+bit, readPrefix(t, codec, bad, ref, data))
			}
		}
		refused(t, "a byte too many", len(file), readPrefix(t, codec, append(bytes.Clone(file), 0), ref, data))
	}
}

// TestBlobBlocksInPlace moves whole blocks, whose own bytes stay right.
func TestBlobBlocksInPlace(t *testing.T) {
	data := storetest.Bytes(1, 3*512)
	codec, file, ref := encode(t, checkpoint.Options{BlockSize: 512}, data)
	const head, block = 48, 12 + 512
	a, b := file[head:head+block], file[head+block:head+2*block]
	swapped := bytes.Join([][]byte{file[:head], b, a, file[head+2*block:]}, nil)
	refused(t, "swapped blocks", 0, readPrefix(t, codec, swapped, ref, data))
	without := bytes.Join([][]byte{file[:head], a, file[head+2*block:]}, nil)
	refused(t, "a block less", 0, readPrefix(t, codec, without, ref, data))
	theirs := storetest.Bytes(2, 3*512)
	_, other, _ := encode(t, checkpoint.Options{BlockSize: 512}, theirs)
	refused(t, "another blob's bytes", 0, readPrefix(t, codec, other, ref, theirs))
	foreign := ref
	foreign.Name.Seq++
	refused(t, "another name", 0, readPrefix(t, codec, file, foreign, data))
}

// TestBlobBomb has blocks that decompress to more than they declare.
func TestBlobBomb(t *testing.T) {
	enc, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	bomb := enc.EncodeAll(make([]byte, 64<<20), nil)
	data := bytes.Repeat([]byte("a"), checkpoint.MaxBlockSize)
	codec, file, ref := encode(t, checkpoint.Options{Compress: true, BlockSize: checkpoint.MaxBlockSize}, data)
	bad := append(bytes.Clone(file[:60]), bomb...)
	binary.LittleEndian.PutUint32(bad[52:], uint32(len(bomb)))
	allocated := testing.AllocsPerRun(1, func() {
		refused(t, "a bomb", 0, readPrefix(t, codec, checkpoint.SealBlock(bytes.Clone(bad), len(bomb)), ref, data))
	})
	t.Logf("a bomb of %d bytes: %v allocations", len(bomb), allocated)
	for seed := range uint64(200) { // blocks whose checksum is right, and which are not zstd
		rng := rand.New(rand.NewPCG(seed, 4))
		bad := bytes.Clone(file)
		n := int(binary.LittleEndian.Uint32(file[52:]))
		for range 1 + rng.IntN(3) {
			bad[60+rng.IntN(n)] = byte(rng.Uint32())
		}
		_, err := io.Copy(io.Discard, codec.Reader(bytes.NewReader(checkpoint.SealBlock(bad, n)), ref, "file"))
		var corrupt *checkpoint.CorruptError
		if err != nil && !errors.As(err, &corrupt) {
			t.Fatalf("seed %d: %v", seed, err)
		}
	}
}

func FuzzBlob(f *testing.F) {
	data := storetest.Bytes(1, 1300)
	codec, file, ref := encode(f, checkpoint.Options{Compress: true, BlockSize: 512}, data)
	f.Add(file)
	_, plain, _ := encode(f, checkpoint.Options{BlockSize: 512}, data)
	f.Add(plain)
	f.Fuzz(func(t *testing.T, file []byte) {
		got, err := io.ReadAll(codec.Reader(bytes.NewReader(file), ref, "file"))
		var corrupt *checkpoint.CorruptError
		var version *checkpoint.VersionError
		switch {
		case err == nil && !bytes.Equal(got, data):
			t.Fatal("another blob is taken for this one")
		case err != nil && !errors.As(err, &corrupt) && !errors.As(err, &version):
			t.Fatalf("an error of another type: %v", err)
		}
	})
}

// failingReader fails in the middle, as a disk or a connection does.
type failingReader struct{ err error }

func (f failingReader) Read([]byte) (int, error) { return 0, f.err }

func TestBlobReadFails(t *testing.T) {
	codec, file, ref := encode(t, checkpoint.Options{BlockSize: 512}, storetest.Bytes(1, 1300))
	for n := range file {
		broken := errors.New("the disk is broken")
		_, err := io.ReadAll(codec.Reader(io.MultiReader(bytes.NewReader(file[:n]), failingReader{broken}), ref, "file"))
		var failed *checkpoint.IOError
		if !errors.As(err, &failed) || !errors.Is(err, broken) || failed.File != "file" {
			t.Fatalf("failing at %d: %v", n, err)
		}
	}
}

// A store in memory uses the memory of blobs again, but not of those that somebody reads.
func TestMemoryOfBlobsIsUsedAgain(t *testing.T) {
	s := checkpoint.NewMemory()
	ctx := context.Background()
	write := func(id checkpoint.ID, fill byte) checkpoint.BlobRef {
		t.Helper()
		w, err := s.Create(ctx, checkpoint.BlobName{Epoch: 1, Checkpoint: id})
		if err != nil {
			t.Fatal(err)
		}
		w.(checkpoint.Grower).Grow(5000)
		if _, err := w.Write(bytes.Repeat([]byte{fill}, 5000)); err != nil {
			t.Fatal(err)
		}
		ref, err := w.Commit()
		if err != nil {
			t.Fatal(err)
		}
		return ref
	}
	read := func(r io.Reader, fill byte) {
		t.Helper()
		if got, err := io.ReadAll(r); err != nil || !bytes.Equal(got, bytes.Repeat([]byte{fill}, 5000)) {
			t.Errorf("a blob of %d has become %x … (%v)", fill, got[:min(4, len(got))], err)
		}
	}
	r, err := s.Open(ctx, write(1, 1))
	if err != nil {
		t.Fatal(err)
	}
	for id := checkpoint.ID(2); id < 12; id++ {
		if _, err := s.Sweep(ctx, func(checkpoint.BlobName) bool { return false }); err != nil {
			t.Fatal(err)
		}
		a, b := write(id, byte(id)), write(id+100, byte(id+100))
		if id == 11 {
			for _, ref := range []checkpoint.BlobRef{a, b} {
				again, err := s.Open(ctx, ref)
				if err != nil {
					t.Fatal(err)
				}
				read(again, byte(ref.Name.Checkpoint))
			}
		}
	}
	read(r, 1)
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}
