package operators

import (
	"unsafe"

	"github.com/overtake-stream/overtake/netstack"
	"github.com/overtake-stream/overtake/netstack/record"
)

// rows writes records of one size, without a codec. Nothing here is generic: the compiler
// inlines what is below a generic function only if it is in the same package.
type rows struct {
	ctx  *Context
	out  *netstack.Partition
	size int // of the payload, in bytes; negative: records have no size of their own
}

// rowsOf says how values of T are written that codec copies as they are.
func rowsOf[T any](ctx *Context, out *netstack.Partition, codec Codec[T]) rows {
	w := rows{ctx: ctx, out: out, size: fixedSize(codec)}
	if w.size == 0 || record.Size(w.size, true) > out.MaxRecord() {
		w.size = -1 // what has no size has no place: it might be behind the end of all buffers
	}
	return w
}

// fixedSize is the size of every value that a codec encodes by copying it, else negative.
func fixedSize[T any](codec Codec[T]) int {
	if _, ok := codec.(*fixedCodec[T]); !ok {
		return -1
	}
	return sizeOf[T]()
}

// sizeOf is the size of a value in memory, in bytes.
func sizeOf[T any]() int {
	var v T
	return int(unsafe.Sizeof(v))
}

// memory is the memory of a value.
func memory[T any](v *T) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(v)), unsafe.Sizeof(*v))
}

// memories is the memory of some values, one behind the other.
func memories[T any](v []T) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(v))), len(v)*sizeOf[T]())
}

// next adds a record to the open buffer of sub, but for the payload, whose place it lends.
func (w *rows) next(sub int, hash uint32) unsafe.Pointer {
	ctx := w.ctx
	n := record.Size(w.size, ctx.HasTime)
	space := w.out.Extend(sub, n)
	record.Seal(space, record.Data, hash, ctx.HasTime, ctx.Time, w.size)
	return unsafe.Add(unsafe.Pointer(unsafe.SliceData(space)), record.Offset(ctx.HasTime))
}

// write appends one record to the open buffer of subpartition sub.
func (e *edge[T]) write(sub int, hash uint32, v T) {
	if e.rows.size >= 0 {
		*(*T)(e.rows.next(sub, hash)) = v
		return
	}
	e.encode(sub, hash, v)
}
