package statecow

import (
	"errors"
	"fmt"
)

var (
	// ErrBudget matches every *BudgetError with errors.Is.
	ErrBudget = errors.New("statecow: memory budget reached")
	// ErrBase: an increment was asked for since a snapshot that is no longer, or
	// never was, a possible base. Write a full snapshot instead.
	ErrBase = errors.New("statecow: not a base of this snapshot; write a full one")
	// ErrReleased: a snapshot was used after Release.
	ErrReleased = errors.New("statecow: snapshot was released")
	// ErrSize: a key or value does not have the size of its map's layout, or is
	// larger than the format allows.
	ErrSize = errors.New("statecow: size of key or value does not fit the map")
	// ErrStateName: a state was registered twice under one name, or under one
	// that restored state holds with another kind or layout.
	ErrStateName = errors.New("statecow: state name is taken by another state")
)

// BudgetError says that an operation needed more memory than the map may use.
// The map is unchanged and stays usable: delete keys, release snapshots, or give
// it a larger Options.Budget.
type BudgetError struct {
	Need, Used, Budget int64 // bytes
}

func (e *BudgetError) Error() string {
	return fmt.Sprintf("statecow: needs %d bytes more, but %d of the budget of %d are used: delete keys, release snapshots or raise Options.Budget", e.Need, e.Used, e.Budget)
}

// Is reports whether target is ErrBudget.
func (e *BudgetError) Is(target error) bool { return target == ErrBudget }

// GroupError says that a key was stored in a map that does not own its key group.
type GroupError struct {
	Group int
	Owned Groups
}

func (e *GroupError) Error() string {
	return fmt.Sprintf("statecow: key group %d is not among %d to %d, which this map owns: the record was routed to the wrong subtask or its hash differs", e.Group, e.Owned.First, e.Owned.End-1)
}

// CorruptError says where a snapshot is damaged. Nothing of the damaged block
// was applied, but blocks before it were: discard the map.
type CorruptError struct {
	Offset int64 // in the stream, of the block that is damaged
	Reason string
}

func (e *CorruptError) Error() string {
	return fmt.Sprintf("statecow: snapshot is damaged at offset %d: %s; restore from an earlier checkpoint", e.Offset, e.Reason)
}

// LayoutError says that a snapshot was written by a map of another layout.
type LayoutError struct {
	Have, Want string
}

func (e *LayoutError) Error() string {
	return fmt.Sprintf("statecow: snapshot has layout %s, the map %s: restore with the types that wrote it", e.Have, e.Want)
}

// TypeError says why a type cannot be stored in place.
type TypeError struct {
	Type, Reason string
}

func (e *TypeError) Error() string {
	return fmt.Sprintf("statecow: type %s cannot be stored in place: %s; use a Map with a codec", e.Type, e.Reason)
}
