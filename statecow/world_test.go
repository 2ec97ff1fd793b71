package statecow

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"testing"
)

// world is a map, the reference that it must equal, and its open snapshots.
type world struct {
	t     testing.TB
	m     *Map
	rng   *rand.Rand
	table *keyTable
	keys  int // that are used at present
	model *reference
	open  []shot
	chain []link // written and confirmed, oldest first
	ops   int
	left  int // links of the chain that were left out

	value   []byte // scratch
	seen    []uint64
	buffers []*bytes.Buffer // for written snapshots
}

type shot struct {
	s     Snapshot
	model *reference
}

type link struct {
	mark  Mark
	data  *bytes.Buffer
	model *reference
}

func newWorld(t testing.TB, l layout, rng *rand.Rand) *world {
	m, err := newMap(l, Options{Budget: 256 << 20, SegmentSize: 64 << 10})
	if err != nil {
		t.Fatal(err)
	}
	return &world{
		t: t, m: m, rng: rng, table: newKeyTable(&l), keys: 1000, model: newReference(),
		value: make([]byte, 1<<20), seen: make([]uint64, referenceKeys/64+1),
	}
}

func (w *world) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatalf("op %d: %v; %+v", w.ops, err, w.m.Stats())
	}
}

// draw makes a value, which is valid until the next, and its seed.
func (w *world) draw() ([]byte, uint64) {
	n := 8
	if !w.m.layout.fixed {
		switch r := w.rng.IntN(1000); {
		case r < 980:
			n = w.rng.IntN(40)
		case r < 999:
			n = w.rng.IntN(3000)
		default:
			n = w.rng.IntN(200_000)
		}
	}
	seed := newSeed(w.rng, n)
	fillValue(w.value[:n], seed)
	return w.value[:n], seed
}

// is fails unless what the map has of key k is what it should have.
func (w *world) is(what string, k int, v []byte, ok bool) {
	if seed := w.model.seeds[k]; ok != (seed != 0) || ok && !isValue(v, seed) {
		w.t.Fatalf("op %d: %s of %q is %.20q of %d bytes, %v; want %v, size %d", w.ops, what, w.table.keys[k], v, len(v), ok, seed != 0, sizeOf(seed))
	}
}

func (w *world) step() {
	w.ops++
	k := w.rng.IntN(w.keys)
	key, hash := w.table.keys[k], w.table.hashes[k]
	switch r := w.rng.IntN(100); {
	case r < 35:
		v, seed := w.draw()
		w.must(w.m.Put(hash, key, v))
		w.model.set(k, seed)
	case r < 40:
		w.upsert(k)
	case r < 60:
		w.update(k)
	case r < 80:
		ok, err := w.m.Delete(hash, key)
		w.must(err)
		if had := w.model.seeds[k] != 0; had != ok {
			w.t.Fatalf("op %d: Delete says %v, the model %v", w.ops, ok, had)
		}
		w.model.delete(k)
	default:
		v, ok, _ := w.m.Get(hash, key)
		w.is("Get", k, v, ok)
	}
}

func (w *world) update(k int) {
	v, seed := w.draw()
	keep := w.rng.IntN(8) > 0
	w.must(w.m.Update(w.table.hashes[k], w.table.keys[k], func(old []byte, ok bool) ([]byte, bool) {
		w.is("Update", k, old, ok)
		return v, keep
	}))
	if keep {
		w.model.set(k, seed)
	} else {
		w.model.delete(k)
	}
}

func (w *world) upsert(k int) {
	v, seed := w.draw()
	dst, added, err := w.m.Upsert(w.table.hashes[k], w.table.keys[k], len(v))
	w.must(err)
	if had := w.model.seeds[k] != 0; added == had || len(dst) != len(v) {
		w.t.Fatalf("op %d: Upsert of %d bytes gives %d, added %v, the model had it: %v", w.ops, len(v), len(dst), added, had)
	}
	copy(dst, v)
	w.model.set(k, seed)
}

func (w *world) snapshot() {
	s, err := w.m.Snapshot()
	w.must(err)
	w.open = append(w.open, shot{s, w.model.clone()})
}

