package statecow

// grow does a share of the index's growth after an insertion. spare is how many
// bytes more the index may use.
func (x *index) grow(spare int64) {
	if x.target == x.n {
		if float64(x.count) <= maxLoad*float64(x.n) {
			return
		}
		x.beginGrowth(spare)
	}
	if x.target > x.n && x.count%stepEvery == 0 {
		x.moveRight(moveAtOnce)
	} else if x.target < x.n {
		x.moveLeft(moveAtOnce)
	}
}

// shrink does a share of the index's shrinking after a deletion.
func (x *index) shrink() {
	if x.target == x.n {
		if x.n <= minSlots || float64(x.count) >= minLoad*float64(x.n) {
			return
		}
		x.beginShrink()
	}
	if x.target < x.n {
		x.moveLeft(moveAtOnce)
	} else if x.target > x.n && x.count%stepEvery == 0 {
		x.moveRight(moveAtOnce)
	}
}

// step moves some entries if a move is under way, and reports whether it still is.
func (x *index) step() bool {
	if x.target > x.n {
		x.moveRight(moveAtOnce)
	} else if x.target < x.n {
		x.moveLeft(moveAtOnce)
	}
	return x.target != x.n
}

func (x *index) beginGrowth(spare int64) {
	target := x.n + x.n/5
	if x.n < smallIndex {
		target = 2 * x.n
	}
	if int64(target+slack-x.limit)*slotSize > spare || x.extend(target+slack) != nil {
		return // denser for now; room refuses when it gets too dense
	}
	x.cursor = x.end()
	x.above, x.target = uint64(target), target
}

// reserve makes an empty index large enough for n entries at once, and reports whether
// it is.
func (x *index) reserve(n int, spare int64) bool {
	slots := int(float64(n)/(maxLoad-0.02)) + minSlots
	if slots > 1<<bucketShift {
		slots = roundUp(slots, 1<<bucketShift) // else the last bucket might be too small for its share
	}
	if x.count > 0 || x.target != x.n {
		return false
	}
	if slots <= x.n {
		return true
	}
	if int64(slots+slack-x.limit)*slotSize > spare || x.extend(slots+slack) != nil {
		return false
	}
	x.n, x.target = slots, slots
	x.below, x.above = uint64(slots), uint64(slots)
	return true
}

// end is the first slot after the last entry.
func (x *index) end() int {
	pos := min(x.n, x.limit-1)
	for pos < x.limit && *x.at(pos) != 0 {
		pos++
	}
	return pos
}

// moveRight moves the highest entries below the frontier to their new homes: n of
// them, and all that have the hash of the last.
func (x *index) moveRight(n int) {
	moved := x.scratch[:0]
	pos, stop := x.cursor-1, max(0, x.cursor-4*n)
	for ; pos >= 0; pos-- {
		s := *x.at(pos)
		last := len(moved) > 0 && s>>32 == moved[len(moved)-1]>>32
		if !last && (len(moved) >= n || pos < stop) {
			break
		}
		if s == 0 || s>>32 >= x.frontier {
			continue
		}
		moved = append(moved, s)
		*x.at(pos) = 0
	}
	x.scratch = moved
	if len(moved) > 0 {
		if !x.fits(moved) {
			for i := len(moved) - 1; i >= 0; i-- {
				x.place(moved[i]) // where it was; the next step tries again
			}
			return
		}
		x.frontier = moved[len(moved)-1] >> 32
	}
	x.cursor = pos + 1
	for i := len(moved) - 1; i >= 0; i-- {
		x.place(moved[i])
	}
	if x.cursor == 0 {
		x.finish(x.above)
	}
}

// fits makes sure that there are slots for entries whose highest is first, once
// the frontier is below them.
func (x *index) fits(moved []uint64) bool {
	home := int(moved[0] >> 32 * x.above >> 32)
	need := max(x.last, home) + len(moved) + 2
	return need <= x.limit || x.extend(need+slack) == nil
}

// place puts an entry where it belongs.
func (x *index) place(s uint64) { x.shift(x.seek(scrambled(s>>32)), s) }

func (x *index) finish(slots uint64) {
	x.n = x.target
	x.below, x.above, x.frontier = slots, slots, noFrontier
}

func (x *index) beginShrink() {
	target := max(minSlots, int(float64(x.count)/((minLoad+maxLoad)/2)))
	x.above, x.below = x.below, uint64(target)
	x.target, x.cursor, x.frontier = target, 0, 0
}

// moveLeft moves the lowest entries from the frontier on to their new homes: n of
// them and all that follow without a gap, since a gap would hide them.
func (x *index) moveLeft(n int) {
	moved := x.scratch[:0]
	pos, end := x.cursor, x.limit
	for stop := pos + 4*n; pos < end; pos++ {
		s := *x.at(pos)
		if s == 0 {
			if len(moved) >= n || pos >= stop {
				break
			}
			continue
		}
		if s>>32 < x.frontier {
			continue
		}
		moved = append(moved, s)
		*x.at(pos) = 0
	}
	x.cursor, x.scratch = pos, moved
	if len(moved) > 0 {
		x.frontier = moved[len(moved)-1]>>32 + 1
	}
	for _, s := range moved {
		x.place(s)
	}
	if pos == end {
		x.finish(x.below)
		x.truncate()
	}
}

// truncate gives back the memory behind the last slot.
func (x *index) truncate() {
	x.last = x.end()
	limit := roundUp(x.last+slack, 4096/slotSize)
	if limit >= x.limit {
		return
	}
	x.region.decommit(limit*slotSize, (x.limit-limit)*slotSize)
	x.limit = limit
}
