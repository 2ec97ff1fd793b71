package statecow

import (
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"github.com/zeebo/xxh3"
)

// Codec turns values of T into bytes and back. Append appends to dst, as append
// does; Decode may return a view into src. operators.Codec is one.
type Codec[T any] interface {
	Append(dst []byte, v T) []byte
	Decode(src []byte) (T, error)
	Fingerprint() uint64
}

// Clock tells the time to states that expire, in nanoseconds on either clock:
// the wall clock, and the operator's watermark.
type Clock interface {
	Now(ExpiryClock) int64
}

// TTL is how long an entry lives. The zero value means forever.
type TTL struct {
	After  time.Duration // since it was last written
	Clock  ExpiryClock   // default processing time
	OnRead bool          // a read prolongs it too
}

// StateInfo describes a state, for the manifest of a checkpoint.
type StateInfo struct {
	Name   string
	Kind   string // of the handle, with the names of its types
	Layout uint64 // fingerprints of its codecs
}

// States are the named states of an operator in one Store. Handles act on the
// current key and namespace. All belong to the owner of the store.
//
// A stored key is
//
//	| id u32 | part u8 | namespace length uvarint | namespace | [key length uvarint] | key | rest |
//
// with an id that is a hash of the state's name; key length and rest exist in
// parts other than the main one. A stored hash is spread over the hashes of the
// key's group, so that many entries of one key do not share one hash.
type States struct {
	// constant
	store  Store
	clock  Clock
	groups int

	// owner
	states    map[uint32]*state
	hash      uint32
	lo, width uint64 // hashes of the current key's group
	group     int    // lo and width are of this group
	key       []byte
	namespace []byte
}

// state is what all handles have.
type state struct {
	of   *States
	info StateInfo
	id   uint32
	ttl  TTL
	path []byte // scratch: the stored key
	body []byte // scratch: the value
}

const (
	mainPart  = 0
	chunkPart = 1 // of a list, or a slot of a map, by number
	entryPart = 2 // of a map, by its key
	timerPart = 3
)

// NewStates returns the states in a store with this number of key groups. It sets
// the store's expiry. Register states that expire before Restore, which notes
// their deadlines.
func NewStates(store Store, maxGroups int, clock Clock) (*States, error) {
	if maxGroups < 1 || maxGroups > MaxGroupsLimit {
		return nil, fmt.Errorf("statecow: %d key groups: set 1 to %d", maxGroups, MaxGroupsLimit)
	}
	s := &States{store: store, clock: clock, groups: maxGroups, states: map[uint32]*state{}, group: -1}
	return s, nil
}

// SetKey sets the current key and its hash. It shares key until the next SetKey.
func (s *States) SetKey(hash uint32, key []byte) {
	s.hash, s.key = hash, key
}

// SetNamespace sets the current namespace: that of a window, say. Nil is the
// default one. It shares namespace until the next SetNamespace.
func (s *States) SetNamespace(namespace []byte) { s.namespace = namespace }

// spread is a hash in the current key's group for a stored key.
func (s *States) spread(path []byte) uint32 {
	if g := KeyGroup(s.hash, s.groups); g != s.group {
		lo, hi := Groups{g, g + 1}.hashes(s.groups)
		s.group, s.lo, s.width = g, lo, hi-lo
	}
	return uint32(s.lo + xxh3.Hash(path)>>32*s.width>>32)
}

// List is the states registered so far, in no particular order.
func (s *States) List() (list []StateInfo) {
	for _, st := range s.states {
		list = append(list, st.info)
	}
	return list
}

// Verify compares the states of a checkpoint with those registered, and reports
// all whose kind or layout differs. States that are not registered are kept.
func (s *States) Verify(list []StateInfo) error {
	var errs []error
	for _, info := range list {
		st := s.states[stateID(info.Name)]
		if st != nil && st.info != info {
			errs = append(errs, fmt.Errorf("%w: %q was a %s, is now a %s", ErrStateName, info.Name, info.Kind, st.info.Kind))
		}
	}
	return errors.Join(errs...)
}

func stateID(name string) uint32 { return uint32(xxh3.HashString(name)) }

