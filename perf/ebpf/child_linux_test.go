//go:build linux && (amd64 || arm64)

package ebpf

import (
	"bufio"
	"context"
	"encoding/binary"
	"flag"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/overtake-stream/overtake/perf"
	"github.com/overtake-stream/overtake/perf/probe"
)

// The children are a sender and a receiver of messages with the probe points of the
// exchange, and nothing else of it.

func TestMain(m *testing.M) {
	if os.Getenv("EBPF_CHILD") != "" {
		if err := child(os.Args[1:]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

type childConfig struct {
	role     string
	addr     string
	burst    int           // messages at a time
	size     int           // of a message, bytes
	window   uint64        // messages that may be out
	delay    time.Duration // of processing a message
	pause    time.Duration // between bursts
	queue    int           // messages at the receiver's gate
	pacing   int           // SO_MAX_PACING_RATE of the sender
	spinners int           // busy threads beside it

	goroutines bool // the exchange without its loop
	wait       bool // the sender begins when told
	begin      chan struct{}
	pids       string // to be looked at, with commas
}

func child(args []string) error {
	var c childConfig
	fs := flag.NewFlagSet("child", flag.ContinueOnError)
	fs.StringVar(&c.role, "role", "", "")
	fs.StringVar(&c.addr, "addr", "127.0.0.1:0", "")
	fs.IntVar(&c.burst, "burst", 20, "")
	fs.IntVar(&c.size, "size", 280, "")
	fs.Uint64Var(&c.window, "window", 1<<40, "")
	fs.DurationVar(&c.delay, "delay", 0, "")
	fs.DurationVar(&c.pause, "pause", time.Millisecond, "")
	fs.IntVar(&c.queue, "queue", 1<<16, "")
	fs.IntVar(&c.pacing, "pacing", 0, "")
	fs.IntVar(&c.spinners, "spinners", 0, "")
	fs.BoolVar(&c.wait, "wait", false, "")
	fs.StringVar(&c.pids, "pids", "", "")
	fs.BoolVar(&c.goroutines, "goroutines", false, "")
	if err := fs.Parse(args); err != nil {
		return err
	}
	begin := make(chan struct{})
	go func() { // a line begins, and the parent's end is the end
		in := bufio.NewReader(os.Stdin)
		if _, err := in.ReadString('\n'); err == nil {
			close(begin)
			_, _ = io.Copy(io.Discard, in)
		}
		os.Exit(0)
	}()
	if c.wait {
		c.begin = begin
	}
	for range c.spinners {
		go func() {
			for spins := 0; ; spins++ {
				if spins < 0 {
					return
				}
			}
		}()
	}
	switch c.role {
	case "send":
		return c.send()
	case "receive":
		return c.receive()
	case "exchange-send", "exchange-receive":
		return c.exchange()
	case "measure":
		return c.measure()
	case "spin":
		fmt.Println("spinning")
		select {}
	}
	return fmt.Errorf("no role %q", c.role)
}

const childHeader = 24 // size, traced, channel, sequence

type childMessage struct {
	b      []byte
	traced *probe.Message
}

func cookieOf(nc net.Conn) (cookie uint64) {
	raw, err := nc.(*net.TCPConn).SyscallConn()
	if err == nil {
		err = raw.Control(func(fd uintptr) {
			cookie, _ = unix.GetsockoptUint64(int(fd), unix.SOL_SOCKET, unix.SO_COOKIE)
		})
	}
	if err != nil {
		panic(err)
	}
	return cookie
}

// send makes bursts of messages; a writer writes what there is.
func (c *childConfig) send() error {
	d := net.Dialer{}
	d.SetMultipathTCP(false)
	nc, err := d.Dial("tcp", c.addr)
	if err != nil {
		return err
	}
	if c.pacing > 0 {
		raw, _ := nc.(*net.TCPConn).SyscallConn()
		_ = raw.Control(func(fd uintptr) {
			_ = unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_MAX_PACING_RATE, c.pacing)
		})
	}
	fmt.Println("sending")
	q := &childQueue{limit: c.window, cookie: cookieOf(nc)}
	q.cond.L = &q.mu
	go func() { _ = q.credits(nc) }()
	go func() {
		if err := q.write(nc); err != nil {
			os.Exit(0)
		}
	}()
	c.awaitBegin()
	var s probe.Sampler
	for seq := uint64(0); ; {
		for range c.burst {
			m := childMessage{b: make([]byte, c.size)}
			binary.LittleEndian.PutUint32(m.b, uint32(c.size))
			binary.LittleEndian.PutUint64(m.b[8:], 3)
			binary.LittleEndian.PutUint64(m.b[16:], seq)
			if probe.Attached() {
				if now, ok := s.Next(); ok {
					m.traced = &probe.Message{Channel: 3, Sequence: seq, Stamps: [4]int64{now, probe.Now()}}
					m.b[4] = 1
				}
			}
			seq++
			q.push(m)
		}
		time.Sleep(c.pause)
	}
}

func (c *childConfig) awaitBegin() {
	if c.begin != nil {
		<-c.begin
	}
}

// childQueue is the sender's queue.
type childQueue struct {
	cookie uint64
	mu     sync.Mutex
	cond   sync.Cond
	queue  []childMessage
	sent   uint64
	limit  uint64
	grant  int64
	offset uint64
}

func (q *childQueue) push(m childMessage) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for len(q.queue) > 100000 {
		q.cond.Wait()
	}
	q.queue = append(q.queue, m)
	q.cond.Broadcast()
}

// take returns what may be sent, 64 messages at most.
func (q *childQueue) take() []childMessage {
	q.mu.Lock()
	defer q.mu.Unlock()
	for len(q.queue) == 0 || q.sent >= q.limit {
		q.cond.Wait()
	}
	n := min(len(q.queue), 64, int(q.limit-q.sent))
	batch := q.queue[:n:n]
	q.queue = q.queue[n:]
	q.sent += uint64(n)
	q.cond.Broadcast()
	for i := range batch {
		if t := batch[i].traced; t != nil {
			if q.grant > t.Stamps[probe.Sealed] {
				t.Stamps[probe.Granted] = q.grant
			}
			t.Stamps[probe.Taken] = probe.Now()
		}
	}
	return batch
}

func (q *childQueue) write(nc net.Conn) error {
	var b []byte
	for {
		batch := q.take()
		b = b[:0]
		for i := range batch {
			b = append(b, batch[i].b...)
			if t := batch[i].traced; t != nil {
				t.Flow, t.Start, t.End = q.cookie, q.offset, q.offset+uint64(len(b))
			}
		}
		for i := range batch {
			if t := batch[i].traced; t != nil && probe.Attached() {
				probe.WriteBegin(t)
			}
		}
		if _, err := nc.Write(b); err != nil {
			return err
		}
		q.offset += uint64(len(b))
	}
}

// credits reads the receiver's announcements.
func (q *childQueue) credits(nc net.Conn) error {
	var b [8]byte
	for {
		if _, err := io.ReadFull(nc, b[:]); err != nil {
			return err
		}
		q.mu.Lock()
		if q.sent >= q.limit && probe.Attached() {
			q.grant = probe.Now()
		}
		q.limit = binary.LittleEndian.Uint64(b[:])
		q.cond.Broadcast()
		q.mu.Unlock()
	}
}

func (c *childConfig) receive() error {
	lc := net.ListenConfig{}
	lc.SetMultipathTCP(false)
	l, err := lc.Listen(context.Background(), "tcp", c.addr)
	if err != nil {
		return err
	}
	fmt.Println(l.Addr())
	nc, err := l.Accept()
	if err != nil {
		return err
	}
	gate := make(chan childMessage, c.queue)
	go c.process(nc, gate)
	r, cookie := bufio.NewReaderSize(nc, 64<<10), cookieOf(nc)
	var stream uint64
	for {
		head, err := r.Peek(childHeader)
		if err != nil {
			return err
		}
		m := childMessage{b: make([]byte, binary.LittleEndian.Uint32(head))}
		traced := head[4] == 1
		channel, seq := binary.LittleEndian.Uint64(head[8:]), binary.LittleEndian.Uint64(head[16:])
		if _, err := io.ReadFull(r, m.b); err != nil {
			return err
		}
		stream += uint64(len(m.b))
		if traced {
			now := probe.Now()
			m.traced = &probe.Message{Flow: cookie, Channel: channel, Sequence: seq, End: stream, Stamps: [4]int64{now, now}}
		}
		gate <- m
	}
}

func (c *childConfig) process(nc net.Conn, gate chan childMessage) {
	var done uint64
	for m := range gate {
		if m.traced != nil {
			m.traced.Stamps[probe.Dequeued] = probe.Now()
		}
		if c.delay > 0 {
			time.Sleep(c.delay)
		}
		done++
		if m.traced != nil && probe.Attached() {
			probe.Processed(m.traced)
		}
		if c.window < 1<<40 {
			var b [8]byte
			binary.LittleEndian.PutUint64(b[:], done+c.window)
			_, _ = nc.Write(b[:])
		}
	}
}

// A process is a child.
type process struct {
	*exec.Cmd
	in io.WriteCloser
}

// begin makes a sender that waits begin.
func (p *process) begin() { _, _ = io.WriteString(p.in, "\n") }

// start runs a child until the test ends, and returns its first line.
func start(t *testing.T, edit func(*exec.Cmd), args ...string) (*process, string) {
	t.Helper()
	cmd := exec.Command("/proc/self/exe", args...)
	cmd.Env = append(os.Environ(), "EBPF_CHILD=1")
	cmd.Stderr = os.Stderr
	if edit != nil {
		edit(cmd)
	}
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = in.Close()
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatalf("child %v: %v", args, err)
	}
	return &process{Cmd: cmd, in: in}, strings.TrimSpace(line)
}

// needProbes skips a test of a program whose probe points are compiled out.
func needProbes(t *testing.T) {
	t.Helper()
	if !perf.Enabled {
		t.Skip("SKIPPED: built with the tag noperf, which leaves the probe points out")
	}
}

// startPair starts a receiver and a sender.
func startPair(t *testing.T, receiver, sender []string) (receive, send *process) {
	t.Helper()
	return startPairIn(t, nil, receiver, sender)
}

// startPairIn does so with commands that edit has changed.
func startPairIn(t *testing.T, edit func(*exec.Cmd), receiver, sender []string) (receive, send *process) {
	t.Helper()
	needProbes(t)
	receive, addr := start(t, edit, append([]string{"-role=receive"}, receiver...)...)
	send, _ = start(t, edit, append([]string{"-role=send", "-addr=" + addr}, sender...)...)
	for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(time.Millisecond) {
		conns, err := Conns(t.Context(), []int{send.Process.Pid, receive.Process.Pid})
		if err == nil && len(conns) == 2 { // it is accepted
			return receive, send
		}
		if time.Now().After(deadline) {
			t.Fatalf("connections: %v, %v", conns, err)
		}
	}
}
