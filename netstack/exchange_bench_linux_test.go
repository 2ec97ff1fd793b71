package netstack_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/overtake-stream/overtake/bufferpool"
	"github.com/overtake-stream/overtake/netstack"
	"golang.org/x/sys/unix"
)

// exchangeRun is one measurement between two processes over loopback.
type exchangeRun struct {
	Name     string
	Bytes    int64 // to be moved
	Raw      bool  // plain 1 MiB writes and reads instead
	Channels int
	Window   int // exclusive buffers per channel
	Gates    int // consumers, each with Channels/Gates channels; 0: one per channel
	Sources  int // producing goroutines, each with Channels/Sources channels
	Queue    int // buffers per subpartition; 0: default
	Record   int // bytes; 0: whole buffers
	Procs    int // GOMAXPROCS; 0: default
	Pace     int // loops of computing goroutines between two yields; 0: never

	Tune               bool
	Lock, Yield, Block bool
	Spin               time.Duration
	Addrs              []string
}

// result is what a process measured.
type result struct {
	Seconds float64
	CPU     float64 // of both processes
	Out, In float64 // of each
	Stats   [2]netstack.StackStats
}

func (r *result) rate(run exchangeRun) float64 { return float64(run.Bytes) / 1e9 / r.Seconds }
func (r *result) cost(run exchangeRun) float64 { return r.CPU / (float64(run.Bytes) / 1e9) }

const benchEnv = "NETSTACK_BENCH_CHILD"

// BenchmarkExchange compares the stack with a raw loop, run by run in turn. An
// iteration is one round over all; give it -benchtime=9x.
func BenchmarkExchange(b *testing.B) {
	gb := int64(2e9)
	runs := []exchangeRun{
		{Name: "raw", Raw: true},
		{Name: "1ch_window128", Channels: 1, Window: 128, Queue: 64, Sources: 1},
		{Name: "16ch_8credits_1source", Channels: 16, Window: 8, Sources: 1},
		{Name: "16ch_8credits_16sources", Channels: 16, Window: 8, Sources: 16},
	}
	if list := os.Getenv("NETSTACK_BENCH_RUNS"); list != "" {
		runs = runs[:1]
		for line := range strings.SplitSeq(list, ";") {
			var r exchangeRun
			must(b, json.Unmarshal([]byte(line), &r))
			runs = append(runs, r)
		}
	}
	rates, costs := make([][]float64, len(runs)), make([][]float64, len(runs))
	for b.Loop() {
		var raw result
		for i, run := range runs {
			if run.Bytes == 0 {
				run.Bytes = gb
			}
			res := run.measure(b)
			if i == 0 {
				raw = res
			}
			rates[i] = append(rates[i], res.rate(run)/raw.rate(runSized(runs[0], gb)))
			costs[i] = append(costs[i], res.cost(run)/raw.cost(runSized(runs[0], gb)))
			if testing.Verbose() {
				s0, s1 := res.Stats[0], res.Stats[1]
				b.Logf("%-12s %.2f GB/s %.3f s/GB  x%.2f cpu x%.2f  cpus out %.2f in %.2f| out r%d w%d rounds %d sleeps %d | in r%d w%d rounds %d sleeps %d, credits %d, copied %d",
					run.Name, res.rate(run), res.cost(run), rates[i][len(rates[i])-1], costs[i][len(costs[i])-1], res.Out/res.Seconds, res.In/res.Seconds,
					s0.Reads, s0.Writes, s0.Rounds, s0.Sleeps, s1.Reads, s1.Writes, s1.Rounds, s1.Sleeps, s1.FramesOut, s1.FramesIn-s1.HandedOver)
			}
		}
	}
	for i := range runs {
		b.ReportMetric(median(rates[i]), runs[i].Name+"_x")
		b.ReportMetric(median(costs[i]), runs[i].Name+"_cpu_x")
	}
}

func runSized(r exchangeRun, n int64) exchangeRun {
	r.Bytes = n
	return r
}

func median(v []float64) float64 {
	v = slices.Sorted(slices.Values(v))
	return v[len(v)/2]
}

func cpuSeconds() float64 {
	var u unix.Rusage
	_ = unix.Getrusage(unix.RUSAGE_SELF, &u)
	return float64(u.Utime.Nano()+u.Stime.Nano()) / 1e9
}

// measure runs the receiver in another process and the sender in this one.
func (run exchangeRun) measure(b *testing.B) result {
	var ls []net.Listener
	ls, run.Addrs = listen(b, "tcp", 2)
	must(b, errors.Join(ls[0].Close(), ls[1].Close()))
	spec, _ := json.Marshal(run)
	child := exec.Command(os.Args[0], "-test.run=^TestBenchChild$")
	child.Env = append(os.Environ(), benchEnv+"="+string(spec))
	if dir := os.Getenv("NETSTACK_BENCH_PROFILE"); dir != "" {
		child.Args = append(child.Args, "-test.cpuprofile="+dir+"/"+run.Name+".in.prof")
	}
	if run.Procs > 0 {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(run.Procs))
	}
	out, err := child.StdoutPipe()
	must(b, err)
	must(b, child.Start())
	defer child.Wait()
	var res result
	if run.Raw {
		res = run.rawSend(b)
	} else {
		res = run.send(b)
	}
	for lines := bufio.NewScanner(out); lines.Scan(); {
		if text, ok := strings.CutPrefix(lines.Text(), "RESULT "); ok {
			var in result
			must(b, json.Unmarshal([]byte(text), &in))
			res.Out, res.In = res.CPU, in.CPU
			res.CPU += in.CPU
			res.Stats[1] = in.Stats[1]
			return res
		}
	}
	b.Fatal("the receiver failed")
	return res
}

