package operators_test

import (
	"testing"

	"github.com/overtake-stream/overtake/operators"
)

// plain has neither pointers nor padding: one copy.
type plain struct {
	Key, Amount, Number, Filler uint64
}

// gappy has padding and a bool: several copies, and a check.
type gappy struct {
	Valid bool
	Key   uint64
	Count uint32
	Price float64
}

// order has what most records have.
type order struct {
	ID       uint64
	Customer string
	Items    []int64
	Note     *string
	Paid     bool
}

func newOrder() order {
	note := "leave at the door"
	return order{ID: 7, Customer: "customer-12345", Items: []int64{1, 2, 3}, Note: &note, Paid: true}
}

func BenchmarkCodec(b *testing.B) {
	b.Run("copy32", func(b *testing.B) {
		var src, dst [32]byte
		buf := dst[:0]
		for b.Loop() {
			buf = append(dst[:0], src[:]...)
		}
		_ = buf
	})
	benchCodec(b, "fixed8", uint64(1)<<40)
	benchCodec(b, "fixed32", plain{Key: 1, Amount: 2})
	benchCodec(b, "string", "customer-12345")
	benchCodec(b, "bytes", []byte("customer-12345"))
	benchCodec(b, "gappy", gappy{Valid: true, Key: 1, Count: 2, Price: 3})
	benchCodec(b, "pair", operators.Pair[string, int64]{Key: "customer-12345", Value: 1})
	benchCodec(b, "order", newOrder())
}

func benchCodec[T any](b *testing.B, name string, v T) {
	codec, err := operators.CodecFor[T]()
	if err != nil {
		b.Fatal(err)
	}
	buf := codec.Append(nil, v)
	b.Run(name+"/append", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			buf = codec.Append(buf[:0], v)
		}
	})
	b.Run(name+"/decode", func(b *testing.B) {
		b.ReportAllocs()
		var sink T
		for b.Loop() {
			sink, err = codec.Decode(buf)
		}
		if err != nil {
			b.Fatal(err)
		}
		_ = sink
	})
}
