package operators_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/types/known/wrapperspb"
	"pgregory.net/rapid"

	"github.com/overtake-stream/overtake/operators"
)

type flat struct {
	A uint64
	B [2]float64
	C uint32
	D uint32
}

type padded struct {
	A byte
	B int64
	C bool
}

type rich struct {
	Name   string
	Tags   []string
	Counts map[string]int32
	Raw    []byte
	Next   *rich2
	When   [3]int16
	On     bool
	Ratio  float32
	Small  int8
}

type rich2 struct{ Label string }

// roundTrip checks that values drawn from g come back equal, and that no damage of
// their bytes makes the decoder panic.
func roundTrip[T any](t *testing.T, g *rapid.Generator[T]) {
	t.Helper()
	codec, err := operators.CodecFor[T]()
	if err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(t *rapid.T) {
		want := g.Draw(t, "value")
		prefix := rapid.SliceOfN(rapid.Byte(), 0, 3).Draw(t, "prefix")
		b := codec.Append(bytes.Clone(prefix), want)
		if !bytes.HasPrefix(b, prefix) {
			t.Fatal("Append changed what was there")
		}
		b = b[len(prefix):]
		got, err := codec.Decode(b)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got, cmp.Transformer("nil", func(b []byte) string { return string(b) })); diff != "" {
			t.Fatal(diff)
		}
		damaged := bytes.Clone(b[:rapid.IntRange(0, len(b)).Draw(t, "length")])
		if len(damaged) > 0 {
			damaged[rapid.IntRange(0, len(damaged)-1).Draw(t, "at")] ^= byte(rapid.IntRange(1, 255).Draw(t, "flip"))
		}
		if _, err := codec.Decode(damaged); err != nil && !errors.Is(err, operators.ErrDecode) {
			t.Fatalf("error %v, want ErrDecode", err)
		}
	})
}

func TestValuesComeBackAndDamageIsNoPanic(t *testing.T) {
	t.Run("int", func(t *testing.T) { roundTrip(t, rapid.Int()) })
	t.Run("string", func(t *testing.T) { roundTrip(t, rapid.String()) })
	t.Run("bytes", func(t *testing.T) { roundTrip(t, rapid.SliceOf(rapid.Byte())) })
	t.Run("flat", func(t *testing.T) {
		roundTrip(t, rapid.Custom(func(t *rapid.T) flat {
			return flat{rapid.Uint64().Draw(t, "a"), [2]float64{rapid.Float64().Draw(t, "b")}, rapid.Uint32().Draw(t, "c"), 7}
		}))
	})
	t.Run("padded", func(t *testing.T) {
		roundTrip(t, rapid.Custom(func(t *rapid.T) padded {
			return padded{rapid.Byte().Draw(t, "a"), rapid.Int64().Draw(t, "b"), rapid.Bool().Draw(t, "c")}
		}))
	})
	t.Run("rich", func(t *testing.T) {
		roundTrip(t, rapid.Custom(func(t *rapid.T) rich {
			r := rich{
				Name: rapid.String().Draw(t, "name"), Tags: rapid.SliceOfN(rapid.String(), 0, 4).Draw(t, "tags"),
				Counts: rapid.MapOfN(rapid.String(), rapid.Int32(), 0, 4).Draw(t, "counts"), Raw: rapid.SliceOf(rapid.Byte()).Draw(t, "raw"),
				When: [3]int16{-1, rapid.Int16().Draw(t, "when"), 1}, On: rapid.Bool().Draw(t, "on"), Ratio: 0.5, Small: rapid.Int8().Draw(t, "small"),
			}
			if rapid.Bool().Draw(t, "next") {
				r.Next = &rich2{Label: rapid.String().Draw(t, "label")}
			}
			return r
		}))
	})
	t.Run("pair", func(t *testing.T) {
		roundTrip(t, rapid.Custom(func(t *rapid.T) operators.Pair[string, int64] {
			return operators.Pair[string, int64]{Key: rapid.String().Draw(t, "k"), Value: rapid.Int64().Draw(t, "v")}
		}))
	})
}