// TestBenchChild is the receiving process of BenchmarkExchange.
func TestBenchChild(t *testing.T) {
	spec := os.Getenv(benchEnv)
	if spec == "" {
		t.Skip("for BenchmarkExchange")
	}
	var run exchangeRun
	must(t, json.Unmarshal([]byte(spec), &run))
	if run.Procs > 0 {
		runtime.GOMAXPROCS(run.Procs)
	}
	var res result
	if run.Raw {
		res = run.rawReceive(t)
	} else {
		res = run.receive(t)
	}
	text, _ := json.Marshal(res)
	fmt.Println("RESULT " + string(text))
}

func (run exchangeRun) rawSend(b *testing.B) result {
	fd := rawSocket(b)
	defer unix.Close(fd)
	sa := &unix.SockaddrInet4{Port: port(run.Addrs[1]), Addr: [4]byte{127, 0, 0, 1}}
	for unix.Connect(fd, sa) != nil {
		time.Sleep(time.Millisecond)
	}
	buf := make([]byte, 1<<20)
	start, cpu := time.Now(), cpuSeconds()
	for left := run.Bytes; left > 0; {
		n, err := unix.Write(fd, buf[:min(left, int64(len(buf)))])
		must(b, err)
		left -= int64(n)
	}
	_, err := unix.Read(fd, buf[:1]) // the receiver has it all
	must(b, err)
	return result{Seconds: time.Since(start).Seconds(), CPU: cpuSeconds() - cpu}
}

func (run exchangeRun) rawReceive(t *testing.T) result {
	l := rawSocket(t)
	must(t, unix.SetsockoptInt(l, unix.SOL_SOCKET, unix.SO_REUSEADDR, 1))
	must(t, unix.Bind(l, &unix.SockaddrInet4{Port: port(run.Addrs[1]), Addr: [4]byte{127, 0, 0, 1}}))
	must(t, unix.Listen(l, 1))
	fd, _, err := unix.Accept(l)
	must(t, err)
	buf := make([]byte, 1<<20)
	cpu := cpuSeconds()
	for left := run.Bytes; left > 0; {
		n, err := unix.Read(fd, buf)
		must(t, err)
		left -= int64(n)
	}
	_, err = unix.Write(fd, buf[:1])
	must(t, err)
	return result{CPU: cpuSeconds() - cpu}
}

func rawSocket(t testing.TB) int {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM, 0)
	must(t, err)
	_ = unix.SetsockoptString(fd, unix.IPPROTO_TCP, unix.TCP_CONGESTION, "cubic")
	return fd
}

func port(addr string) int {
	_, p, _ := net.SplitHostPort(addr)
	n, _ := strconv.Atoi(p)
	return n
}

func (run exchangeRun) stack(t testing.TB, index int, control func([]byte)) (*netstack.Stack, *bufferpool.Arena) {
	arena, err := bufferpool.New(bufferpool.Options{Prefault: true, Budget: 64 << 20})
	must(t, err)
	o := netstack.StackOptions{
		Arena: arena, Index: index, Peers: run.Addrs, Job: "bench",
		OnControl: func(_ int, payload []byte) { control(payload) },
		OnFailure: func(err error) { panic(err) },
	}
	if run.Tune {
		o.SetTuning(run.Lock, run.Yield, run.Block, run.Spin)
	}
	s, err := netstack.NewStack(o)
	must(t, err)
	return s, arena
}

func (run exchangeRun) send(b *testing.B) result {
	done := make(chan struct{})
	s, arena := run.stack(b, 0, func([]byte) { close(done) })
	each := run.Channels / run.Sources
	var outs []*outlet
	for i := range run.Sources {
		o := newOutlet(b, arena, netstack.PartitionOptions{Subpartitions: each, Exclusive: max(2, run.Queue), MaxQueued: max(10, run.Queue)})
		for sub := range each {
			must(b, s.BindOut(1, uint32(1+i*each+sub), o.Partition, sub))
		}
		outs = append(outs, o)
	}
	must(b, s.Start(context.Background()))
	start, cpu := time.Now(), cpuSeconds()
	var wg sync.WaitGroup
	for _, o := range outs {
		wg.Go(func() {
			size := run.Record
			if size == 0 {
				size = o.MaxRecord()
			}
			for n := run.Bytes / int64(run.Sources*size); n > 0; n-- {
				o.ready()
				o.Space(int(n)%each, size)
				o.Commit(int(n)%each, size)
			}
			o.finish()
		})
	}
	wg.Wait()
	<-done
	res := result{Seconds: time.Since(start).Seconds(), CPU: cpuSeconds() - cpu, Stats: [2]netstack.StackStats{s.Stats()}}
	must(b, s.Close())
	must(b, arena.Close())
	return res
}

func (run exchangeRun) receive(t *testing.T) result {
	s, arena := run.stack(t, 1, func([]byte) {})
	var ins []*inlet
	if run.Gates == 0 {
		run.Gates = run.Channels
	}
	each := run.Channels / run.Gates
	for i := range run.Gates {
		in := newInlet(t, netstack.GateOptions{Inputs: []int{each}, Exclusive: run.Window})
		for ch := range each {
			must(t, s.BindIn(0, uint32(1+i*each+ch), in.Gate, ch))
		}
		ins = append(ins, in)
	}
	must(t, s.Start(context.Background()))
	cpu := cpuSeconds()
	var wg sync.WaitGroup
	for _, in := range ins {
		wg.Go(func() { in.each(func(netstack.Item) {}) })
	}
	wg.Wait()
	must(t, s.Control(0, []byte("done")))
	res := result{CPU: cpuSeconds() - cpu, Stats: [2]netstack.StackStats{1: s.Stats()}}
	must(t, s.Close())
	must(t, arena.Close())
	return res
}
