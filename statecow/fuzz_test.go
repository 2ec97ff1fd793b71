package statecow

import (
	"bytes"
	"errors"
	"hash/crc32"
	"io"
	"testing"
)

func written(t testing.TB) []byte {
	m, err := New(Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	for _, k := range []string{"", "a", "bb", "ccc"} {
		if err := m.Put(Hash([]byte(k)), []byte(k), bytes.Repeat([]byte(k), 9)); err != nil {
			t.Fatal(err)
		}
	}
	first, _ := m.Snapshot()
	defer first.Release()
	if _, err := m.Delete(Hash([]byte("a")), []byte("a")); err != nil {
		t.Fatal(err)
	}
	s, _ := m.Snapshot()
	defer s.Release()
	var b bytes.Buffer
	if _, err := s.Write(&b, first.Mark()); err != nil {
		t.Fatal(err)
	}
	b.Reset()
	if _, err := s.Write(&b, 0); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// FuzzRestore feeds damaged streams, and damaged payloads under right checksums.
func FuzzRestore(f *testing.F) {
	data := written(f)
	f.Add(data, byte(putBlock), uint32(3))
	f.Add(data[headerSize+blockHead:], byte(putBlock), uint32(3))
	f.Add(data[headerSize+blockHead:], byte(deleteBlock), uint32(3))
	f.Add([]byte{0, 0, 0, 0, 0, 0, 0, 255, 255, 255, 255, 255, 255, 255, 255, 255}, byte(putBlock), uint32(1))
	f.Fuzz(func(t *testing.T, b []byte, kind byte, records uint32) {
		m, err := New(Options{Budget: 4 << 20})
		if err != nil {
			t.Fatal(err)
		}
		defer m.Close()
		err = m.Restore(bytes.NewReader(b))
		var corrupt *CorruptError
		var layout *LayoutError
		if err != nil && !errors.As(err, &corrupt) && !errors.As(err, &layout) && !errors.Is(err, ErrBudget) {
			t.Fatalf("Restore = %v", err)
		}
		block := make([]byte, blockHead, blockHead+len(b))
		h := blockHeader{kind, 0, records, uint32(len(b)), crc32.Checksum(b, castagnoli)}
		h.encode(block)
		for _, entries := range []int{0, 2 * fewEntries} { // one by one, and in bulk
			m, err := New(Options{Budget: 4 << 20})
			if err != nil {
				t.Fatal(err)
			}
			stream := (&streamHeader{entries: entries}).append(nil)
			_ = m.Restore(io.MultiReader(bytes.NewReader(stream), bytes.NewReader(block), bytes.NewReader(b)))
			checkIndex(t, m)
			if err := m.Close(); err != nil {
				t.Fatal(err)
			}
		}
	})
}

type failingWriter struct{ left int }

var errDisk = errors.New("disk full")

func (w *failingWriter) Write(p []byte) (int, error) {
	if w.left -= len(p); w.left < 0 {
		return 0, errDisk
	}
	return len(p), nil
}

func TestWriteReportsTheWritersError(t *testing.T) {
	m, err := New(Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	for i := range byte(100) {
		if err := m.Put(Hash([]byte{i}), []byte{i}, make([]byte, 10_000)); err != nil {
			t.Fatal(err)
		}
	}
	s, _ := m.Snapshot()
	defer s.Release()
	for _, left := range []int{0, 64, 300_000, 1_000_000} {
		if _, err := s.Write(&failingWriter{left}, 0); err != errDisk {
			t.Fatalf("Write with room for %d bytes = %v", left, err)
		}
	}
}
