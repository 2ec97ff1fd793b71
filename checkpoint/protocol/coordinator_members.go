package protocol

import "math/bits"

// A memberSet is a set of members of a job of fixed size.
type memberSet struct {
	words []uint64
	size  int
	count int
}

func newMemberSet(size int) memberSet {
	return memberSet{words: make([]uint64, (size+63)/64), size: size}
}

// add reports whether m is new. It must be in range.
func (s *memberSet) add(m Member) bool {
	w, bit := &s.words[m/64], uint64(1)<<(m%64)
	if *w&bit != 0 {
		return false
	}
	*w |= bit
	s.count++
	return true
}

func (s *memberSet) has(m Member) bool { return s.words[m/64]&(1<<(m%64)) != 0 }

func (s *memberSet) full() bool { return s.count == s.size }

// missing is the first member that is not in the set, -1 if all are.
func (s *memberSet) missing() Member {
	for i, w := range s.words {
		if m := 64*i + bits.TrailingZeros64(^w); w != ^uint64(0) && m < s.size {
			return Member(m)
		}
	}
	return -1
}

// union lists the members that are in s or in t, in order.
func (s *memberSet) union(t *memberSet) []Member {
	all := make([]Member, 0, min(s.count+t.count, s.size))
	for i, w := range s.words {
		for w |= t.words[i]; w != 0; w &= w - 1 {
			all = append(all, Member(64*i+bits.TrailingZeros64(w)))
		}
	}
	return all
}
