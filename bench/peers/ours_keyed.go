package peers

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/overtake-stream/overtake"
	"github.com/overtake-stream/overtake/connectors/generate"
	"github.com/overtake-stream/overtake/connectors/memory"
)

func number(n int64) string { return fmt.Sprint(n) }

// spread is the value of record n, the same in all programs: all bits look random.
func spread(n uint64) uint64 {
	h := n * 0x9E3779B97F4A7C15
	return h ^ h>>29
}

// checked is the part of a check that an output of a count is.
func checked(key, count uint64) uint64 { return spread(key<<32 ^ count) }

// share is what one subtask has seen: how much, and a sum that does not depend on the order.
type share struct{ Records, Check uint64 }

func (s share) String() string { return fmt.Sprintf("%d:%016x", s.Records, s.Check) }

// total adds up shares.
type total struct {
	mu sync.Mutex
	share
}

func (t *total) add(s share) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.Records += s.Records
	t.Check += s.Check
	return nil
}

// started is when record 0 was made: what a job takes to start is not counted, as in the
// peers' programs.
type started struct{ at, cpu atomic.Int64 }

func (s *started) note() {
	s.at.Store(time.Now().UnixNano())
	s.cpu.Store(int64(cpuTime()))
}

// rate hands the throughput, and the processor time of a record, since the start to out.
func (s *started) rate(records int64, check string, settings map[string]any, out func(Line)) {
	n := float64(records)
	took := time.Since(time.Unix(0, s.at.Load()))
	out(Line{Metric: "throughput", Unit: "records/s", Value: n / took.Seconds(), Records: records, Check: check, Settings: settings})
	out(Line{Metric: "cpu", Unit: "s/record", Value: (cpuTime() - time.Duration(s.cpu.Load())).Seconds() / n, Records: records})
}

// options are those of all jobs here: the defaults, with as many subtasks as the peer has
// workers.
func options(p Params) overtake.Options {
	processes := int(max(1, p.Int("processes")))
	o := overtake.Options{Parallelism: int(p.Int("workers")) * processes}
	if processes > 1 {
		o.Cluster.Processes = processes
	}
	return o
}

func settings(o overtake.Options) map[string]any {
	return map[string]any{"parallelism": o.Parallelism, "processes": max(1, o.Cluster.Processes), "options": "defaults"}
}

// exchange partitions records of 8 bytes by themselves.
func exchange(ctx context.Context, p Params, out func(Line)) error {
	o := options(p)
	if o.Cluster.Processes <= 1 {
		if _, _, err := exchanged(ctx, o, "warm-up", uint64(p.Int("records"))/4); err != nil {
			return err
		}
	}
	t, s, err := exchanged(ctx, o, "exchange", uint64(p.Int("records")))
	if err != nil || overtake.IsCopy() {
		return err
	}
	s.rate(p.Int("records"), t.String(), settings(o), out)
	return nil
}

func exchanged(ctx context.Context, o overtake.Options, name string, records uint64) (*total, *started, error) {
	t, s := &total{}, &started{}
	job := overtake.NewJob(name, o)
	values := overtake.From(job, generate.Source(func(n uint64) uint64 {
		if n == 0 {
			s.note()
		}
		return spread(n)
	}, generate.Options{Count: records}))
	keyed := overtake.KeyBy(values, func(v uint64) uint64 { return v })
	shares := overtake.Process(keyed, func() overtake.Processor[uint64, uint64, share] { return &summing{} }, overtake.WithUID("sum"))
	overtake.To(shares.Rebalance(), memory.Func(t.add), overtake.WithParallelism(1))
	return t, s, job.Run(ctx)
}

// summing adds up what it gets, and passes that on when the input ends.
type summing struct{ share }

// Open implements overtake.Processor.
func (*summing) Open(*overtake.KeyedContext) error { return nil }

// Process implements overtake.Processor.
func (s *summing) Process(_, v uint64, _ overtake.Collector[share]) error {
	s.Records++
	s.Check += v
	return nil
}

// Finish implements operators.Finisher.
func (s *summing) Finish(out overtake.Collector[share]) error {
	out.Collect(s.share)
	return nil
}

// rollingCount counts the records of each key, and passes on every count.
func rollingCount(ctx context.Context, p Params, out func(Line)) error {
	o := options(p)
	if _, _, err := counted(ctx, o, uint64(p.Int("records"))/4, uint64(p.Int("keys"))); err != nil {
		return err
	}
	t, s, err := counted(ctx, o, uint64(p.Int("records")), uint64(p.Int("keys")))
	if err != nil {
		return err
	}
	s.rate(p.Int("records"), t.String(), settings(o), out)
	return nil
}

func counted(ctx context.Context, o overtake.Options, records, keys uint64) (*total, *started, error) {
	t, s := &total{}, &started{}
	job := overtake.NewJob("count", o)
	values := overtake.From(job, generate.Source(func(n uint64) uint64 {
		if n == 0 {
			s.note()
		}
		return spread(n) % keys
	}, generate.Options{Count: records}))
	counts := overtake.Count(overtake.KeyBy(values, func(v uint64) uint64 { return v }), overtake.WithUID("count"))
	overtake.To(counts, adding(t, func(c overtake.Pair[uint64, int64]) uint64 { return checked(c.Key, uint64(c.Value)) }))
	return t, s, job.Run(ctx)
}
