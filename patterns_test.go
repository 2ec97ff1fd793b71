package overtake_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/overtake-stream/overtake"
	"github.com/overtake-stream/overtake/connectors/generate"
	"github.com/overtake-stream/overtake/connectors/memory"
)

// numbers is a source of 0 to n-1.
func numbers(n uint64) overtake.Source[uint64] {
	return generate.Source(func(i uint64) uint64 { return i }, generate.Options{Count: n})
}

// small makes many buffers of few records, so that tests reach every limit.
func small(parallelism int) overtake.Options {
	return overtake.Options{Parallelism: parallelism, Network: overtake.Network{BufferSize: 512, Memory: 1 << 20}}
}

func upTo(n uint64) (list []uint64) {
	for i := range n {
		list = append(list, i)
	}
	return list
}

// routed is a record and the subtask that received it.
type routed struct {
	Subtask int
	Value   uint64
}

// route runs numbers through a pattern to an operator of another parallelism.
func route(t *testing.T, from, to int, n uint64, pattern func(overtake.Stream[uint64]) overtake.Stream[uint64]) []routed {
	t.Helper()
	job := overtake.NewJob("route", small(2))
	in := overtake.From(job, numbers(n), overtake.WithParallelism(from))
	received := overtake.TryMap(pattern(in), func(ctx *overtake.Context, v uint64) (routed, error) {
		return routed{ctx.Subtask, v}, nil
	}, overtake.WithParallelism(to))
	var list memory.List[routed]
	overtake.To(received, &list)
	if err := job.Run(context.Background()); err != nil {
		t.Fatal(err)
	}
	return list.Values()
}

func TestPatternsDeliverEveryRecord(t *testing.T) {
	defer goleak.VerifyNone(t)
	const n = 3000
	type stream = overtake.Stream[uint64]
	for name, pattern := range map[string]func(stream) stream{
		"default":   func(s stream) stream { return s },
		"rebalance": stream.Rebalance,
		"rescale":   stream.Rescale,
		"custom":    func(s stream) stream { return s.PartitionBy(func(v uint64, n int) int { return int(v) % n }) },
	} {
		for _, size := range [][2]int{{1, 1}, {1, 3}, {3, 1}, {2, 5}, {5, 2}, {3, 3}} {
			t.Run(fmt.Sprint(name, size), func(t *testing.T) {
				got := route(t, size[0], size[1], n, pattern)
				var values []uint64
				per := make([]int, size[1])
				for _, r := range got {
					values = append(values, r.Value)
					per[r.Subtask]++
					if name == "custom" && r.Subtask != int(r.Value)%size[1] {
						t.Fatalf("%d went to subtask %d", r.Value, r.Subtask)
					}
				}
				slices.Sort(values)
				if diff := cmp.Diff(upTo(n), values); diff != "" {
					t.Fatal(diff)
				}
				if slices.Contains(per, 0) {
					t.Fatalf("records per subtask %v: want some in each", per)
				}
			})
		}
	}
}

func TestBroadcastDeliversToAll(t *testing.T) {
	const n = 2000
	perSubtask := map[int][]uint64{}
	for _, r := range route(t, 2, 3, n, overtake.Stream[uint64].Broadcast) {
		perSubtask[r.Subtask] = append(perSubtask[r.Subtask], r.Value)
	}
	for i := range 3 {
		slices.Sort(perSubtask[i])
		if diff := cmp.Diff(upTo(n), perSubtask[i]); diff != "" {
			t.Fatalf("subtask %d: %s", i, diff)
		}
	}
}

func TestUnionMergesAndTeeCopies(t *testing.T) {
	job := overtake.NewJob("union", small(2))
	a := overtake.From(job, numbers(1000))
	b := overtake.Map(overtake.From(job, numbers(1000), overtake.WithParallelism(3)), func(v uint64) uint64 { return v + 1000 })
	even := a.Filter(func(v uint64) bool { return v%2 == 0 })
	odd := a.Filter(func(v uint64) bool { return v%2 == 1 })
	var list memory.List[uint64]
	overtake.To(even.Union(odd, b), &list)
	if err := job.Run(context.Background()); err != nil {
		t.Fatal(err)
	}
	got := list.Values()
	slices.Sort(got)
	if diff := cmp.Diff(upTo(2000), got); diff != "" {
		t.Fatal(diff)
	}
}

func TestRecordsLargerThanABufferAndBurstsArriveWhole(t *testing.T) {
	job := overtake.NewJob("large", small(2))
	in := overtake.From(job, numbers(50))
	bursts := overtake.FlatMap(in, func(v uint64, out overtake.Collector[string]) {
		for i := range 40 {
			out.Collect(strings.Repeat(string(rune('a'+v%26)), int(v)*i))
		}
	})
	var list memory.List[int]
	lengths := overtake.Map(bursts.Rebalance(), func(s string) int {
		if s != "" && strings.Count(s, s[:1]) != len(s) {
			return -1
		}
		return len(s)
	})
	overtake.To(lengths, &list)
	if err := job.Run(context.Background()); err != nil {
		t.Fatal(err)
	}
	var want []int
	for v := range 50 {
		for i := range 40 {
			want = append(want, v*i)
		}
	}
	got := list.Values()
	slices.Sort(got)
	slices.Sort(want)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatal(diff)
	}
}

