package operators

import (
	"unsafe"

	"github.com/overtake-stream/overtake/netstack/record"
)

// rowReader reads records of one size, without a codec.
type rowReader[T any] struct {
	decoder[T]
	plain, timed uint32 // how their headers begin
	size         int    // of one without a time, in bytes

	take   func(*Run[T]) // nil: records are taken one by one
	run    Run[T]
	values []T
	times  []int64
	hashes []uint32
}

// NewInput returns the input that decodes records of T for next. The chain behind it is
// complete.
func NewInput[T any](ctx *Context, codec Codec[T], next Collector[T]) Input {
	d := decoder[T]{ctx: ctx, codec: codec, next: callOf(next)}
	n := fixedSize(codec)
	if n <= 0 { // as rowsOf
		return &d
	}
	r := &rowReader[T]{decoder: d, size: record.Size(n, false)}
	r.plain, r.timed = record.Word(record.Data, n, false), record.Word(record.Data, n, true)
	if r.take = runsOf(ctx, next); r.take != nil {
		r.values, r.times, r.hashes = make([]T, runMax), make([]int64, runMax), make([]uint32, runMax)
	}
	return r
}

// Records implements Input.
func (d *rowReader[T]) Records(it *record.Iterator, n int) (done int, err error) {
	if d.take == nil || n == 1 {
		return d.single(it, n)
	}
	for done < n {
		k := 0
		if room := d.ctx.room(n - done); room > 1 {
			k, err = d.several(it, room)
		} else {
			k, err = d.single(it, 1)
		}
		if done += k; err != nil || k == 0 || d.ctx.changed && !d.ctx.settle() {
			break
		}
	}
	return done, err
}

// several passes on a run of at most n records.
func (d *rowReader[T]) several(it *record.Iterator, n int) (done int, err error) {
	used := d.read(it.Remaining(), n)
	if used == 0 { // a mark, or damage
		return d.decoder.Records(it, 1)
	}
	it.Skip(used)
	d.take(&d.run)
	return len(d.run.Values), nil
}

// read copies a run of at most n records that all have a time, or all have none. It returns
// how many bytes they have.
func (d *rowReader[T]) read(b []byte, n int) (used int) {
	if len(b) < record.HeaderSize {
		return 0
	}
	at := unsafe.Pointer(unsafe.SliceData(b))
	word, off, stride := d.plain, record.HeaderSize, d.size
	timed := *(*uint32)(at) == d.timed
	if timed {
		word, off, stride = d.timed, off+record.TimeSize, stride+record.TimeSize
	}
	n = min(n, len(b)/stride)
	values, times, hashes := d.values[:n], d.times[:n], d.hashes[:n]
	k := 0
	for ; k < n; k++ {
		at := unsafe.Add(at, k*stride)
		head := *(*uint64)(at)
		if uint32(head) != word {
			break
		}
		hashes[k] = uint32(head >> 32)
		if timed {
			times[k] = *(*int64)(unsafe.Add(at, record.HeaderSize))
		}
		values[k] = *(*T)(unsafe.Add(at, off))
	}
	d.run = Run[T]{Values: values[:k], Hashes: hashes[:k]}
	if timed {
		d.run.Times = times[:k]
	}
	return k * stride
}

// single is Records one by one.
func (d *rowReader[T]) single(it *record.Iterator, n int) (done int, err error) {
	ctx, b, used := d.ctx, it.Remaining(), 0
	for done < n && used+d.size <= len(b) {
		at := unsafe.Add(unsafe.Pointer(unsafe.SliceData(b)), used)
		head := *(*uint64)(at)
		switch word := uint32(head); {
		case word == d.plain:
			ctx.HasTime, ctx.Time = false, 0
			at = unsafe.Add(at, record.HeaderSize)
			used += d.size
		case word == d.timed && used+d.size+record.TimeSize <= len(b):
			ctx.HasTime, ctx.Time = true, *(*int64)(unsafe.Add(at, record.HeaderSize))
			at = unsafe.Add(at, record.HeaderSize+record.TimeSize)
			used += d.size + record.TimeSize
		default: // a mark, or damage
			it.Skip(used)
			if done > 0 {
				return done, nil
			}
			return d.decoder.Records(it, 1)
		}
		ctx.Hash = uint32(head >> 32)
		d.next(*(*T)(at))
		if done++; ctx.changed && !ctx.settle() {
			break
		}
	}
	it.Skip(used)
	if done == 0 && used < len(b) {
		return d.decoder.Records(it, 1)
	}
	return done, nil
}
