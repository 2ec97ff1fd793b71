package workload

import (
	"time"

	"github.com/overtake-stream/overtake"
	"github.com/overtake-stream/overtake/bench/pressure"
	"github.com/overtake-stream/overtake/connectors/files"
)

// WordCount counts the words of files: a word is a longest run of the bytes A-Z,
// a-z, 0-9 and _.
type WordCount struct {
	Root   string // folder to read
	Glob   string // which files below it, e.g. "**/*.go"
	Output string // TSV file with a line "word<TAB>count" for each word

	ReadDelay time.Duration // for each block
	Delay     time.Duration // for each line that is passed on to the sink

	Pressure pressure.Config // but for SlowSink and Skew
}

// Job returns the job.
func (w WordCount) Job(opts overtake.Options) *overtake.Job {
	job := overtake.NewJob("wordcount", w.Pressure.Options(opts))
	blocks := overtake.From(job, files.Blocks(files.Options{Root: w.Root, Glob: w.Glob}), overtake.WithUID("read"))
	read, written := paced[string](w.ReadDelay), paced[int64](w.Delay)
	words := overtake.FlatMap(blocks, func(text string, out overtake.Collector[string]) {
		SplitWords(read(text), out)
	}, overtake.WithName("split"), overtake.WithUID("split"))
	counts := overtake.Aggregate(overtake.KeyBy(words, func(w string) string { return w }),
		overtake.Aggregator[string, int64, int64]{
			Add:    func(n *int64, _ string) { *n++ },
			Result: func(n *int64) int64 { return written(*n) },
		}, overtake.FinalOnly(), overtake.WithName("count"), overtake.WithUID("count"))
	overtake.To(stalled(w.Pressure, counts), files.TSV[overtake.Pair[string, int64]](w.Output), overtake.WithName("write"), overtake.WithUID("write"))
	return job
}

// SplitWords collects the words of a text. They are views into it.
func SplitWords(text string, out overtake.Collector[string]) {
	start := -1
	for i := 0; i < len(text); i++ {
		if inWord[text[i]] {
			if start < 0 {
				start = i
			}
		} else if start >= 0 {
			out.Collect(text[start:i])
			start = -1
		}
	}
	if start >= 0 {
		out.Collect(text[start:])
	}
}

var inWord = func() (table [256]bool) {
	for _, r := range []struct{ first, last byte }{{'A', 'Z'}, {'a', 'z'}, {'0', '9'}, {'_', '_'}} {
		for c := r.first; c <= r.last; c++ {
			table[c] = true
		}
	}
	return table
}()
