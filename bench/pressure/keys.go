package pressure

import "math/rand/v2"

// tableSize is how many keys are drawn ahead: drawing one takes longer than a record.
const tableSize = 1 << 20

// Keys returns the key of record number n, from 0 to keys-1 of which there are at most
// 2^32: by Zipf's law with exponent Skew, or by plain if there is no skew. Keys are drawn
// ahead, and come again after a million records.
func (c Config) Keys(keys uint64, plain func(n uint64) uint64) func(n uint64) uint64 {
	if c.Skew <= 0 {
		return plain
	}
	zipf := rand.NewZipf(rand.New(rand.NewPCG(c.Seed, keys)), c.Skew, 1, keys-1)
	table := make([]uint32, tableSize)
	for i := range table {
		table[i] = uint32(zipf.Uint64())
	}
	return func(n uint64) uint64 { return uint64(table[n%tableSize]) }
}
