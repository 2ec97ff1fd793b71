package operators_test

import (
	"bytes"
	"errors"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/testing/protocmp"
	"google.golang.org/protobuf/types/known/structpb"
	"google.golang.org/protobuf/types/known/wrapperspb"
	"pgregory.net/rapid"

	"github.com/overtake-stream/overtake/operators"
)

type (
	userID string
	point  struct{ X, Y int32 }
	base   struct {
		ID      userID
		version uint16 // not exported, but without pointers: part of the value
	}
)

// everything has a field of every kind that can be encoded.
type everything struct {
	base
	At       time.Time
	Took     time.Duration
	Points   []point
	Gaps     []gappy
	Grid     [2][3]point
	Names    [2]string
	Maybe    *int64
	Chain    **gappy
	ByName   map[userID][]point
	ByPoint  map[point]*everyLeaf
	Seen     map[string]struct{}
	Message  *wrapperspb.StringValue
	Blob     []byte
	Blobs    [][]byte
	Complex  complex64
	Nothing  struct{}
	Ok, Gone bool
}

type everyLeaf struct {
	On   bool
	Tags []userID
}

// optional draws nil, or a pointer to what g draws.
func optional[T any](g *rapid.Generator[T]) *rapid.Generator[*T] {
	return rapid.Custom(func(t *rapid.T) *T {
		if rapid.Bool().Draw(t, "nil") {
			return nil
		}
		v := g.Draw(t, "value")
		return &v
	})
}

// list draws nil, an empty slice, or a few elements.
func list[T any](g *rapid.Generator[T]) *rapid.Generator[[]T] {
	return rapid.OneOf(rapid.Just[[]T](nil), rapid.SliceOfN(g, 0, 4))
}

func drawEverything(t *rapid.T) everything {
	points := rapid.Custom(func(t *rapid.T) point {
		return point{rapid.Int32().Draw(t, "x"), rapid.Int32().Draw(t, "y")}
	})
	gaps := rapid.Custom(func(t *rapid.T) gappy {
		return gappy{rapid.Bool().Draw(t, "valid"), rapid.Uint64().Draw(t, "key"), rapid.Uint32().Draw(t, "count"), 1.5}
	})
	ids := rapid.Map(rapid.String(), func(s string) userID { return userID(s) })
	leaves := rapid.Custom(func(t *rapid.T) everyLeaf {
		return everyLeaf{rapid.Bool().Draw(t, "on"), list(ids).Draw(t, "tags")}
	})
	e := everything{
		base:    base{ids.Draw(t, "id"), rapid.Uint16().Draw(t, "version")},
		At:      time.Unix(rapid.Int64Range(-1<<36, 1<<36).Draw(t, "at"), rapid.Int64Range(0, 999_999_999).Draw(t, "nanos")).UTC(),
		Took:    time.Duration(rapid.Int64().Draw(t, "took")),
		Points:  list(points).Draw(t, "points"),
		Gaps:    list(gaps).Draw(t, "gaps"),
		Names:   [2]string{rapid.String().Draw(t, "name"), ""},
		Maybe:   optional(rapid.Int64()).Draw(t, "maybe"),
		Chain:   optional(optional(gaps)).Draw(t, "chain"),
		ByPoint: rapid.MapOfN(points, optional(leaves), 0, 3).Draw(t, "by point"),
		Blob:    list(rapid.Byte()).Draw(t, "blob"),
		Blobs:   list(list(rapid.Byte())).Draw(t, "blobs"),
		Complex: complex(1, -2),
		Ok:      rapid.Bool().Draw(t, "ok"),
	}
	e.Grid[1][2] = points.Draw(t, "grid")
	if rapid.Bool().Draw(t, "maps") {
		e.ByName = rapid.MapOfN(ids, list(points), 0, 3).Draw(t, "by name")
		e.Seen = map[string]struct{}{rapid.String().Draw(t, "seen"): {}}
		e.Message = wrapperspb.String(rapid.StringMatching(`[a-z]{0,9}`).Draw(t, "message"))
	}
	return e
}

func mustCodec[T any](t testing.TB) operators.Codec[T] {
	t.Helper()
	codec, err := operators.CodecFor[T]()
	if err != nil {
		t.Fatal(err)
	}
	return codec
}

// Also nil and empty slices, maps and pointers are told apart: whether two operators
// are fused or not, the second sees the same value.
func TestEveryKindOfFieldComesBack(t *testing.T) {
	codec := mustCodec[everything](t)
	rapid.Check(t, func(t *rapid.T) {
		want := drawEverything(t)
		b := codec.Append(nil, want)
		got, err := codec.Decode(b)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got, cmp.AllowUnexported(everything{}, base{}), protocmp.Transform()); diff != "" {
			t.Fatal(diff)
		}
		if again := codec.Append(nil, got); !bytes.Equal(b, again) {
			t.Fatalf("encoded again: %x, first %x", again, b)
		}
	})
}

