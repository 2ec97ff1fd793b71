package operators

import (
	"github.com/overtake-stream/overtake/netstack/record"
)

// Input is where a chain takes encoded records from one of the gate's inputs.
type Input interface {
	// Record decodes one data record and passes it down the chain. It lends r.
	Record(r *record.Record) error
}

type decoder[T any] struct {
	ctx   *Context
	codec Codec[T]
	next  Collector[T]
}

// NewInput returns the input that decodes records of T for next.
func NewInput[T any](ctx *Context, codec Codec[T], next Collector[T]) Input {
	return &decoder[T]{ctx: ctx, codec: codec, next: next}
}

// Record implements Input.
func (d *decoder[T]) Record(r *record.Record) error {
	v, err := d.codec.Decode(r.Payload)
	if err != nil {
		return err
	}
	d.ctx.Time, d.ctx.HasTime, d.ctx.Hash = r.Time, r.HasTime, r.Hash
	d.next.Collect(v)
	return nil
}
