package lsm

import "github.com/overtake-stream/overtake/statecow"

// maxBases is how many snapshots may wait for Confirm or Abandon. When one more is
// taken, the oldest that waits is abandoned, so that a job that never confirms
// does not keep records of deletions forever.
const maxBases = 16

// bases are the marks since which an increment may be asked for, in ascending order.
type bases struct {
	list  []statecow.Mark
	known bool // the first was confirmed
}

func (b *bases) add(mark statecow.Mark) {
	if len(b.list) == maxBases {
		if i := b.firstWaiting(); i < len(b.list) {
			b.remove(i)
		}
	}
	b.list = append(b.list, mark)
}

func (b *bases) firstWaiting() int {
	if b.known {
		return 1
	}
	return 0
}

func (b *bases) remove(i int) { b.list = append(b.list[:i], b.list[i+1:]...) }

func (b *bases) find(mark statecow.Mark) int {
	for i, m := range b.list {
		if m == mark {
			return i
		}
	}
	return -1
}

// confirm makes mark the oldest base and reports whether it was one.
func (b *bases) confirm(mark statecow.Mark) bool {
	i := b.find(mark)
	if i < 0 {
		return false
	}
	b.list = append(b.list[:0], b.list[i:]...)
	b.known = true
	return true
}

// abandon takes mark off the list, if it was not confirmed.
func (b *bases) abandon(mark statecow.Mark) {
	if i := b.find(mark); i >= b.firstWaiting() {
		b.remove(i)
	}
}