func TestNamedStringsAndBytesAreViews(t *testing.T) {
	id := mustCodec[userID](t)
	if b := id.Append(nil, "u1"); string(b) != "u1" {
		t.Fatalf("encoded as %q", b)
	}
	if got, err := id.Decode([]byte("u2")); got != "u2" || err != nil {
		t.Fatal(got, err)
	}
	type raw []byte
	src := []byte("ab")
	got, err := mustCodec[raw](t).Decode(src[:1])
	if err != nil || &got[0] != &src[0] {
		t.Fatal("no view", err)
	}
	if _ = append(got, 'x'); src[1] != 'b' {
		t.Fatal("appending to a view wrote behind it")
	}
}

func TestEqualMapsHaveEqualBytes(t *testing.T) {
	codec := mustCodec[map[string]int](t)
	first := map[string]int{}
	for _, k := range strings.Fields("the quick brown fox jumps over a lazy dog") {
		first[k] = len(k)
	}
	want := codec.Append(nil, first)
	for range 20 {
		if got := codec.Append(nil, first); !bytes.Equal(got, want) {
			t.Fatalf("%x, then %x", want, got)
		}
	}
}

func TestLayoutsIgnoreTheNamesOfTypesAlone(t *testing.T) {
	type renamed gappy
	if a, b := mustCodec[gappy](t), mustCodec[renamed](t); a.Fingerprint() != b.Fingerprint() {
		t.Error("a renamed type has another fingerprint")
	}
	type otherField struct {
		Valid bool
		Keys  uint64
		Count uint32
		Price float64
	}
	if a, b := mustCodec[gappy](t), mustCodec[otherField](t); a.Fingerprint() == b.Fingerprint() {
		t.Error("a renamed field has the same fingerprint")
	}
	got := mustCodec[operators.Pair[userID, []*point]](t).(interface{ Layout() string }).Layout()
	if want := "{Key string; Value []*{X int32; Y int32}}"; got != want {
		t.Errorf("layout %q, want %q", got, want)
	}
}

func TestDamageIsLocated(t *testing.T) {
	for _, c := range []struct {
		decode func([]byte) error
		src    string
		want   operators.DecodeError
	}{
		{decodeAs[uint32](t), "abcde", operators.DecodeError{Type: "uint32", Size: 5, Offset: 4, Reason: "there are too many"}},
		{decodeAs[uint32](t), "abc", operators.DecodeError{Type: "uint32", Size: 3, Offset: 3, Reason: "they end too early"}},
		{decodeAs[[]string](t), "\x03\x01a\x05b", operators.DecodeError{Type: "[]string", Size: 5, Offset: 3, Reason: "they end too early"}},
		{decodeAs[[2]bool](t), "\x01\x02", operators.DecodeError{Type: "[2]bool", Size: 2, Offset: 1, Reason: "a bool is neither 0 nor 1"}},
		{decodeAs[*uint8](t), "\x02a", operators.DecodeError{Type: "*uint8", Size: 2, Offset: 0, Reason: "a pointer is marked neither 0 nor 1"}},
		{decodeAs[time.Time](t), "\x00\x00\x00\x00\x00\x00\x00\x00\xff\xff\xff\xff", operators.DecodeError{Type: "time.Time", Size: 12, Offset: 0, Reason: "a time has a second or more of nanoseconds"}},
		{decodeAs[[]*wrapperspb.StringValue](t), "\x02\x02\xff", operators.DecodeError{Type: "[]*wrapperspb.StringValue", Size: 3, Offset: 2, Reason: "they are no such protobuf message"}},
	} {
		err := c.decode([]byte(c.src))
		var got *operators.DecodeError
		if !errors.As(err, &got) || !errors.Is(err, operators.ErrDecode) || *got != c.want {
			t.Errorf("%q: %v, want %v", c.src, err, &c.want)
		}
	}
}

func decodeAs[T any](t *testing.T) func([]byte) error {
	codec := mustCodec[T](t)
	return func(b []byte) error { _, err := codec.Decode(b); return err }
}

// A few bytes that claim to be many values must not make the decoder reserve memory
// for them.
func TestDamagedLengthsReserveNoMemory(t *testing.T) {
	huge := []byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f, 1, 2, 3}
	decoders := []func([]byte) error{
		decodeAs[[]uint64](t), decodeAs[[]string](t), decodeAs[map[uint8]uint8](t), decodeAs[[][1024]uint64](t),
		decodeAs[struct{ S string }](t), decodeAs[struct{ B []byte }](t), decodeAs[[]gappy](t),
		decodeAs[[]*wrapperspb.StringValue](t), decodeAs[[]map[string]struct{}](t),
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for _, decode := range decoders {
		for _, from := range []int{0, 7, 8, 9} {
			if err := decode(huge[from:]); !errors.Is(err, operators.ErrDecode) {
				t.Errorf("error %v, want ErrDecode", err)
			}
		}
	}
	runtime.ReadMemStats(&after)
	if got := after.TotalAlloc - before.TotalAlloc; got > 64<<10 {
		t.Errorf("%d bytes allocated", got)
	}
}