func TestProtobufMessages(t *testing.T) {
	codec, err := operators.CodecFor[*wrapperspb.StringValue]()
	if err != nil {
		t.Fatal(err)
	}
	got, err := codec.Decode(codec.Append(nil, wrapperspb.String("hello")))
	if err != nil || got.GetValue() != "hello" {
		t.Fatalf("got %v, %v", got, err)
	}
	if _, err := codec.Decode([]byte{0xff}); !errors.Is(err, operators.ErrDecode) {
		t.Fatalf("error %v", err)
	}
}

type tree struct{ Children []tree }

func TestTypesWithoutCodecNameTheField(t *testing.T) {
	for want, get := range map[string]func() error{
		".Next.Ch":              func() error { _, err := operators.CodecFor[struct{ Next struct{ Ch chan int } }](); return err },
		"WithCodec":             func() error { _, err := operators.CodecFor[func()](); return err },
		".hidden":               func() error { _, err := operators.CodecFor[struct{ hidden string }](); return err },
		"contains its own type": func() error { _, err := operators.CodecFor[tree](); return err },
		"take no space":         func() error { _, err := operators.CodecFor[[]struct{}](); return err },
		"not exported":          func() error { _, err := operators.CodecFor[struct{ B strings.Builder }](); return err },
	} {
		err := get()
		if !errors.Is(err, operators.ErrNoCodec) {
			t.Errorf("error %v, want ErrNoCodec", err)
		} else if !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want one with %q", err, want)
		}
	}
}

func TestFingerprintsTellLayoutsApart(t *testing.T) {
	seen := map[uint64]string{}
	add := func(name string, fp uint64, err error) {
		if err != nil {
			t.Fatal(err)
		}
		if other, ok := seen[fp]; ok {
			t.Errorf("%s and %s have one fingerprint", name, other)
		}
		seen[fp] = name
	}
	a, err := operators.CodecFor[flat]()
	add("flat", a.Fingerprint(), err)
	b, err := operators.CodecFor[padded]()
	add("padded", b.Fingerprint(), err)
	c, err := operators.CodecFor[rich]()
	add("rich", c.Fingerprint(), err)
	d, err := operators.CodecFor[string]()
	add("string", d.Fingerprint(), err)
	e, err := operators.CodecFor[uint64]()
	add("uint64", e.Fingerprint(), err)
	f, err := operators.CodecFor[int64]()
	add("int64", f.Fingerprint(), err)
}

func TestHotCodecsAllocateNothing(t *testing.T) {
	measure := func(name string, f func()) {
		if n := testing.AllocsPerRun(100, f); n != 0 {
			t.Errorf("%s allocates %v times", name, n)
		}
	}
	dst := make([]byte, 0, 256)
	fixed, _ := operators.CodecFor[flat]()
	measure("flat", func() { _, _ = fixed.Decode(fixed.Append(dst, flat{A: 1})) })
	str, _ := operators.CodecFor[string]()
	measure("string", func() { _, _ = str.Decode(str.Append(dst, "hello")) })
	bytes, _ := operators.CodecFor[[]byte]()
	payload := []byte("hello")
	measure("bytes", func() { _, _ = bytes.Decode(bytes.Append(dst, payload)) })
	pairs, _ := operators.CodecFor[operators.Pair[uint64, int64]]()
	measure("pair of numbers", func() { _, _ = pairs.Decode(pairs.Append(dst, operators.Pair[uint64, int64]{})) })
}

func FuzzStructDecode(f *testing.F) {
	codec, err := operators.CodecFor[rich]()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(codec.Append(nil, rich{Name: "n", Tags: []string{"a"}, Counts: map[string]int32{"x": 1}, Next: &rich2{"l"}}))
	f.Fuzz(func(t *testing.T, b []byte) {
		v, err := codec.Decode(b)
		if err != nil {
			return
		}
		if _, err := codec.Decode(codec.Append(nil, v)); err != nil {
			t.Fatalf("%+v does not come back: %v", v, err)
		}
	})
}
