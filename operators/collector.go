package operators

// Collector takes the records of a stream, one at a time. The value is valid
// until Collect returns.
type Collector[T any] interface{ Collect(v T) }

// Operator is the untyped side of an operator in a chain: what the subtask calls
// apart from records. A chain's operators are called from first to last, except
// Close, which goes from last to first.
type Operator interface {
	// Open is called once, before any record.
	Open(ctx *Context) error
	// Finish is called once after the last record; it may still collect.
	Finish() error
	// Close releases what Open acquired, also after an error. ok says whether the
	// subtask finished: only then may output be made visible.
	Close(ok bool) error
}

// Stateless can be embedded by operators that need none of the calls.
type Stateless struct{}

// Open does nothing.
func (Stateless) Open(*Context) error { return nil }

// Finish does nothing.
func (Stateless) Finish() error { return nil }

// Close does nothing.
func (Stateless) Close(bool) error { return nil }
