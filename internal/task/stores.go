package task

import (
	"fmt"
	"sync"

	"github.com/overtake-stream/overtake/checkpoint"
	"github.com/overtake-stream/overtake/checkpoint/protocol"
	"github.com/overtake-stream/overtake/operators"
	"github.com/overtake-stream/overtake/statecow"
)

// Stores is the keyed state of one subtask, and what its checkpoints have of it. It
// implements operators.Stores.
type Stores struct {
	// constant once the subtask runs
	opts       statecow.Options
	migrations map[string]operators.Migration      // by UID
	disk       func(n int) (statecow.Store, error) // makes the n-th store; nil: they are in memory
	restored   Restored

	// subtask goroutine
	list []*store
}

// store is one keyed store.
type store struct {
	uid, name string
	keyed     *operators.KeyedStore
	groups    statecow.Groups

	mu struct {
		sync.Mutex
		base    base                 // what increments may build on
		pending map[protocol.ID]base // snapshots of checkpoints that have not ended
	}
}

// base is a snapshot as a checkpoint has it. A base without a chain is none.
type base struct {
	id    protocol.ID
	mark  statecow.Mark
	chain chain
}

// shot is a snapshot of one store, to be written by another goroutine.
type shot struct {
	store *store
	snap  statecow.Snapshot
	since statecow.Mark
	chain chain // what it is an increment to
	small bool
}

// NewStores returns the stores of a subtask whose operators own these key groups.
func NewStores(o statecow.Options, migrations map[string]operators.Migration, disk func(n int) (statecow.Store, error)) *Stores {
	return &Stores{opts: o, migrations: migrations, disk: disk}
}

// open makes the next store.
func (s *Stores) open(memory bool) (statecow.Store, error) {
	if s.disk == nil || memory {
		return statecow.New(s.opts)
	}
	return s.disk(len(s.list))
}

// Keyed implements operators.Stores.
func (s *Stores) Keyed(uid, name string, memory bool) (*operators.KeyedStore, error) {
	for _, other := range s.list {
		if other.uid == uid && other.name == name {
			return nil, fmt.Errorf("task: operator %q has two stores named %q", uid, name)
		}
	}
	m, err := s.open(memory)
	if err != nil {
		return nil, err
	}
	st := &store{uid: uid, name: name, groups: s.opts.Groups}
	st.keyed = &operators.KeyedStore{Store: m, Saved: s.restored.layouts(uid, name), Migrate: s.migrations[uid]}
	st.keyed.Fill = func(*operators.KeyedStore) error { return s.fill(st) }
	st.mu.pending = map[protocol.ID]base{}
	s.list = append(s.list, st)
	return st.keyed, nil
}

// Pieces implements operators.Stores.
func (s *Stores) Pieces(uid string) [][]byte { return s.restored.Operators[uid].Pieces }

// Restored implements operators.Stores.
func (s *Stores) Restored() bool { return s.restored.From != 0 }

// Close frees all of it.
func (s *Stores) Close() (err error) {
	for _, st := range s.list {
		if e := st.keyed.Store.Close(); err == nil {
			err = e
		}
	}
	s.list = nil
	return err
}

// maintain does some of the work that stores put off; more is left if it says so.
func (s *Stores) maintain() (more bool) {
	for _, st := range s.list {
		m, err := st.keyed.Store.Maintain(64)
		more = more || (m && err == nil)
	}
	return more
}

// smallState is how many bytes of live entries are rather kept in the manifest.
const smallState = 8 << 10

// liveBytes is about how much a full snapshot has; 0 if that is not known.
func (st *store) liveBytes() int64 {
	if m, ok := st.keyed.Store.(*statecow.Map); ok {
		return m.LiveBytes()
	}
	return 0
}

// small reports whether the state is better kept in the manifest. A store on disk only
// estimates what it holds. It belongs to the pause, so it must not do what the store has
// put off.
func (st *store) small() bool {
	m, ok := st.keyed.Store.(*statecow.Map)
	return ok && m.LiveBytes() <= smallState
}

// snapshot freezes all stores for a checkpoint and appends that to shots. It takes constant
// time.
func (s *Stores) snapshot(shots []shot, b protocol.Barrier) ([]shot, error) {
	for _, st := range s.list {
		st.settle(b.Base)
		snap, err := st.keyed.Store.Snapshot()
		if err != nil {
			for _, sh := range shots {
				sh.snap.Release()
			}
			return nil, err
		}
		sh := shot{store: st, snap: snap, small: st.small()}
		st.mu.Lock()
		if base := &st.mu.base; !b.Savepoint && b.Base != 0 && base.id == b.Base && !base.chain.worn(st.liveBytes()) {
			sh.since, sh.chain = base.mark, base.chain
		}
		st.mu.Unlock()
		shots = append(shots, sh)
	}
	return shots, nil
}

// wrote notes what a checkpoint has of the store. Any goroutine may call it.
func (st *store) wrote(id protocol.ID, mark statecow.Mark, c chain) {
	st.mu.Lock()
	defer st.mu.Unlock()
	st.mu.pending[id] = base{id: id, mark: mark, chain: c}
}

// settle makes the snapshot of a checkpoint that is complete the base of increments.
// Those before it can be none any more.
func (st *store) settle(complete protocol.ID) {
	st.mu.Lock()
	defer st.mu.Unlock()
	b, ok := st.mu.pending[complete]
	if !ok {
		return
	}
	st.mu.base = b
	st.keyed.Store.Confirm(b.mark)
	for id, p := range st.mu.pending {
		if id <= complete {
			if id < complete {
				st.keyed.Store.Abandon(p.mark)
			}
			delete(st.mu.pending, id)
		}
	}
}

// drop gives up the snapshot of a checkpoint that was aborted.
func (st *store) drop(id protocol.ID) {
	st.mu.Lock()
	defer st.mu.Unlock()
	if p, ok := st.mu.pending[id]; ok {
		st.keyed.Store.Abandon(p.mark)
		delete(st.mu.pending, id)
	}
}

// rebase makes restored state the base of the next increment, if the checkpoint has
// exactly the store's key groups in one chain.
func (st *store) rebase(from protocol.ID, parts []checkpoint.Part) error {
	if from == 0 || len(parts) != 1 || len(parts[0].Chain) == 0 ||
		parts[0].FirstGroup != st.groups.First || parts[0].EndGroup != st.groups.End {
		return nil
	}
	snap, err := st.keyed.Store.Snapshot()
	if err != nil {
		return err
	}
	defer snap.Release()
	st.mu.Lock()
	defer st.mu.Unlock()
	st.mu.base = base{id: from, mark: snap.Mark()}
	for _, ref := range parts[0].Chain { // what they have was written to the store before the mark
		st.mu.base.chain = append(st.mu.base.chain, written{ref, snap.Mark()})
	}
	st.keyed.Store.Confirm(snap.Mark())
	return nil
}

// names are the blobs that increments build on, or may. Any goroutine may call it while
// the subtask runs.
func (s *Stores) names() map[checkpoint.BlobName]bool {
	names := map[checkpoint.BlobName]bool{}
	for _, st := range s.list {
		st.mu.Lock()
		st.mu.base.chain.names(names)
		for _, p := range st.mu.pending {
			p.chain.names(names)
		}
		st.mu.Unlock()
	}
	return names
}
