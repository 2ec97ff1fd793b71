package statecow_test

import (
	"bytes"
	"fmt"
	"maps"
	"testing"

	"pgregory.net/rapid"

	"github.com/overtake-stream/overtake/statecow"
)

// machine is a small map against a model; failures shrink to a few operations.
type machine struct {
	m     *statecow.Map
	model map[string]string
	open  []heldSnapshot
	chain []chainLink
}

type heldSnapshot struct {
	s     statecow.Snapshot
	model map[string]string
}

type chainLink struct {
	data  []byte
	mark  statecow.Mark
	model map[string]string
}

func (x *machine) key(t *rapid.T) []byte {
	return fmt.Appendf(nil, "k%d", rapid.IntRange(0, 20).Draw(t, "key"))
}

func (x *machine) put(t *rapid.T) {
	k, v := x.key(t), bytes.Repeat([]byte("v"), rapid.IntRange(0, 30).Draw(t, "size"))
	must(t, x.m.Put(statecow.Hash(k), k, v))
	x.model[string(k)] = string(v)
}

func (x *machine) delete(t *rapid.T) {
	k := x.key(t)
	_, had := x.model[string(k)]
	ok, err := x.m.Delete(statecow.Hash(k), k)
	must(t, err)
	if ok != had {
		t.Fatalf("Delete(%s) = %v", k, ok)
	}
	delete(x.model, string(k))
}

// churn fills segments, so that compaction and reuse happen.
func (x *machine) churn(t *rapid.T) {
	k := x.key(t)
	for i := range 25 {
		must(t, x.m.Put(statecow.Hash(k), k, bytes.Repeat([]byte{byte(i)}, 9000+100*i)))
	}
	must(t, x.m.Put(statecow.Hash(k), k, nil))
	x.model[string(k)] = ""
}

func (x *machine) snapshot(t *rapid.T) {
	if len(x.open) < 4 {
		s, err := x.m.Snapshot()
		must(t, err)
		x.open = append(x.open, heldSnapshot{s, maps.Clone(x.model)})
	}
}

func (x *machine) finish(t *rapid.T) {
	if len(x.open) == 0 {
		return
	}
	i := rapid.IntRange(0, len(x.open)-1).Draw(t, "snapshot")
	h := x.open[i]
	x.open = append(x.open[:i], x.open[i+1:]...)
	defer h.s.Release()
	last := statecow.Mark(0)
	if n := len(x.chain); n > 0 {
		last = x.chain[n-1].mark
	}
	if h.s.Mark() < last || rapid.Bool().Draw(t, "abandon") {
		x.m.Abandon(h.s.Mark())
		return
	}
	var b bytes.Buffer
	if _, err := h.s.Write(&b, last); err == statecow.ErrBase {
		b.Reset()
		_, err = h.s.Write(&b, 0)
		must(t, err)
		x.chain = nil
	} else {
		must(t, err)
	}
	x.chain = append(x.chain, chainLink{b.Bytes(), h.s.Mark(), h.model})
	x.m.Confirm(h.s.Mark())
}

func (x *machine) restore(t *rapid.T) {
	if len(x.chain) == 0 {
		return
	}
	m, err := statecow.New(statecow.Options{Budget: 8 << 20})
	must(t, err)
	for _, l := range x.chain {
		must(t, m.Restore(bytes.NewReader(l.data)))
	}
	if want, got := x.chain[len(x.chain)-1].model, contents(t, m); !maps.Equal(got, want) {
		t.Fatalf("restored %v, want %v", got, want)
	}
	must(t, m.Close())
}

func (x *machine) check(t *rapid.T) {
	if got := contents(t, x.m); !maps.Equal(got, x.model) || x.m.Len() != len(x.model) {
		t.Fatalf("map holds %v, want %v", got, x.model)
	}
	for i, h := range x.open {
		got := map[string]string{}
		must(t, h.s.Entries(0, func(e statecow.Entry) error { got[string(e.Key)] = string(e.Value); return nil }))
		if !maps.Equal(got, h.model) {
			t.Fatalf("snapshot %d holds %v, want %v", i, got, h.model)
		}
	}
}

func contents(t *rapid.T, m *statecow.Map) map[string]string {
	got := map[string]string{}
	must(t, m.Range(statecow.Groups{First: 0, End: 128}, func(_ uint32, k, v []byte) bool { got[string(k)] = string(v); return true }))
	return got
}

func must(t interface {
	Helper()
	Fatal(...any)
}, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestMapEqualsAModelInFewOperations(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m, err := statecow.New(statecow.Options{Budget: 8 << 20})
		must(t, err)
		x := &machine{m: m, model: map[string]string{}}
		defer func() {
			for _, h := range x.open {
				h.s.Release()
			}
			_ = m.Close()
		}()
		t.Repeat(map[string]func(*rapid.T){
			"put": x.put, "put again": x.put, "delete": x.delete, "churn": x.churn,
			"snapshot": x.snapshot, "finish": x.finish, "restore": x.restore, "": x.check,
		})
	})
}
