package sim

// judge compares the committed output with what it has to be. par is the parallelism at
// the end; that of receivers of a broadcast has never been another.
func (w *world) judge(par []int) {
	want := map[identity]uint32{}    // to their keys
	counted := map[uint32][]uint32{} // the numbers of the records of each key
	var walk func(n *node, id identity, key uint32)
	walk = func(n *node, id identity, key uint32) {
		if n.kind == counter {
			counted[key] = append(counted[key], id.seq)
			if w.plan.final {
				return
			}
		}
		if n.kind == sink {
			want[id] = key
			return
		}
		w.plan.forward(n, par, id, func(to *node, id identity) { walk(to, id, key) })
	}
	for _, n := range w.plan.graph.nodes {
		for split, length := range n.lengths {
			for seq := range length {
				v := w.plan.fresh(uint32(n.id*100+split), uint32(seq))
				walk(n, identity{v.Split, v.Seq, 0}, v.Key)
			}
		}
	}
	total := w.plan.totals(counted)
	if w.plan.final {
		w.expectTotals(par, total, want)
	}
	w.compare(want, total)
}

// forward follows a record over the edges that leave a node.
func (p *Plan) forward(n *node, par []int, id identity, visit func(to *node, id identity)) {
	for _, e := range n.outputs {
		copies := 1
		if e.pattern == broadcast {
			copies = par[e.to.id]
		}
		for at := range copies {
			visit(e.to, identity{id.split, id.seq, e.by(id.path, at)})
		}
	}
}

// expectTotals expects one record for each key.
func (w *world) expectTotals(par []int, total map[uint32]int64, want map[identity]uint32) {
	for _, n := range w.plan.graph.nodes {
		if n.kind != counter {
			continue
		}
		for key := range total {
			w.plan.forward(n, par, identity{totalSplit, key, 0}, func(_ *node, id identity) { want[id] = key })
		}
	}
}

func (w *world) compare(want map[identity]uint32, total map[uint32]int64) {
	got := map[identity]int{}
	numbers := map[uint32]map[int64]int{} // by key
	for _, v := range w.plan.whole(w.sink.records) {
		id := identity{v.Split, v.Seq, v.Path}
		got[id]++
		if _, expected := want[id]; !expected {
			w.fail("record %+v was never sent", v)
		}
		if numbers[v.Key] == nil {
			numbers[v.Key] = map[int64]int{}
		}
		numbers[v.Key][v.N]++
	}
	for id := range want {
		if n := got[id]; n == 0 || (n > 1 && w.plan.exactly) {
			w.fail("record %d/%d is in the output %d times", id.split, id.seq, n)
		}
	}
	for key, n := range total {
		w.compareNumbers(key, n, numbers[key], len(want))
	}
}

// compareNumbers looks at the counts of one key.
func (w *world) compareNumbers(key uint32, n int64, got map[int64]int, _ int) {
	switch {
	case w.plan.final && w.plan.exactly:
		for value := range got {
			if value != n {
				w.fail("key %d was counted %d times, want %d", key, value, n)
			}
		}
	case w.plan.final:
		most := int64(0)
		for value := range got {
			most = max(most, value)
		}
		if most < n {
			w.fail("key %d was counted %d times, want %d at least", key, most, n)
		}
	case w.plan.exactly:
		for i := int64(1); i <= n; i++ {
			if got[i] == 0 || got[i] != got[1] {
				w.fail("key %d: count %d is in the output %d times", key, i, got[i])
			}
		}
	}
}
