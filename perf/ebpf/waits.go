package ebpf

import (
	"slices"
	"time"
)

// pause is a time in which a thread could have run and had no processor.
type pause struct {
	from, to int64
	waker    uint32 // the thread that has ended its sleep, 0: it did not sleep, or nobody knows
}

// waits are those of each thread, in order.
type waits map[uint32][]pause

const maxWaits = 1 << 14 // of a thread

// full reports whether add would forget some.
func (w waits) full(thread uint32) bool { return len(w[thread]) >= maxWaits }

// add adds one, and returns how many it forgets for it.
func (w waits) add(thread uint32, next pause) (forgotten uint64) {
	list := append(w[thread], next)
	// nearly in order: see Matcher
	for i := len(list) - 1; i > 0 && list[i].to < list[i-1].to; i-- {
		list[i], list[i-1] = list[i-1], list[i]
	}
	if len(list) > maxWaits {
		list, forgotten = slices.Delete(list, 0, maxWaits/2), maxWaits/2
	}
	w[thread] = list
	return forgotten
}

// between is for how long what a thread did at the end of a time was held up by waits within that
// time: its own, and before it was woken those of the thread that has woken it. A Go
// program's work goes from thread to thread that way.
func (w waits) between(thread uint32, from, to int64) (sum time.Duration) {
	for from < to {
		x, ok := w.last(thread, to)
		if !ok || x.to <= from {
			break
		}
		begin := max(x.from, from)
		sum += time.Duration(min(x.to, to) - begin)
		if to = begin; x.waker != 0 {
			thread = x.waker
		}
	}
	return sum
}

// last is a thread's last wait that began before a time.
func (w waits) last(thread uint32, before int64) (pause, bool) {
	list := w[thread]
	i, _ := slices.BinarySearchFunc(list, before, func(x pause, t int64) int { return int(min(1, max(-1, x.from-t))) })
	if i == 0 {
		return pause{}, false
	}
	return list[i-1], true
}

// prune forgets what ended before a time.
func (w waits) prune(before int64) {
	for thread, list := range w {
		switch n := firstAfter(list, before); {
		case n == len(list):
			delete(w, thread)
		case n >= 64: // a few are cheaper to keep
			w[thread] = slices.Delete(list, 0, n)
		}
	}
}

// firstAfter is the index of the first wait that ended after a time.
func firstAfter(list []pause, t int64) int {
	i, _ := slices.BinarySearchFunc(list, t+1, func(x pause, t int64) int { return int(min(1, max(-1, x.to-t))) })
	return i
}
