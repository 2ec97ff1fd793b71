package operators

import "github.com/overtake-stream/overtake/statecow"

// Stores keeps the state of a subtask's operators where checkpoints see it, and
// has what the restored checkpoint holds of it. The engine implements it.
type Stores interface {
	// Keyed returns a new store for keyed state of an operator, by its UID and a
	// name that is unique in the operator. memory asks for a statecow.Map.
	Keyed(uid, name string, memory bool) (*KeyedStore, error)
	// Pieces lends what the subtasks i of the operator, i modulo Parallelism being
	// this subtask, gave to Snapshot.
	Pieces(uid string) [][]byte
	// Restored reports whether the job continues from a checkpoint.
	Restored() bool
}

// KeyedStore is a store with keyed state of one operator. Set Layout and Final, verify
// Saved, and call Restore, before the state is used.
type KeyedStore struct {
	Store statecow.Store
	Saved []string // Layouts that the restored state was written with, each once
	// Layout describes the state, so that a later run can tell whether it still fits.
	Layout string
	// Final says that the state is passed on when the subtask finishes: what finished
	// subtasks had is not restored.
	Final bool
	// Direct says that the entry of a record's key is stored under the record's hash.
	Direct bool
	// Migrate turns restored entries into those of today's Layout; nil if nobody does.
	Migrate Migration
	// Fill restores the state. The engine sets it; nil if there is none.
	Fill func(*KeyedStore) error
}

// Restore fills the store with what the checkpoint holds.
func (k *KeyedStore) Restore() error {
	if k.Fill == nil {
		return nil
	}
	return k.Fill(k)
}

// fits reports an error if the saved state has another layout and nobody migrates it.
func (k *KeyedStore) fits(name string) error {
	for _, saved := range k.Saved {
		if saved != k.Layout && k.Migrate == nil {
			return &LayoutError{State: name, Saved: saved, Now: k.Layout}
		}
	}
	return nil
}

// Enter names the operator whose Open or Snapshot is called next.
func (c *Context) Enter(uid string) { c.uid = uid }

// SetStores gives the operators of the chain their stores. Without, they keep state
// in memory of their own.
func (c *Context) SetStores(s Stores) { c.stores = s }

// keyed returns a store for the operator that is being opened.
func (c *Context) keyed(name string, memory bool) (*KeyedStore, error) {
	if c.stores != nil {
		return c.stores.Keyed(c.uid, name, memory)
	}
	o := statecow.Options{MaxGroups: max(c.MaxParallel, 1), Budget: c.StateMemory}
	if c.Parallelism > 0 { // a map is made for the hashes that it will see: all others' make it slow
		o.Groups.First, o.Groups.End = GroupRange(c.Subtask, o.MaxGroups, c.Parallelism)
	}
	m, err := statecow.New(o)
	return &KeyedStore{Store: m}, err
}

// Checkpointed reports whether the job takes checkpoints.
func (c *Context) Checkpointed() bool { return c.stores != nil }

// Pieces lends what the operator that is being opened gave to Snapshot, in this and
// other subtasks (see Stores), and whether the job continues from a checkpoint.
func (c *Context) Pieces() (pieces [][]byte, restored bool) {
	if c.stores == nil {
		return nil, false
	}
	return c.stores.Pieces(c.uid), c.stores.Restored()
}

// Plain is an Operator that is a Checkpointer only for some of its uses.
type Plain interface {
	// Plain reports whether its Snapshot gives nothing and its Completed does nothing.
	Plain() bool
}

// Checkpointer is an Operator with more in a checkpoint than its keyed state.
type Checkpointer interface {
	// Snapshot appends what Context.Pieces shall return after a restore. It is called
	// between two records, when the barrier of a checkpoint has arrived.
	Snapshot(checkpoint uint64, dst []byte) ([]byte, error)
	// Completed says that the checkpoint is durable, and with it all before it.
	Completed(checkpoint uint64) error
}
