//go:build linux && (amd64 || arm64)

package ebpf

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"github.com/overtake-stream/overtake/perf/probe"
)

// askTime is how long LatencyOptions.Processes may take.
const askTime = time.Second

// replace looks at what has taken the place of processes that have ended.
func (s *session) replace(ctx context.Context, now time.Time) error {
	if s.opts.Processes == nil || now.Sub(s.checked) < refreshInterval {
		return nil
	}
	s.checked = now
	ended := 0
	for _, pid := range s.given {
		if errors.Is(unix.Kill(pid, 0), unix.ESRCH) {
			ended++
		}
	}
	if ended <= len(s.joined) {
		return nil
	}
	asked, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	pids, err := s.opts.Processes(asked)
	if err != nil {
		return nil // not yet
	}
	for _, pid := range pids {
		if slices.Contains(s.pids, pid) {
			continue
		}
		if err := s.join(pid); err != nil && !gone(err) {
			return err
		}
	}
	return nil
}

// join looks at one more process from now on. Its error is one of the machine's; what the kernel
// refuses to do with the process is among the refusals.
func (s *session) join(pid int) error {
	if err := s.kernel.coll.Maps[latencyMapProcs].Put(uint32(pid), uint32(1)); err != nil {
		return err
	}
	if !s.opts.NoEvents {
		switch err := s.kernel.attachProgram(pid, s.opts.Rate); {
		case errors.Is(err, os.ErrNotExist):
			return err
		case err != nil:
			s.kernel.refusals = append(s.kernel.refusals, attachRefusal(fmt.Sprintf("uprobes in process %d", pid), err))
		}
	}
	s.pids, s.given, s.joined = append(s.pids, pid), append(s.given, pid), append(s.joined, pid)
	s.queues = append(s.queues, readQueue(pid))
	s.flows.pids = s.pids
	s.refreshed = time.Time{}    // its connections are new
	s.matcher.Begin(probe.Now()) // messages on their way to it may have had their other end already
	return nil
}