func (s *States) register(name, kind string, ttl TTL, layouts ...uint64) (*state, error) {
	if ttl.After < 0 || ttl.Clock >= expiryClocks {
		return nil, fmt.Errorf("statecow: state %q: TTL %+v: set a positive time and a known clock", name, ttl)
	}
	id := stateID(name)
	if other := s.states[id]; other != nil {
		return nil, fmt.Errorf("%w: %q and %q: rename one", ErrStateName, name, other.info.Name)
	}
	info := StateInfo{Name: name, Kind: kind}
	for _, l := range layouts {
		info.Layout = info.Layout*31 + l
	}
	st := &state{of: s, info: info, id: id, ttl: ttl}
	s.states[id] = st
	if ttl.After > 0 {
		s.store.SetExpiry(s)
	}
	return st, nil
}

// Deadline implements Expiry.
func (s *States) Deadline(key, value []byte) (ExpiryClock, int64) {
	if len(key) < 5 || len(value) < 8 {
		return ProcessingTime, NoDeadline
	}
	st := s.states[binary.LittleEndian.Uint32(key)]
	if st == nil || st.ttl.After == 0 || key[4] == timerPart {
		return ProcessingTime, NoDeadline
	}
	return st.ttl.Clock, int64(binary.LittleEndian.Uint64(value))
}

// Now implements Expiry.
func (s *States) Now(c ExpiryClock) int64 { return s.clock.Now(c) }

// main builds the stored key of the current key and returns its hash.
func (st *state) main() uint32 {
	st.path = st.prefix(mainPart)
	st.path = append(st.path, st.of.key...)
	return st.of.spread(st.path)
}

// part builds a stored key of another part, with what append appends.
func (st *state) part(part byte, rest []byte) uint32 {
	st.path = st.prefix(part)
	st.path = binary.AppendUvarint(st.path, uint64(len(st.of.key)))
	st.path = append(st.path, st.of.key...)
	st.path = append(st.path, rest...)
	return st.of.spread(st.path)
}

// numbered builds the stored key of a numbered part.
func (st *state) numbered(n uint32) uint32 {
	var b [4]byte
	binary.LittleEndian.PutUint32(b[:], n)
	return st.part(chunkPart, b[:])
}

func (st *state) prefix(part byte) []byte {
	b := binary.LittleEndian.AppendUint32(st.path[:0], st.id)
	b = append(b, part)
	b = binary.AppendUvarint(b, uint64(len(st.of.namespace)))
	return append(b, st.of.namespace...)
}

// begin starts a value with its deadline.
func (st *state) begin() []byte {
	if st.ttl.After == 0 {
		return st.body[:0]
	}
	return binary.LittleEndian.AppendUint64(st.body[:0], uint64(st.deadline()))
}

// deadline is that of something written now.
func (st *state) deadline() int64 {
	now := st.of.clock.Now(st.ttl.Clock)
	if at := now + int64(st.ttl.After); at > now {
		return at
	}
	return NoDeadline - 1
}

// strip takes the deadline off a stored value; ok is false if it has passed.
func (st *state) strip(value []byte) (body []byte, ok bool) {
	if st.ttl.After == 0 {
		return value, true
	}
	if len(value) < 8 || int64(binary.LittleEndian.Uint64(value)) <= st.of.clock.Now(st.ttl.Clock) {
		return nil, false
	}
	return value[8:], true
}

// get reads the value stored at st.path.
func (st *state) get(hash uint32) ([]byte, bool, error) {
	v, ok, err := st.of.store.Get(hash, st.path)
	if err != nil || !ok {
		return nil, false, err
	}
	body, ok := st.strip(v)
	if ok && st.ttl.After > 0 && st.ttl.OnRead {
		body, err = st.prolong(hash, body)
	}
	return body, ok, err
}

// prolong writes a value again with a new deadline.
func (st *state) prolong(hash uint32, body []byte) ([]byte, error) {
	st.body = append(st.begin(), body...)
	return st.body[8:], st.of.store.Put(hash, st.path, st.body)
}

// put stores st.body at st.path.
func (st *state) put(hash uint32) error { return st.of.store.Put(hash, st.path, st.body) }

// remove deletes what is stored at st.path.
func (st *state) remove(hash uint32) error {
	_, err := st.of.store.Delete(hash, st.path)
	return err
}
