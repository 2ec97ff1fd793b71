package state

import (
	"math/rand/v2"
	"time"

	"github.com/overtake-stream/overtake/perf"
)

// mix is a bijection that makes key numbers look random (the finaliser of MurmurHash3,
// with the constants of D. Stafford's variant 13).
func mix(i uint64) uint64 {
	i ^= i >> 30
	i *= 0xbf58476d1ce4e5b9
	i ^= i >> 27
	i *= 0x94d049bb133111eb
	return i ^ i>>31
}

// drawn draws keys of a store with n of them.
type drawn struct {
	rng *rand.Rand
	n   uint64

	skewed func(n uint64) uint64 // the number of the nth key; nil: all are as likely
	turn   uint64                // how many were drawn of those
	first  int64                 // how many of them were key number 0
}

func draw(seed uint64, n int64) *drawn {
	return &drawn{rng: rand.New(rand.NewPCG(seed, 0x6f7665727461)), n: uint64(n)}
}

// draw is draw for the server's store, with skew if there is to be some.
func (s *server) draw(seed uint64) *drawn {
	d := draw(seed, s.spec.N)
	if s.skewed == nil { // drawing ahead takes long
		s.skewed = s.spec.Pressure.Keys(uint64(s.spec.N), nil)
	}
	d.skewed, d.turn = s.skewed, seed*104729
	return d
}

func (d *drawn) fill(keys []uint64) {
	if d.skewed != nil {
		for i := range keys {
			n := d.skewed(d.turn)
			d.turn++
			if n == 0 {
				d.first++
			}
			keys[i] = mix(n)
		}
		return
	}
	for i := range keys {
		keys[i] = mix(d.rng.Uint64N(d.n))
	}
}

// block is how many keys are drawn at a time: they fit the caches closest to the core.
const block = 8192

// timed calls f with blocks of drawn keys, count in all, and returns the time in f.
func timed(clock perf.Clock, d *drawn, count int64, f func(keys []uint64) error) (took time.Duration, err error) {
	keys := make([]uint64, block)
	for count > 0 && err == nil {
		keys = keys[:min(int64(block), count)]
		d.fill(keys)
		start := clock.Now()
		err = f(keys)
		took += clock.Now() - start
		count -= int64(len(keys))
	}
	return took, err
}
