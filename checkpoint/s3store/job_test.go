package s3store_test

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"github.com/overtake-stream/overtake"
	"github.com/overtake-stream/overtake/internal/jobtest"
)

// TestJobsCountOnceWhateverTheBucketDoes lets one request in ten fail.
func TestJobsCountOnceWhateverTheBucketDoes(t *testing.T) {
	modes := []overtake.CheckpointMode{overtake.Aligned, overtake.Unaligned, overtake.Auto}
	for i, kind := range append([]fault{none, none, none}, kinds...) { // none: all kinds in turn
		mode := modes[i%len(modes)]
		t.Run(fmt.Sprint(mode, " fault ", kind), func(t *testing.T) {
			rng := rand.New(rand.NewPCG(uint64(kind), uint64(i)))
			f, client := newFake(t)
			o := options()
			o.Attempts, o.Timeout = 2, 30*time.Millisecond
			store, fired := mustOpen(t, client, o), atomic.Int64{}
			jobtest.CountsOnce(t, store, mode, func(on bool) int {
				f.fail(func(int, *http.Request) fault { // it is called one at a time
					if !on || rng.IntN(10) > 0 {
						return none
					}
					if fired.Add(1); kind == none {
						return kinds[rng.IntN(len(kinds))]
					}
					return kind
				})
				return int(fired.Load())
			})
		})
	}
}
