package task

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/overtake-stream/overtake/checkpoint"
	"github.com/overtake-stream/overtake/checkpoint/protocol"
	"github.com/overtake-stream/overtake/statecow"
)

// Restored is what a subtask goes on from. The zero value is the beginning.
type Restored struct {
	From      protocol.ID // the checkpoint; 0 if there is none
	Own       bool        // it is the job's own, so increments may build on it
	Operators map[string]RestoredOperator
	Blobs     checkpoint.Blobs // where its blobs are
	Context   context.Context
	// Finished says that all subtasks of the chain had finished.
	Finished bool
	// Marks are the watermarks of the channels that this subtask had, or if SameChannels
	// is not set, that all subtasks had.
	Marks        []Mark
	SameChannels bool
	// InFlight are the records that were on their way to this subtask, by input.
	InFlight []InFlight
}

// RestoredOperator is the share of an operator's state that is a subtask's.
type RestoredOperator struct {
	Saved  bool // the checkpoint knows the operator
	Splits [][]byte
	// SplitMarks are the splits' event times, by split; empty where nothing is known, and
	// perhaps fewer than the splits.
	SplitMarks [][]byte
	Pieces     [][]byte
	// Keyed has the parts whose key groups overlap the subtask's; Done those of
	// subtasks that had finished.
	Keyed, Done []checkpoint.Part
	Layouts     map[string][]string // by the name of the store
}

// InFlight is a run of whole records of one channel.
type InFlight struct {
	Channel
	Input   int // of the gate
	Records []byte
}

func (r *Restored) layouts(uid, name string) []string { return r.Operators[uid].Layouts[name] }

// parts are those of one store.
func parts(all []checkpoint.Part, name string) (list []checkpoint.Part) {
	for _, p := range all {
		if p.State == name {
			list = append(list, p)
		}
	}
	return list
}

// fill restores a store.
func (s *Stores) fill(st *store) error {
	op := s.restored.Operators[st.uid]
	list := parts(op.Keyed, st.name)
	if !st.keyed.Final {
		list = append(list, parts(op.Done, st.name)...)
	}
	if len(list) == 0 {
		return nil
	}
	if st.keyed.Migrate != nil && slices.ContainsFunc(st.keyed.Saved, func(l string) bool { return l != st.keyed.Layout }) {
		return s.migrate(st, list)
	}
	if err := s.restoreInto(st.keyed.Store, list); err != nil {
		return fmt.Errorf("task: state %q of operator %q: %w", st.name, st.uid, err)
	}
	if !s.restored.Own {
		return nil
	}
	return st.rebase(s.restored.From, list)
}

// restoreInto applies the chains of parts, which have no key in common.
func (s *Stores) restoreInto(to statecow.Store, list []checkpoint.Part) error {
	for _, p := range list {
		if err := s.restorePart(to, p); err != nil {
			return err
		}
	}
	return nil
}

// restorePart applies a part, whose key groups and sizes are known.
func (s *Stores) restorePart(to statecow.Store, p checkpoint.Part) (err error) {
	apply := to.Restore
	if m, ok := to.(*statecow.Map); ok {
		sizes := make([]int64, len(p.Chain))
		for i, ref := range p.Chain {
			sizes[i] = ref.Size
		}
		c := m.RestoreChain(statecow.Groups{First: p.FirstGroup, End: p.EndGroup}, sizes...)
		defer func() { err = errors.Join(err, c.Close()) }()
		apply = c.Apply
	}
	if len(p.Inline) > 0 {
		if err := apply(bytes.NewReader(p.Inline)); err != nil {
			return err
		}
	}
	for _, ref := range p.Chain {
		if err := s.restoreBlob(apply, ref); err != nil {
			return err
		}
	}
	return nil
}

func (s *Stores) restoreBlob(apply func(io.Reader) error, ref checkpoint.BlobRef) error {
	r, err := s.restored.Blobs.Open(s.restored.Context, ref)
	if err != nil {
		return err
	}
	defer r.Close()
	if err := apply(r); err != nil {
		return fmt.Errorf("blob %v: %w", ref.Name, err)
	}
	_, err = io.Copy(io.Discard, r) // to its end, where the sum of the whole is compared
	return err
}

// migrate restores a store whose entries have to be changed, by way of another one.
func (s *Stores) migrate(st *store, list []checkpoint.Part) error {
	old, err := statecow.New(s.opts)
	if err != nil {
		return err
	}
	defer old.Close()
	if err := s.restoreInto(old, list); err != nil {
		return err
	}
	k := st.keyed
	err = nil
	rangeErr := old.Range(s.opts.Groups, func(hash uint32, key, value []byte) bool {
		newKey, newValue, keep, e := k.Migrate(k.Saved[0], hash, key, value)
		if e == nil && keep {
			e = k.Store.Put(hash, newKey, newValue)
		}
		err = e
		return e == nil
	})
	if err == nil {
		err = rangeErr
	}
	if err != nil {
		return fmt.Errorf("task: migration of state %q of operator %q: %w", st.name, st.uid, err)
	}
	return nil
}
