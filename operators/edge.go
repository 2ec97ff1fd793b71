package operators

import (
	"github.com/overtake-stream/overtake/bufferpool"
	"github.com/overtake-stream/overtake/netstack"
	"github.com/overtake-stream/overtake/netstack/record"
)

// edge encodes records into the open buffers of a partition. It ends a chain.
// The types below choose the subpartition.
type edge[T any] struct {
	ctx   *Context
	out   *netstack.Partition
	codec Codec[T]
	rows  rows
	room  int  // bytes that a record usually needs: the open buffer must offer that much
	large bool // the last record was larger than a buffer
}

func newEdge[T any](ctx *Context, out *netstack.Partition, codec Codec[T]) edge[T] {
	ctx.Add(out)
	e := edge[T]{ctx: ctx, out: out, codec: codec, rows: rowsOf(ctx, out, codec), room: 64}
	if e.rows.size >= 0 {
		out.Expect(record.Size(e.rows.size, true))
	}
	return e
}

// encode appends one record to the open buffer of subpartition sub. The codec
// appends straight to the buffer.
func (e *edge[T]) encode(sub int, hash uint32, v T) {
	if e.large {
		e.writeLarge(sub, hash, v)
		return
	}
	ctx := e.ctx
	space := e.out.Space(sub, e.room)
	off := record.Offset(ctx.HasTime)
	body := e.codec.Append(space[off:off], v)
	size := record.Size(len(body), ctx.HasTime)
	if size > len(space) || (len(body) > 0 && &body[0] != &space[off]) {
		e.overflow(sub, hash, body)
		return
	}
	record.Seal(space, record.Data, hash, ctx.HasTime, ctx.Time, len(body))
	e.out.Commit(sub, size)
}

// overflow writes a record that did not fit into the rest of the open buffer, and
// asks for more room from now on, so that this stays rare.
func (e *edge[T]) overflow(sub int, hash uint32, body []byte) {
	ctx := e.ctx
	size := record.Size(len(body), ctx.HasTime)
	if len(body) > record.MaxPayload {
		ctx.Fail(&Error{Err: errRecordTooLarge(len(body))})
		return
	}
	r := record.Record{Kind: record.Data, Hash: hash, HasTime: ctx.HasTime, Time: ctx.Time, Payload: body}
	if e.large = size > e.out.MaxRecord(); e.large {
		var s bufferpool.Scratch
		s.Set(record.Append(s.Start(), r))
		e.out.WriteLarge(sub, s.Bytes())
		s.Free()
		return
	}
	e.room = max(e.room, min(2*size, e.out.MaxRecord()))
	space := e.out.Space(sub, size)
	record.Append(space[:0], r)
	e.out.Commit(sub, size)
}

// writeLarge is write for a record that is probably larger than a buffer: it is
// encoded in scratch, which has grown to its size already, and not in the open
// buffer, which the codec would leave for memory of its own.
func (e *edge[T]) writeLarge(sub int, hash uint32, v T) {
	var s bufferpool.Scratch
	body := e.codec.Append(s.Start(), v)
	s.Set(body)
	e.overflow(sub, hash, body)
	s.Free()
}

type forwardEdge[T any] struct {
	edge[T]
	sub int
}

// Collect writes to the one subpartition of a forward edge.
func (e *forwardEdge[T]) Collect(v T) { e.write(e.sub, e.ctx.Hash, v) }

func (e *forwardEdge[T]) call() func(T) { return e.Collect }

// Forward returns an edge that sends everything to one receiver, or to the
// single shared buffer of a broadcast partition.
func Forward[T any](ctx *Context, out *netstack.Partition, codec Codec[T]) Collector[T] {
	return &forwardEdge[T]{edge: newEdge(ctx, out, codec)}
}

type rebalanceEdge[T any] struct {
	edge[T]
	next, n int
}

// Collect writes to the receivers in turn.
func (e *rebalanceEdge[T]) Collect(v T) {
	e.write(e.next, e.ctx.Hash, v)
	if e.next++; e.next == e.n {
		e.next = 0
	}
}

func (e *rebalanceEdge[T]) call() func(T) { return e.Collect }

// Rebalance returns an edge that sends records to all receivers in turn, starting
// with another one in each subtask.
func Rebalance[T any](ctx *Context, out *netstack.Partition, codec Codec[T]) Collector[T] {
	n := out.Subpartitions()
	return &rebalanceEdge[T]{edge: newEdge(ctx, out, codec), next: ctx.Subtask % n, n: n}
}

type customEdge[T any] struct {
	edge[T]
	choose func(v T, n int) int
	n      int
}

// Collect writes to the receiver that the user's partitioner chooses.
func (e *customEdge[T]) Collect(v T) {
	sub := e.choose(v, e.n)
	if uint(sub) >= uint(e.n) {
		e.ctx.Fail(&Error{Err: errPartitioner(sub, e.n)})
		return
	}
	e.write(sub, e.ctx.Hash, v)
}

// Custom returns an edge whose receivers are chosen by a partitioner: from 0 to
// n-1.
func Custom[T any](ctx *Context, out *netstack.Partition, codec Codec[T], choose func(v T, n int) int) Collector[T] {
	return &customEdge[T]{edge: newEdge(ctx, out, codec), choose: choose, n: out.Subpartitions()}
}

type keyedEdge[T any, K comparable] struct {
	edge[T]
	key    func(T) K
	hash   Hasher[K]
	owners []int32 // by key group
}

// Collect writes to the receiver that owns the record's key group.
func (e *keyedEdge[T, K]) Collect(v T) {
	hash := e.hash(e.key(v))
	e.write(int(e.owners[KeyGroup(hash, len(e.owners))]), hash, v)
}

func (e *keyedEdge[T, K]) call() func(T) { return e.Collect }

// Keyed returns an edge that sends every record to the owner of its key.
func Keyed[T any, K comparable](ctx *Context, out *netstack.Partition, codec Codec[T], key func(T) K, hash Hasher[K]) Collector[T] {
	e := &keyedEdge[T, K]{edge: newEdge(ctx, out, codec), key: key, hash: hash}
	e.owners = make([]int32, ctx.MaxParallel)
	for g := range e.owners {
		e.owners[g] = int32(GroupOwner(g, ctx.MaxParallel, out.Subpartitions()))
	}
	return e
}
