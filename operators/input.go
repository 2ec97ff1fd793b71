package operators

import (
	"github.com/overtake-stream/overtake/netstack/record"
)

// Input is where a chain takes encoded records from one of the gate's inputs.
type Input interface {
	// Records decodes at most n data records and passes them down the chain, one by one or
	// in runs. It stops early before what is not data, and after a record or run whose chain
	// has failed or has an output that is full. It lends the buffer of it, and moves it on.
	Records(it *record.Iterator, n int) (done int, err error)
}

type decoder[T any] struct {
	ctx   *Context
	codec Codec[T]
	next  func(T)
}

// Records implements Input.
func (d *decoder[T]) Records(it *record.Iterator, n int) (done int, err error) {
	var r record.Record
	for done < n && it.Data() {
		if _, err := it.Next(&r); err != nil {
			return done, err
		}
		v, err := d.codec.Decode(r.Payload)
		if err != nil {
			return done, err
		}
		d.ctx.Time, d.ctx.HasTime, d.ctx.Hash = r.Time, r.HasTime, r.Hash
		d.next(v)
		if done++; d.ctx.changed && !d.ctx.settle() {
			break
		}
	}
	return done, nil
}
