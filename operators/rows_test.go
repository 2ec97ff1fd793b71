package operators_test

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/overtake-stream/overtake/netstack/record"
	"github.com/overtake-stream/overtake/operators"
)

// wrapped hides that a codec copies values, so that it is asked for each of them.
type wrapped struct{ operators.Codec[flat] }

// arrival is what an operator sees of a record.
type arrival struct {
	V       flat
	Time    int64
	HasTime bool
	Hash    uint32
}

// recorder fails the chain when it has had as many records as it takes.
type recorder struct {
	ctx  *operators.Context
	got  []arrival
	fail int // the number of the record that fails, from 1; 0: none
}

func (r *recorder) Collect(v flat) {
	r.got = append(r.got, arrival{v, r.ctx.Time, r.ctx.HasTime, r.ctx.Hash})
	if len(r.got) == r.fail {
		r.ctx.Fail(errStop)
	}
}

var errStop = errors.New("stop")

// outcome is what comes of reading a buffer to its end, or until something fails.
type outcome struct {
	Got    []arrival
	Marks  []int // how many records had come before each
	Runs   []int // what Records returned, as long as that was more than 0
	Failed bool
	Bytes  int // left
}

func readAll(codec operators.Codec[flat], buffer []byte, n, fail int) (o outcome) {
	ctx := &operators.Context{}
	sink := &recorder{ctx: ctx, fail: fail}
	in := operators.NewInput(ctx, codec, operators.Collector[flat](sink))
	it := record.Over(buffer)
	for {
		done, err := in.Records(&it, n)
		if done > 0 {
			o.Runs = append(o.Runs, done)
		}
		if o.Failed = err != nil || ctx.Err() != nil; o.Failed {
			break
		}
		if done > 0 {
			continue
		}
		var r record.Record
		ok, err := it.Next(&r)
		if o.Failed = err != nil; !ok {
			break
		}
		o.Marks = append(o.Marks, len(sink.got))
	}
	o.Got, o.Bytes = sink.got, it.Rest()
	if o.Failed { // how much was read by then may differ
		o.Bytes, o.Runs = 0, nil
	}
	return o
}

// TestRecordsOfOneSizeAreReadAsByTheirCodec reads buffers with records of all kinds, of
// right and wrong sizes, with and without times, in pieces.
func TestRecordsOfOneSizeAreReadAsByTheirCodec(t *testing.T) {
	codec, err := operators.CodecFor[flat]()
	if err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(t *rapid.T) {
		var buffer []byte
		for range rapid.IntRange(0, 40).Draw(t, "records") {
			r := record.Record{
				Kind:    rapid.SampledFrom([]record.Kind{record.Data, record.Data, record.Data, record.Watermark, record.Marker}).Draw(t, "kind"),
				HasTime: rapid.Bool().Draw(t, "has time"), Hash: rapid.Uint32().Draw(t, "hash"),
				Payload: codec.Append(nil, flat{A: rapid.Uint64().Draw(t, "value")}),
			}
			if r.HasTime {
				r.Time = rapid.Int64().Draw(t, "time")
			}
			if rapid.IntRange(0, 60).Draw(t, "wrong size") == 0 {
				r.Payload = r.Payload[:rapid.IntRange(0, len(r.Payload)).Draw(t, "size")]
			}
			buffer = record.Append(buffer, r)
		}
		if rapid.IntRange(0, 20).Draw(t, "cut") == 0 && len(buffer) > 0 {
			buffer = buffer[:8*rapid.IntRange(0, len(buffer)/8).Draw(t, "left")]
		}
		n, fail := rapid.IntRange(1, 50).Draw(t, "at a time"), rapid.IntRange(0, 50).Draw(t, "fail")
		want := readAll(wrapped{codec}, buffer, n, fail)
		if diff := cmp.Diff(want, readAll(codec, buffer, n, fail), cmp.AllowUnexported(flat{})); diff != "" {
			t.Fatal(diff)
		}
	})
}
