package overtake

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"time"
)

// place is where this process stands among the workers.
type place struct {
	index     int
	addresses []string // of all workers; one (of no use) when there is only one
	network   string
	listener  net.Listener // already open, or nil
	epoch     uint64       // of the attempt, as whoever started this process has it; 0: unknown
}

// The environment by which a process tells a copy of itself its place. The copy's
// listener is file descriptor 3.
const (
	envJob     = "OVERTAKE_JOB"
	envIndex   = "OVERTAKE_INDEX"
	envWorkers = "OVERTAKE_WORKERS"
	envEpoch   = "OVERTAKE_EPOCH"
	listenerFD = 3
)

// IsCopy reports whether this process was started by Cluster.Processes of another
// one, and will be a worker other than the first. Programs can use it to leave
// printing to the first.
func IsCopy() bool { return os.Getenv(envJob) != "" }

// CopyIndex is the worker that a copy will be, as in Cluster.Index, and 0 in a process
// that is none.
func CopyIndex() int {
	if !IsCopy() {
		return 0
	}
	i, _ := strconv.Atoi(os.Getenv(envIndex)) // Start reports the error
	return i
}

// index is this process's place among the workers, before anything is started.
func (j *Job) index() int {
	if c := j.opts.Cluster; c.Processes > 1 && os.Getenv(envJob) == j.name {
		i, _ := strconv.Atoi(os.Getenv(envIndex)) // findPlace reports the error
		return i
	}
	return j.opts.Cluster.Index
}

// findPlace works out this process's place, starting copies of it if the options
// ask for them.
func (j *Job) findPlace(ctx context.Context, epoch uint64) (place, *copies, error) {
	c := j.opts.Cluster
	switch {
	case c.Processes > 1 && os.Getenv(envJob) == j.name:
		at, err := placeFromEnv()
		return at, nil, err
	case c.Processes > 1:
		return startCopies(ctx, j.name, c.Processes, epoch)
	case len(c.Workers) > 0:
		return place{index: c.Index, addresses: c.Workers, network: c.Network}, nil, nil
	default:
		return place{addresses: []string{""}}, nil, nil
	}
}

func placeFromEnv() (place, error) {
	at := place{network: "tcp", addresses: strings.Split(os.Getenv(envWorkers), ",")}
	var err error
	if at.index, err = strconv.Atoi(os.Getenv(envIndex)); err != nil {
		return at, fmt.Errorf("overtake: %s: %w", envIndex, err)
	}
	if at.epoch, err = strconv.ParseUint(os.Getenv(envEpoch), 10, 64); err != nil {
		return at, fmt.Errorf("overtake: %s: %w", envEpoch, err)
	}
	file := os.NewFile(listenerFD, "listener")
	defer file.Close()
	if at.listener, err = net.FileListener(file); err != nil {
		return at, fmt.Errorf("overtake: the listener inherited as descriptor %d: %w", listenerFD, err)
	}
	return at, nil
}

// copies are the processes that this one has started. A nil *copies is none.
type copies struct {
	running []*exec.Cmd
	watched sync.WaitGroup
}

// startCopies starts n-1 copies of this process. The listeners are opened here
// and handed down, so that no port can be taken in between.
func startCopies(ctx context.Context, job string, n int, epoch uint64) (at place, c *copies, err error) {
	c = &copies{}
	at.network = "tcp"
	listeners := make([]*net.TCPListener, n)
	defer func() {
		for i, l := range listeners {
			if l != nil && (i > 0 || err != nil) {
				l.Close()
			}
		}
		if err != nil {
			c.kill()
		}
	}()
	for i := range listeners {
		if listeners[i], err = net.ListenTCP("tcp", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)}); err != nil {
			return at, c, fmt.Errorf("overtake: a listener for worker %d: %w", i, err)
		}
		at.addresses = append(at.addresses, listeners[i].Addr().String())
	}
	at.listener = listeners[0]
	for i := 1; i < n; i++ {
		if err = c.start(ctx, job, i, at.addresses, listeners[i], epoch); err != nil {
			return at, c, fmt.Errorf("overtake: starting worker %d: %w", i, err)
		}
	}
	return at, c, nil
}

func (c *copies) start(ctx context.Context, job string, index int, addresses []string, l *net.TCPListener, epoch uint64) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	file, err := l.File()
	if err != nil {
		return err
	}
	defer file.Close()
	cmd := exec.CommandContext(ctx, self, os.Args[1:]...)
	cmd.Env = append(os.Environ(), envJob+"="+job, envIndex+"="+strconv.Itoa(index), envWorkers+"="+strings.Join(addresses, ","), envEpoch+"="+strconv.FormatUint(epoch, 10))
	cmd.Stdout, cmd.Stderr = os.Stderr, os.Stderr // results come from the first worker only
	cmd.ExtraFiles = []*os.File{file}
	cmd.SysProcAttr = dieWithParent()
	cmd.WaitDelay = copyPatience
	if err := cmd.Start(); err != nil {
		return err
	}
	c.running = append(c.running, cmd)
	return nil
}

// watch reports a copy that dies before the job has ended.
func (c *copies) watch(fail func(error)) {
	if c == nil {
		return
	}
	for i, cmd := range c.running {
		c.watched.Add(1)
		go func() {
			defer c.watched.Done()
			if err := cmd.Wait(); err != nil {
				fail(fmt.Errorf("%w: worker %d: process %d: %w", ErrPeer, i+1, cmd.Process.Pid, err))
			}
		}()
	}
}

// copyPatience is how long a copy may take to end after the job has.
const copyPatience = 10 * time.Second

// stop waits for the copies to end, and kills those that do not.
func (c *copies) stop() {
	if c == nil {
		return
	}
	timer := time.AfterFunc(copyPatience, func() {
		for _, cmd := range c.running {
			_ = cmd.Process.Kill()
		}
	})
	defer timer.Stop()
	c.watched.Wait()
}

// end ends the copies of an attempt with this result: after a failure at once, since
// another attempt starts its own.
func (c *copies) end(err error) {
	if c == nil {
		return
	}
	if err != nil {
		for _, cmd := range c.running {
			_ = cmd.Process.Kill()
		}
	}
	c.stop()
}

// kill ends copies that are not watched: the job never began.
func (c *copies) kill() {
	if c == nil {
		return
	}
	for _, cmd := range c.running {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}
}
