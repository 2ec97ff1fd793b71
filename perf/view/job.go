package view

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/overtake-stream/overtake/perf"
	"github.com/overtake-stream/overtake/perf/serve"
)

// askTimeout is how long a worker may take to answer.
const askTimeout = 5 * time.Second

// Job is a running job that is watched over HTTP.
type Job struct {
	client  http.Client
	workers []Worker
}

// Worker is one of a job's processes.
type Worker struct {
	Addr string // of its endpoint
	serve.Process
}

// OpenJob finds all workers of a job by the endpoint of one of them, host:port. The
// error is that of an endpoint that does not answer, or is not a job's.
func OpenJob(ctx context.Context, addr string) (*Job, error) {
	j := &Job{client: http.Client{Timeout: askTimeout}}
	var all []string
	if err := j.ask(ctx, addr, "/workers", &all); err != nil {
		return nil, err
	}
	for _, a := range all {
		w := Worker{Addr: a}
		if err := j.ask(ctx, a, "/process", &w.Process); err != nil {
			return nil, err
		}
		j.workers = append(j.workers, w)
	}
	if len(j.workers) == 0 {
		return nil, fmt.Errorf("%s: the job has no workers", addr)
	}
	return j, nil
}

// Workers lends the job's processes, by worker.
func (j *Job) Workers() []Worker { return j.workers }

// Processes returns the workers' process IDs. The error is that of a worker that is not
// on this machine, where its process ID would be somebody else's.
func (j *Job) Processes() (pids []int, err error) {
	for _, w := range j.workers {
		if err := w.here(); err != nil {
			return nil, err
		}
		pids = append(pids, w.PID)
	}
	return pids, nil
}

// here compares the program that the process says it runs with the one it is seen to run.
func (w *Worker) here() error {
	if w.PID <= 0 {
		return fmt.Errorf("%s does not say which process it is", w.Addr)
	}
	if _, err := os.Stat("/proc/self/exe"); err != nil || w.Binary == "" {
		return nil // it cannot be told
	}
	exe, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", w.PID))
	switch {
	case os.IsPermission(err):
		return nil // another user's: the kernel will say so
	case err != nil:
		return fmt.Errorf("%s is process %d, which is not on this machine, or not in its PID namespace: run this where the worker runs", w.Addr, w.PID)
	case strings.TrimSuffix(exe, " (deleted)") != strings.TrimSuffix(w.Binary, " (deleted)"):
		return fmt.Errorf("%s is process %d and runs %s, but here that process runs %s: run this where the worker runs", w.Addr, w.PID, w.Binary, exe)
	}
	return nil
}

// Snapshots asks all workers for what they have done so far, one after the other.
func (j *Job) Snapshots(ctx context.Context) ([]perf.JobSnapshot, error) {
	list := make([]perf.JobSnapshot, len(j.workers))
	for i, w := range j.workers {
		if err := j.ask(ctx, w.Addr, "/snapshot", &list[i]); err != nil {
			return nil, err
		}
	}
	return list, nil
}

func (j *Job) ask(ctx context.Context, addr, path string, answer any) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+addr+path, nil)
	if err != nil {
		return fmt.Errorf("%q is not an address: write HOST:PORT, as given to --listen", addr)
	}
	resp, err := j.client.Do(req)
	if err != nil {
		return fmt.Errorf("no job answers at %s (was it started with --listen?): %w", addr, err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("%s is no job's endpoint: %s%s is %s", addr, addr, path, resp.Status)
	}
	if err := json.NewDecoder(resp.Body).Decode(answer); err != nil {
		return fmt.Errorf("%s is no job's endpoint: its %s is not understood: %w", addr, path, err)
	}
	return nil
}