func TestCodecsAreShared(t *testing.T) {
	codec := mustCodec[operators.Pair[string, map[string]int]](t)
	want := operators.Pair[string, map[string]int]{Key: "k", Value: map[string]int{"a": 1, "b": 2}}
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range 100 {
				if got, err := codec.Decode(codec.Append(nil, want)); err != nil || !cmp.Equal(got, want) {
					t.Error(got, err)
				}
			}
		})
	}
	wg.Wait()
}

func TestMessagesThatAreNoneAreRefused(t *testing.T) {
	type embeds struct{ *wrapperspb.StringValue }
	for name, err := range map[string]error{
		"value":  second(operators.CodecFor[structpb.Value]()),
		"embeds": second(operators.CodecFor[*embeds]()),
		"field":  second(operators.CodecFor[struct{ V structpb.Value }]()),
		"inside": second(operators.CodecFor[[]*embeds]()),
	} {
		if !errors.Is(err, operators.ErrNoCodec) {
			t.Errorf("%s: error %v, want ErrNoCodec", name, err)
		}
	}
}

func second[T any](_ T, err error) error { return err }

func TestProgramsAllocateOnlyWhatTheyDecode(t *testing.T) {
	pair := mustCodec[operators.Pair[string, gappy]](t)
	orders := mustCodec[order](t)
	times := mustCodec[time.Time](t)
	dst, o, now := make([]byte, 0, 512), newOrder(), time.Now()
	value := operators.Pair[string, gappy]{Key: "key", Value: gappy{Valid: true}}
	for name, c := range map[string]struct {
		want float64
		f    func()
	}{
		"pair of string and struct": {0, func() { _, _ = pair.Decode(pair.Append(dst, value)) }},
		"append of order":           {0, func() { orders.Append(dst, o) }},
		"time":                      {0, func() { _, _ = times.Decode(times.Append(dst, now)) }},
		"slice and pointer":         {3, func() { _, _ = orders.Decode(orders.Append(dst, o)) }},
	} {
		if got := testing.AllocsPerRun(100, c.f); got != c.want {
			t.Errorf("%s: %v allocations, want %v", name, got, c.want)
		}
	}
}

func TestClonesAreNoViews(t *testing.T) {
	clone, err := operators.Cloner[operators.Pair[string, []byte]]()
	if err != nil {
		t.Fatal(err)
	}
	b := []byte("value")
	view, _ := mustCodec[string](t).Decode(b)
	v := operators.Pair[string, []byte]{Key: view, Value: b}
	got := clone(v)
	copy(b, "other")
	clone(v) // reuses what the first clone was made with
	if got.Key != "value" || string(got.Value) != "value" {
		t.Fatalf("%+v", got)
	}
	if n := testing.AllocsPerRun(100, func() { clone(v) }); n != 1 {
		t.Errorf("%v allocations, want 1", n)
	}
}

// Every codec of the corpus gets the same bytes.
func FuzzDecode(f *testing.F) {
	all := []func(*testing.T, []byte){
		again(mustCodec[everything](f)), again(mustCodec[rich](f)), again(mustCodec[gappy](f)), again(mustCodec[order](f)),
		again(mustCodec[uint64](f)), again(mustCodec[userID](f)), again(mustCodec[[]byte](f)), again(mustCodec[time.Time](f)),
		again(mustCodec[map[string][]*point](f)), again(mustCodec[*structpb.Value](f)), again(mustCodec[[][][]string](f)),
	}
	note := "n"
	f.Add(mustCodec[order](f).Append(nil, order{Items: []int64{1}, Note: &note}))
	f.Add(mustCodec[map[string][]*point](f).Append(nil, map[string][]*point{"a": {nil, {1, 2}}}))
	f.Add(mustCodec[everything](f).Append(nil, everything{Gaps: []gappy{{}}, Message: wrapperspb.String("m"), Seen: map[string]struct{}{"s": {}}}))
	f.Fuzz(func(t *testing.T, b []byte) {
		for _, decode := range all {
			decode(t, b)
		}
	})
}

// again decodes bytes; if it can, it must be able to decode the value's own encoding,
// with the same outcome.
func again[T any](codec operators.Codec[T]) func(*testing.T, []byte) {
	return func(t *testing.T, b []byte) {
		v, err := codec.Decode(b)
		if err != nil {
			if !errors.Is(err, operators.ErrDecode) {
				t.Fatalf("error %v, want ErrDecode", err)
			}
			return
		}
		first := codec.Append(nil, v)
		v, err = codec.Decode(first)
		if err != nil {
			t.Fatalf("%T: %x does not come back: %v", v, first, err)
		}
		if next := codec.Append(nil, v); !bytes.Equal(first, next) {
			t.Fatalf("%T: %x, then %x", v, first, next)
		}
	}
}
