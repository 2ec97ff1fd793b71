package overtake

import (
	"time"

	"github.com/overtake-stream/overtake/operators"
)

// OpOption configures one operator.
type OpOption interface{ apply(*opOptions) }

type opOptions struct {
	name, uid   string
	parallelism int
	codec       any
	finalOnly   bool

	idleAfter, watermarkEvery time.Duration // of AssignTimes

	migration func() (operators.Migration, error)
}

type opOption func(*opOptions)

func (f opOption) apply(o *opOptions) { f(o) }

func collect(opts []OpOption) (o opOptions) {
	for _, opt := range opts {
		opt.apply(&o)
	}
	return o
}

// WithName names an operator in errors and measurements. Default: its kind.
func WithName(name string) OpOption { return opOption(func(o *opOptions) { o.name = name }) }

// WithUID identifies an operator's state for the life of the job, however the
// graph around it changes. Stateful operators require it.
func WithUID(uid string) OpOption { return opOption(func(o *opOptions) { o.uid = uid }) }

// WithParallelism sets the number of subtasks of an operator.
func WithParallelism(n int) OpOption { return opOption(func(o *opOptions) { o.parallelism = n }) }

// WithCodec sets the codec of an operator's output, instead of the one made for
// its type.
func WithCodec[T any](codec Codec[T]) OpOption {
	return opOption(func(o *opOptions) { o.codec = codec })
}

// WithMigration lets an Aggregate or Reduce go on from a checkpoint in which its
// accumulators were of type Old: f turns each into one of today's type New.
func WithMigration[Old, New any](f func(Old) New) OpOption {
	return opOption(func(o *opOptions) {
		o.migration = func() (operators.Migration, error) { return operators.MigrateAccumulator(f) }
	})
}
