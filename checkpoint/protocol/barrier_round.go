package protocol

import (
	"cmp"
	"slices"
)

// round is a checkpoint that has begun here.
type round struct {
	Barrier
	unaligned bool
	started   bool
	waiting   []bool // channels whose barrier is to come
	left      int    // of them
	blocked   []int
}

// refuses says why a checkpoint cannot begin or go on here.
func (m *Barriers) refuses(id ID) Why {
	switch {
	case id == 0:
		return Unknown
	case m.find(id) != nil:
		return WhyNone
	case slices.Contains(m.aborted, id):
		return Aborted
	case id <= m.floor:
		return Stale
	}
	return WhyNone
}

// refusesFrom says why a barrier cannot come from a channel.
func (m *Barriers) refusesFrom(channel int, id ID) Why {
	switch {
	case uint(channel) >= uint(len(m.ended)) || id == 0:
		return Unknown
	case m.ended[channel]:
		return AfterEnd
	case id == m.last[channel]:
		return Duplicate
	case id < m.last[channel]:
		return Stale
	}
	return WhyNone
}

// passed reports whether a channel that has not ended has sent a later barrier.
func (m *Barriers) passed(id ID) bool {
	for ch, last := range m.last {
		if last > id && !m.ended[ch] {
			return true
		}
	}
	return false
}

func (m *Barriers) find(id ID) *round {
	for _, r := range m.rounds {
		if r.ID == id {
			return r
		}
	}
	return nil
}

// open returns the round of a barrier, a new one if need be.
func (m *Barriers) open(b Barrier) *round {
	if r := m.find(b.ID); r != nil {
		return r
	}
	r := &round{Barrier: b, waiting: make([]bool, len(m.ended))}
	for ch, ended := range m.ended {
		if !ended {
			r.waiting[ch] = true
			r.left++
		}
	}
	i, _ := slices.BinarySearchFunc(m.rounds, b.ID, func(r *round, id ID) int { return cmp.Compare(r.ID, id) })
	m.rounds = slices.Insert(m.rounds, i, r)
	return r
}

// overtake makes a round unaligned, and those before it, which start first. turned says
// that barriers of one may wait in order behind data.
func (m *Barriers) overtake(dst []Action, newest *round) (_ []Action, turned bool) {
	for _, r := range m.rounds {
		if r.ID <= newest.ID && !r.started && r.Mode != AtLeastOnce {
			dst = m.overtakeOne(dst, r)
			turned = turned || r.Mode != Unaligned
		}
	}
	return dst, turned
}

func (m *Barriers) overtakeOne(dst []Action, r *round) []Action {
	r.unaligned = true
	dst = m.start(dst, r)
	for ch, waits := range r.waiting {
		if waits {
			dst = append(dst, Action{Kind: Capture, ID: r.ID, Channel: ch})
		}
	}
	return dst
}

// start starts a round and lets its blocked channels go on.
func (m *Barriers) start(dst []Action, r *round) []Action {
	r.started = true
	dst = append(dst, Action{Kind: Start, ID: r.ID, Overtake: r.unaligned, Barrier: r.Barrier})
	return m.unblock(dst, r)
}

func (m *Barriers) unblock(dst []Action, r *round) []Action {
	for _, ch := range r.blocked {
		dst = append(dst, Action{Kind: Unblock, ID: r.ID, Channel: ch})
	}
	r.blocked = nil
	return dst
}

// deliver notes that a round's barrier is here on a channel, or never needed.
func (m *Barriers) deliver(dst []Action, r *round, ch int) []Action {
	if !r.waiting[ch] {
		return dst
	}
	r.waiting[ch] = false
	r.left--
	switch {
	case r.unaligned:
		dst = append(dst, Action{Kind: Captured, ID: r.ID, Channel: ch})
	case r.left > 0 && r.Mode != AtLeastOnce && !m.ended[ch]:
		r.blocked = append(r.blocked, ch)
		dst = append(dst, Action{Kind: Block, ID: r.ID, Channel: ch})
	}
	if r.left == 0 {
		dst = m.finish(dst, r)
	}
	return dst
}

// finish ends a round whose barriers are all here.
func (m *Barriers) finish(dst []Action, r *round) []Action {
	if !r.started {
		dst = m.start(dst, r)
	}
	m.remove(r)
	m.raise(r.ID)
	return append(dst, Action{Kind: Done, ID: r.ID})
}

// supersede cancels the rounds whose barrier a channel has passed.
func (m *Barriers) supersede(dst []Action, ch int, id ID) []Action {
	for _, r := range slices.Clone(m.rounds) {
		if r.ID < id && r.waiting[ch] {
			dst = m.cancel(dst, r, Superseded)
		}
	}
	return dst
}

func (m *Barriers) cancel(dst []Action, r *round, why Why) []Action {
	dst = m.unblock(dst, r)
	m.remove(r)
	m.forget(r.ID)
	return append(dst, Action{Kind: Cancelled, ID: r.ID, Why: why})
}

func (m *Barriers) remove(r *round) {
	m.rounds = slices.DeleteFunc(m.rounds, func(o *round) bool { return o == r })
}

// forget remembers that a checkpoint is not to begin again.
func (m *Barriers) forget(id ID) {
	if id <= m.floor {
		return
	}
	i, _ := slices.BinarySearch(m.aborted, id)
	m.aborted = slices.Insert(m.aborted, i, id)
	if len(m.aborted) > maxAborted {
		m.raise(m.aborted[0])
	}
}

// raise says that everything up to id has ended, but for open rounds.
func (m *Barriers) raise(id ID) {
	m.floor = max(m.floor, id)
	i, found := slices.BinarySearch(m.aborted, m.floor)
	if found {
		i++
	}
	m.aborted = slices.Delete(m.aborted, 0, i)
}
