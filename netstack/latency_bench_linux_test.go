package netstack_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/overtake-stream/overtake/netstack"
)

// BenchmarkRoundTrip sends 64 bytes to another process and back, while Busy
// goroutines in each process compute.
func BenchmarkRoundTrip(b *testing.B) {
	for _, v := range []exchangeRun{
		{}, {Sources: 1}, {Sources: 1, Pace: 50_000}, {Sources: 2}, {Sources: 2, Pace: 50_000},
	} {
		for _, procs := range []int{runtime.NumCPU(), runtime.NumCPU() + 1} {
			b.Run(fmt.Sprintf("busy=%d,pace=%d,procs=%d", v.Sources, v.Pace, procs), func(b *testing.B) {
				run := v
				run.Channels, run.Window, run.Procs = 1, 2, procs
				ls, addrs := listen(b, "tcp", 2)
				must(b, errors.Join(ls[0].Close(), ls[1].Close()))
				run.Addrs = addrs
				spec, _ := json.Marshal(run)
				child := exec.Command(os.Args[0], "-test.run=^TestEchoChild$")
				child.Env = append(os.Environ(), benchEnv+"="+string(spec))
				must(b, child.Start())
				defer child.Wait()
				defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(procs))
				defer run.compute()()
				run.echo(b, 0)
			})
		}
	}
}

// TestEchoChild is the other process of BenchmarkRoundTrip.
func TestEchoChild(t *testing.T) {
	spec := os.Getenv(benchEnv)
	if spec == "" {
		t.Skip("for BenchmarkRoundTrip")
	}
	var run exchangeRun
	must(t, json.Unmarshal([]byte(spec), &run))
	runtime.GOMAXPROCS(run.Procs)
	defer run.compute()()
	run.echo(t, 1)
}

// compute keeps Sources goroutines busy until the result is called.
func (run exchangeRun) compute() (stop func()) {
	var done atomic.Bool
	for range run.Sources {
		go func() {
			for x := 1; !done.Load(); x++ {
				if run.Pace > 0 && x%run.Pace == 0 {
					runtime.Gosched()
				}
			}
		}()
	}
	return func() { done.Store(true) }
}

// echo sends (worker 0) or returns (worker 1) records of 64 bytes.
func (run exchangeRun) echo(t testing.TB, index int) {
	s, arena := run.stack(t, index, func([]byte) {})
	out := newOutlet(t, arena, netstack.PartitionOptions{Subpartitions: 1, FlushInterval: -1})
	in := newInlet(t, netstack.GateOptions{Inputs: []int{1}})
	must(t, s.BindOut(1-index, 1, out.Partition, 0))
	must(t, s.BindIn(1-index, 1, in.Gate, 0))
	must(t, s.Start(context.Background()))
	if b, ok := t.(*testing.B); ok {
		times := []time.Duration{}
		for b.Loop() {
			start := time.Now()
			out.send(0, 0, 64)
			out.Flush(0)
			it := in.next()
			it.Buf.Release()
			in.Done(it.Channel)
			times = append(times, time.Since(start))
		}
		slices.Sort(times)
		b.ReportMetric(float64(times[len(times)/2].Nanoseconds())/1e3, "p50-us")
		b.ReportMetric(float64(times[len(times)*99/100].Nanoseconds())/1e3, "p99-us")
		b.ReportMetric(float64(times[len(times)*999/1000].Nanoseconds())/1e3, "p999-us")
		out.finish()
		in.each(func(netstack.Item) {})
	} else {
		in.each(func(it netstack.Item) {
			if it.Event == nil {
				out.send(0, 0, 64)
				out.Flush(0)
			}
		})
		out.finish()
	}
	must(t, s.Close())
	must(t, arena.Close())
}
