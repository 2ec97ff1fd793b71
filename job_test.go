package overtake_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/overtake-stream/overtake"
	"github.com/overtake-stream/overtake/connectors/memory"
)

func words(n int) []string {
	var list []string
	for i := range n {
		list = append(list, fmt.Sprintf("the quick %d brown fox %d", i%17, i%5))
	}
	return list
}

func countWords(lines []string) (want []string) {
	counts := map[string]int64{}
	for _, line := range lines {
		for _, w := range strings.Fields(line) {
			counts[w]++
		}
	}
	for w, n := range counts {
		want = append(want, fmt.Sprint(w, " ", n))
	}
	slices.Sort(want)
	return want
}

func wordCount(job *overtake.Job, lines []string, list *memory.List[overtake.Pair[string, int64]]) {
	in := overtake.From(job, memory.Slice(lines...))
	split := overtake.FlatMap(in, func(line string, out overtake.Collector[string]) {
		for w := range strings.FieldsSeq(line) {
			out.Collect(w)
		}
	})
	counts := overtake.Count(overtake.KeyBy(split, func(w string) string { return w }), overtake.FinalOnly(), overtake.WithUID("count"))
	overtake.To(counts, list)
}

func TestWordCountEqualsThePlainCountAtAnyParallelism(t *testing.T) {
	defer goleak.VerifyNone(t)
	lines := words(20_000)
	for _, p := range []int{1, 2, 3, 7} {
		t.Run(fmt.Sprint("parallelism ", p), func(t *testing.T) {
			job := overtake.NewJob("wordcount", overtake.Options{Parallelism: p})
			var list memory.List[overtake.Pair[string, int64]]
			wordCount(job, lines, &list)
			if err := job.Run(context.Background()); err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, pair := range list.Values() {
				got = append(got, fmt.Sprint(pair.Key, " ", pair.Value))
			}
			slices.Sort(got)
			if diff := cmp.Diff(countWords(lines), got); diff != "" {
				t.Fatal(diff)
			}
		})
	}
}

func TestANegativeNumberOfProcessesIsRefused(t *testing.T) {
	o := overtake.Options{Cluster: overtake.Cluster{Processes: -3}}
	if err := o.Validate(); err == nil || !strings.Contains(err.Error(), "Processes") {
		t.Errorf("Validate = %v", err)
	}
}
