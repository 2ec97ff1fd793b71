package peers

import (
	"fmt"
	"os"
	"slices"

	"github.com/overtake-stream/overtake/bench"
)

// load is how many processes have wanted a processor in the last minute, on average; 0
// where the system does not tell.
func load() (l float64) {
	b, err := os.ReadFile("/proc/loadavg")
	if err == nil {
		_, _ = fmt.Sscan(string(b), &l)
	}
	return l
}

// middle is the one with the middle median.
func middle(list []*bench.Percentiles) *bench.Percentiles {
	sorted := slices.SortedFunc(slices.Values(list), func(a, b *bench.Percentiles) int {
		switch {
		case a.P50 < b.P50:
			return -1
		case a.P50 > b.P50:
			return 1
		}
		return 0
	})
	return sorted[len(sorted)/2]
}
