package record_test

import (
	"testing"

	"github.com/overtake-stream/overtake/netstack/record"
)

const segment = 32<<10 - 32

// fill writes records with payloads of n bytes until dst is full.
func fill(dst []byte, n int, hasTime bool) (used, records int) {
	for record.Size(n, hasTime) <= len(dst)-used {
		used += record.Seal(dst[used:], record.Data, uint32(records), hasTime, int64(records), n)
		records++
	}
	return used, records
}

// BenchmarkWriteHeader seals records of 100 bytes whose payload is in place.
func BenchmarkWriteHeader(b *testing.B) {
	for _, hasTime := range []bool{false, true} {
		b.Run(timed(hasTime), func(b *testing.B) {
			dst := make([]byte, segment)
			for n := 0; n < b.N; {
				_, records := fill(dst, 100, hasTime)
				n += records
			}
		})
	}
}

// BenchmarkIterate walks over records of 100 bytes.
func BenchmarkIterate(b *testing.B) {
	for _, hasTime := range []bool{false, true} {
		b.Run(timed(hasTime), func(b *testing.B) {
			dst := make([]byte, segment)
			used, _ := fill(dst, 100, hasTime)
			var r record.Record
			sum := 0
			for n := 0; n < b.N; {
				it := record.Over(dst[:used])
				for ; ; n++ {
					ok, err := it.Next(&r)
					if err != nil {
						b.Fatal(err)
					}
					if !ok {
						break
					}
					sum += len(r.Payload)
				}
			}
			if sum == 0 {
				b.Fatal("nothing read")
			}
		})
	}
}

func timed(hasTime bool) string {
	if hasTime {
		return "time"
	}
	return "plain"
}