func TestReduceAndProcessKeepStateByKey(t *testing.T) {
	job := overtake.NewJob("keyed", small(3))
	byKey := overtake.KeyBy(overtake.From(job, numbers(1000)), func(v uint64) uint64 { return v % 7 })
	maxima := overtake.Reduce(byKey, func(a, b uint64) uint64 { return max(a, b) }, overtake.FinalOnly(), overtake.WithUID("max"))
	changes := overtake.Process(byKey, func() overtake.Processor[uint64, uint64, string] { return &counter{} }, overtake.WithUID("every100th"))
	var most memory.List[uint64]
	var hundreds memory.List[string]
	overtake.To(maxima, &most)
	overtake.To(changes, &hundreds)
	if err := job.Run(context.Background()); err != nil {
		t.Fatal(err)
	}
	got := most.Values()
	slices.Sort(got)
	if want := []uint64{993, 994, 995, 996, 997, 998, 999}; !slices.Equal(got, want) {
		t.Errorf("maxima %v, want %v", got, want)
	}
	text := hundreds.Values()
	slices.Sort(text)
	if len(text) != 7 || text[0] != "key 0 has 100" {
		t.Errorf("hundreds %q", text)
	}
}

// counter says when a key has 100 records.
type counter struct{ n *overtake.ValueState[int] }

func (c *counter) Open(ctx *overtake.KeyedContext) (err error) {
	c.n, err = overtake.NewValueState[int](ctx, "n")
	return err
}

func (c *counter) Process(key, _ uint64, out overtake.Collector[string]) error {
	n, _, err := c.n.Get()
	if n+1 == 100 {
		out.Collect(fmt.Sprintf("key %d has 100", key))
	}
	return errors.Join(err, c.n.Set(n+1))
}

func TestErrorsNameOperatorAndSubtask(t *testing.T) {
	defer goleak.VerifyNone(t)
	boom := errors.New("boom")
	for name, c := range map[string]struct {
		build func(overtake.Stream[uint64]) overtake.Stream[uint64]
		want  error
	}{
		"error": {func(s overtake.Stream[uint64]) overtake.Stream[uint64] {
			return overtake.TryMap(s, func(_ *overtake.Context, v uint64) (uint64, error) {
				if v == 5000 {
					return 0, boom
				}
				return v, nil
			}, overtake.WithName("check"))
		}, boom},
		"panic": {func(s overtake.Stream[uint64]) overtake.Stream[uint64] {
			return overtake.Map(s, func(v uint64) uint64 { return 1 / (5000 - v) }, overtake.WithName("check"))
		}, overtake.ErrPanic},
		"partitioner": {func(s overtake.Stream[uint64]) overtake.Stream[uint64] {
			return overtake.Map(s, func(v uint64) uint64 { return v }, overtake.WithName("check")).PartitionBy(func(v uint64, n int) int { return n })
		}, overtake.ErrPartitioner},
	} {
		t.Run(name, func(t *testing.T) {
			job := overtake.NewJob("failing", small(2))
			s := c.build(overtake.From(job, numbers(1_000_000)).Rebalance())
			overtake.To(s.Rebalance(), memory.Discard[uint64]())
			if name == "partitioner" {
				job = overtake.NewJob("failing", small(2))
				overtake.To(c.build(overtake.From(job, numbers(1_000_000)).Rebalance()), memory.Discard[uint64]())
			}
			err := job.Run(context.Background())
			var op *overtake.OperatorError
			if !errors.Is(err, c.want) || !errors.As(err, &op) || !strings.Contains(op.Operator, "check") {
				t.Fatalf("error %v, want %v of operator check", err, c.want)
			}
		})
	}
}

func TestBuildErrorsAreReportedTogether(t *testing.T) {
	job := overtake.NewJob("bad", overtake.Options{Network: overtake.Network{BufferSize: 1000}})
	in := overtake.From(job, memory.Slice(make(chan int)), overtake.WithUID("same"))
	overtake.Count(overtake.KeyBy(in, func(chan int) int { return 0 }))
	overtake.To(overtake.Map(in, func(chan int) int { return 0 }, overtake.WithUID("same")), &memory.List[int]{}, overtake.WithParallelism(4))
	err := job.Run(context.Background())
	if err == nil {
		t.Fatal("no error")
	}
	for _, want := range []string{
		"buffer size 1000", "chan int is a chan", "WithUID", `"same" is also the UID`, "one writer: remove WithParallelism(4)",
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("the error does not say %q:\n%v", want, err)
		}
	}
}

func TestTooLittleMemorySaysHowMuchWouldDo(t *testing.T) {
	job := overtake.NewJob("tight", overtake.Options{Parallelism: 8, Network: overtake.Network{Memory: 64 << 10, BufferSize: 4 << 10}})
	overtake.To(overtake.From(job, numbers(10)).Rebalance(), memory.Discard[uint64]())
	err := job.Run(context.Background())
	if err == nil || !strings.Contains(err.Error(), "raise the network memory to at least") {
		t.Fatalf("error %v", err)
	}
}
