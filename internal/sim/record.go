package sim

import "strings"

// rec is a record.
type rec struct {
	bare
	Fill string
}

// bare is a record without ballast. Split, Seq and Path say which it is.
type bare struct {
	Split uint32 // of which source
	Seq   uint32
	Path  uint64 // the edges it has come by, and at which subtask a broadcast was received
	Key   uint32
	From  uint32 // the subtask that sent it last
	Sent  uint64 // and how many it had sent before: the attempt, then a number
	N     int64  // how many of its key were counted
}

// identity is what tells a record that has arrived from all others.
type identity struct {
	split, seq uint32
	path       uint64
}

func mix(x uint64) uint64 {
	x ^= x >> 31
	x *= 0x9e3779b97f4a7c15
	return x ^ x>>29
}

// by is the path after an edge. at is the receiver, if it was one of all.
func (e *edge) by(path uint64, at int) uint64 {
	if e.pattern != broadcast {
		at = 0
	}
	return mix(path*31 + uint64(e.id)*64 + uint64(at) + 1)
}

// fresh is a record of a source.
func (p *Plan) fresh(split, seq uint32) rec {
	h := mix(uint64(split)<<32 | uint64(seq) + 77)
	r := rec{bare: bare{Split: split, Seq: seq, Key: uint32(h % uint64(p.keys))}}
	r.Fill = p.fill(split, seq)
	return r
}

// fill is ballast; some records span several buffers.
func (p *Plan) fill(split, seq uint32) string {
	if p.maxFill == 0 {
		return ""
	}
	h := mix(uint64(seq)<<16 | uint64(split) + 5)
	n := int(h>>8) % 32
	if p.large {
		n = p.maxFill
	} else if h%16 == 0 {
		n = int(h>>8) % p.maxFill
	}
	return strings.Repeat(string(rune('a'+h%26)), n)
}
