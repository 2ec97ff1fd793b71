package statecow

import (
	"bytes"
	"encoding/binary"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"testing"
)

var modelOps = flag.Int("model.ops", 1_000_000, "operations of the random model test")

// world is a map, the model it must equal, and its open snapshots.
type world struct {
	t     testing.TB
	m     *Map
	rng   *rand.Rand
	keys  uint64
	model map[string]string
	open  []shot
	chain []link // written and confirmed, oldest first
	ops   int
}

type shot struct {
	s     Snapshot
	model map[string]string
}

type link struct {
	mark  Mark
	data  []byte
	model map[string]string
}

func (w *world) key() []byte {
	k := w.rng.Uint64N(w.keys)
	if w.m.layout.fixed {
		return binary.LittleEndian.AppendUint64(nil, k)
	}
	return fmt.Appendf(nil, "%0*d", 1+int(k%29), k)
}

func (w *world) value() []byte {
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
	v := make([]byte, n)
	for i := 0; i < n; i += 64 {
		v[i] = byte(w.rng.Uint32())
	}
	return v
}

func (w *world) step() {
	w.ops++
	key := w.key()
	hash := w.m.layout.hash(key)
	switch r := w.rng.IntN(100); {
	case r < 40:
		v := w.value()
		w.must(w.m.Put(hash, key, v))
		w.model[string(key)] = string(v)
	case r < 60:
		w.update(hash, key)
	case r < 80:
		ok, err := w.m.Delete(hash, key)
		w.must(err)
		if _, had := w.model[string(key)]; had != ok {
			w.t.Fatalf("Delete says %v, the model %v", ok, had)
		}
		delete(w.model, string(key))
	default:
		v, ok, _ := w.m.Get(hash, key)
		if want, had := w.model[string(key)]; had != ok || want != string(v) {
			w.t.Fatalf("op %d: Get(%q) = %.20q, %v; want %.20q, %v", w.ops, key, v, ok, want, had)
		}
	}
}

func (w *world) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatalf("op %d: %v; %+v", w.ops, err, w.m.Stats())
	}
}

func (w *world) update(hash uint32, key []byte) {
	v, keep := w.value(), w.rng.IntN(8) > 0
	w.must(w.m.Update(hash, key, func(old []byte, ok bool) ([]byte, bool) {
		if want, had := w.model[string(key)]; had != ok || want != string(old) {
			w.t.Fatalf("Update got %.20q, %v; want %.20q, %v", old, ok, want, had)
		}
		return v, keep
	}))
	if keep {
		w.model[string(key)] = string(v)
	} else {
		delete(w.model, string(key))
	}
}

func (w *world) snapshot() {
	s, err := w.m.Snapshot()
	w.must(err)
	w.open = append(w.open, shot{s, maps.Clone(w.model)})
}

// finish checks a random open snapshot, writes it as the next link of the chain or
// as a full one, and releases it.
func (w *world) finish() {
	i := w.rng.IntN(len(w.open))
	o := w.open[i]
	w.open = append(w.open[:i], w.open[i+1:]...)
	got := map[string]string{}
	w.must(o.s.Entries(0, func(e Entry) error {
		if _, twice := got[string(e.Key)]; twice || e.Deleted {
			w.t.Fatalf("full snapshot has %q twice or deleted", e.Key)
		}
		got[string(e.Key)] = string(e.Value)
		return nil
	}))
	if !maps.Equal(got, o.model) || o.s.Len() != len(o.model) {
		w.t.Fatalf("op %d: snapshot has %d entries, says %d, the model %d", w.ops, len(got), o.s.Len(), len(o.model))
	}
	since := Mark(0)
	if n := len(w.chain); n > 0 && w.rng.IntN(10) > 0 && w.chain[n-1].mark <= o.s.Mark() {
		since = w.chain[n-1].mark
	}
	var b bytes.Buffer
	_, err := o.s.Write(&b, since)
	if err == ErrBase {
		since = 0
		_, err = o.s.Write(&b, 0)
	}
	w.must(err)
	o.s.Release()
	o.s.Release()
	if n := len(w.chain); n > 0 && w.chain[n-1].mark > o.s.Mark() || w.rng.IntN(8) == 0 {
		w.m.Abandon(o.s.Mark())
		return
	}
	if since == 0 {
		w.chain = w.chain[:0]
	}
	w.chain = append(w.chain, link{o.s.Mark(), b.Bytes(), o.model})
	w.m.Confirm(o.s.Mark())
}

// restore reads the chain into maps that split the key groups in parts.
func (w *world) restore(parts int) {
	if len(w.chain) == 0 {
		return
	}
	want := w.chain[len(w.chain)-1].model
	got := map[string]string{}
	for i := range parts {
		o := w.m.opts
		o.Groups = Groups{i * o.MaxGroups / parts, (i + 1) * o.MaxGroups / parts}
		m, err := newMap(w.m.layout, o)
		w.must(err)
		for _, l := range w.chain {
			w.must(m.Restore(bytes.NewReader(l.data)))
		}
		checkIndex(w.t, m)
		w.must(m.Range(o.Groups, func(hash uint32, key, value []byte) bool {
			if !o.Groups.Contains(KeyGroup(hash, o.MaxGroups)) {
				w.t.Fatal("restored a key of another group")
			}
			got[string(key)] = string(value)
			return true
		}))
		w.must(m.Close())
	}
	if !maps.Equal(got, want) {
		w.t.Fatalf("op %d: restored %d entries of a chain of %d, want %d", w.ops, len(got), len(w.chain), len(want))
	}
}

func (w *world) run(ops int) {
	for i := range ops {
		w.step()
		if w.rng.IntN(3000) == 0 && len(w.open) < 5 {
			w.snapshot()
		}
		if len(w.open) > 0 && w.rng.IntN(5000) == 0 {
			w.finish()
		}
		if w.rng.IntN(100_000) == 0 {
			w.restore(1 + w.rng.IntN(4))
		}
		if w.rng.IntN(50_000) == 0 {
			_, err := w.m.Maintain(100)
			w.must(err)
			checkIndex(w.t, w.m)
		}
		if i%(ops/5+1) == 0 { // grow and shrink
			w.keys = []uint64{30_000, 300, 10_000, 3, 100_000}[w.rng.IntN(5)]
		}
	}
	for len(w.open) > 0 {
		w.finish()
	}
	w.restore(3)
	checkIndex(w.t, w.m)
	w.must(w.m.Close())
}

func layouts() map[string]layout {
	return map[string]layout{"variable": {hash: Hash}, "fixed": fixedLayout(8, 8, 8, 8, Hash)}
}

func TestMapEqualsTheModelUnderRandomOperations(t *testing.T) {
	for name, l := range layouts() {
		t.Run(name, func(t *testing.T) {
			m, err := newMap(l, Options{Budget: 256 << 20, SegmentSize: 64 << 10})
			if err != nil {
				t.Fatal(err)
			}
			seed := rand.Uint64()
			t.Logf("seed %d", seed)
			w := &world{t: t, m: m, rng: rand.New(rand.NewPCG(seed, 1)), keys: 1000, model: map[string]string{}}
			w.run(*modelOps / 2 / RaceFactor)
		})
	}
}