// finish checks a random open snapshot, writes it as the next link of the chain or
// as a full one, and releases it.
func (w *world) finish() {
	i := w.rng.IntN(len(w.open))
	o := w.open[i]
	w.open = slices.Delete(w.open, i, i+1)
	c := w.compare(o.model)
	w.must(o.s.Entries(0, func(e Entry) error {
		if e.Deleted {
			w.t.Fatalf("full snapshot has %q deleted", e.Key)
		}
		c.entry(e.Hash, e.Key, e.Value)
		return nil
	}))
	if c.end(); o.s.Len() != o.model.count {
		w.t.Fatalf("op %d: snapshot says %d entries, the model %d", w.ops, o.s.Len(), o.model.count)
	}
	since := Mark(0)
	if n := len(w.chain); n > 0 && w.rng.IntN(10) > 0 && w.chain[n-1].mark <= o.s.Mark() {
		since = w.chain[n-1].mark
	}
	b := w.buffer()
	_, err := o.s.Write(b, since)
	if err == ErrBase {
		since = 0
		_, err = o.s.Write(b, 0)
	}
	w.must(err)
	oldest := o.s.(*snapshot).Oldest()
	o.s.Release()
	o.s.Release()
	if n := len(w.chain); n > 0 && w.chain[n-1].mark > o.s.Mark() || w.rng.IntN(8) == 0 {
		w.m.Abandon(o.s.Mark())
		w.buffers = append(w.buffers, b)
		return
	}
	if since == 0 {
		for _, l := range w.chain {
			w.buffers = append(w.buffers, l.data)
		}
		w.chain = w.chain[:0]
	}
	for len(w.chain) > 0 && w.chain[0].mark <= oldest { // of what it has nothing is left
		w.buffers = append(w.buffers, w.chain[0].data)
		w.chain = w.chain[1:]
		w.left++
	}
	w.chain = append(w.chain, link{o.s.Mark(), b, o.model})
	w.m.Confirm(o.s.Mark())
}

func (w *world) buffer() *bytes.Buffer {
	last := len(w.buffers) - 1
	if last < 0 {
		return new(bytes.Buffer)
	}
	b := w.buffers[last]
	w.buffers = w.buffers[:last]
	b.Reset()
	return b
}

// load is a new map of some groups with what the chain holds.
func (w *world) load(g Groups) *Map {
	o := w.m.opts
	o.Groups = g
	m, err := newMap(w.m.layout, o)
	w.must(err)
	c, single := m.RestoreChain(Groups{0, o.MaxGroups}), w.rng.IntN(2) == 0
	for _, l := range w.chain {
		if single {
			w.must(m.Restore(bytes.NewReader(l.data.Bytes())))
		} else {
			w.must(c.Apply(bytes.NewReader(l.data.Bytes())))
		}
	}
	w.must(c.Close())
	checkIndex(w.t, m)
	return m
}

// restore reads the chain into maps that split the key groups in parts.
func (w *world) restore(parts int) {
	if len(w.chain) == 0 {
		return
	}
	c := w.compare(w.chain[len(w.chain)-1].model)
	for i := range parts {
		g := Groups{i * w.m.opts.MaxGroups / parts, (i + 1) * w.m.opts.MaxGroups / parts}
		m := w.load(g)
		w.must(m.Range(g, func(hash uint32, key, value []byte) bool {
			if !g.Contains(KeyGroup(hash, w.m.opts.MaxGroups)) {
				w.t.Fatal("restored a key of another group")
			}
			c.entry(hash, key, value)
			return true
		}))
		w.must(m.Close())
	}
	c.end()
}

// recover goes on with a map that was restored from the chain.
func (w *world) recover() {
	for len(w.open) > 0 {
		w.finish()
	}
	if len(w.chain) == 0 {
		return
	}
	m := w.load(w.m.opts.Groups)
	w.must(w.m.Close())
	w.m = m
	last := &w.chain[len(w.chain)-1]
	w.model = last.model.clone()
	s, err := m.Snapshot()
	w.must(err)
	for i := range w.chain { // what they have was written again, before that
		w.chain[i].mark = s.Mark()
	}
	m.Confirm(s.Mark())
	s.Release()
}

// look compares all of the map, or the key groups of a range, with the model.
func (w *world) look() {
	checkIndex(w.t, w.m)
	c := w.compare(w.model)
	w.must(w.m.Range(w.m.opts.Groups, func(hash uint32, key, value []byte) bool {
		c.entry(hash, key, value)
		return true
	}))
	c.end()
	first := w.rng.IntN(w.m.opts.MaxGroups)
	g := Groups{first, first + 1 + w.rng.IntN(w.m.opts.MaxGroups-first)}
	n := 0
	for k, seed := range w.model.seeds {
		if seed != 0 && g.Contains(KeyGroup(w.table.hashes[k], w.m.opts.MaxGroups)) {
			n++
		}
	}
	c = w.compare(w.model)
	w.must(w.m.Range(g, func(hash uint32, key, value []byte) bool {
		c.entry(hash, key, value)
		return true
	}))
	if c.n != n {
		w.t.Fatalf("op %d: Range of %v has %d entries, want %d", w.ops, g, c.n, n)
	}
}
