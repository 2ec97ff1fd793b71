package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// The control socket takes one line for each connection, and answers with one line
// that begins with "ok" or "error":
//
//	savepoint PATH   write a savepoint to a new folder; the job goes on
//	stop PATH        stop with a savepoint
//	drain PATH       finish what has been read, with a savepoint of the end
//	checkpoint       take a checkpoint; the answer has its ID
//	stats            what operators and checkpoints have done so far, as JSON
//
// Paths are absolute.
const maxLine = 64 << 10

// ears listens on the control socket of a job.
type ears struct {
	r      *running
	l      net.Listener
	ctx    context.Context
	cancel context.CancelFunc
	busy   sync.WaitGroup
}

// listen opens the job's control socket, unless it has none. The store is ours by now,
// so a socket that is there is of a process that is gone.
func (r *running) listen() *ears {
	path := r.flags.controlPath()
	if path == "" || !r.flags.first() {
		return nil
	}
	l, err := openSocket(path)
	if err != nil {
		r.env.log.Warn("nobody can ask this job for savepoints: choose another --control", "error", err)
		return nil
	}
	e := &ears{r: r, l: l}
	e.ctx, e.cancel = context.WithCancel(context.Background())
	e.busy.Add(1)
	go e.accept()
	return e
}

// controlPath is where the socket of a checkpoint folder is.
func (f checkpointFlags) controlPath() string {
	if f.Control != "" || f.CheckpointDir == "" {
		return strings.TrimPrefix(f.Control, "unix:")
	}
	return filepath.Join(f.CheckpointDir, "control")
}

// openSocket listens under a name of its own first, so that nobody can connect before
// the mode is set.
func openSocket(path string) (net.Listener, error) {
	if info, err := os.Lstat(path); err == nil && info.Mode()&fs.ModeSocket == 0 {
		return nil, fmt.Errorf("%s is there and is no socket", path)
	}
	tmp := path + ".tmp"
	if err := os.Remove(tmp); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: tmp, Net: "unix"})
	if err != nil {
		return nil, err
	}
	l.SetUnlinkOnClose(false)
	if err := errors.Join(os.Chmod(tmp, 0o600), os.Rename(tmp, path)); err != nil {
		return nil, errors.Join(err, l.Close(), os.Remove(tmp))
	}
	return namedSocket{l, path}, nil
}

// namedSocket removes its name when it is closed.
type namedSocket struct {
	net.Listener
	path string
}

// Close implements net.Listener.
func (s namedSocket) Close() error { return errors.Join(os.Remove(s.path), s.Listener.Close()) }

// close answers what is open and removes the socket.
func (e *ears) close() {
	if e == nil {
		return
	}
	if err := e.l.Close(); err != nil {
		e.r.env.log.Warn("closing the control socket", "error", err)
	}
	timer := time.AfterFunc(time.Second, e.cancel) // the job has ended, so all answers are known
	e.busy.Wait()
	timer.Stop()
	e.cancel()
}

func (e *ears) accept() {
	defer e.busy.Done()
	for {
		c, err := e.l.Accept()
		if err != nil {
			return
		}
		e.busy.Add(1)
		go func() {
			defer e.busy.Done()
			defer c.Close()
			unblock := context.AfterFunc(e.ctx, func() { c.Close() })
			defer unblock()
			e.serve(c)
		}()
	}
}

// serve answers one line.
func (e *ears) serve(c net.Conn) {
	_ = c.SetReadDeadline(time.Now().Add(10 * time.Second)) // a slow client gets no answer
	in := bufio.NewReaderSize(c, maxLine)
	line, err := in.ReadSlice('\n')
	if err != nil {
		return
	}
	answer, err := e.obey(strings.TrimSuffix(string(line), "\n"))
	if err != nil {
		fmt.Fprintf(c, "error %s\n", strings.ReplaceAll(err.Error(), "\n", "; "))
		return
	}
	fmt.Fprintf(c, "ok %s\n", answer)
}

func (e *ears) obey(line string) (string, error) {
	verb, path, _ := strings.Cut(line, " ")
	switch verb {
	case "savepoint", "stop", "drain":
		if !filepath.IsAbs(path) {
			return "", fmt.Errorf("%s needs an absolute path", verb)
		}
		if names, _ := os.ReadDir(path); len(names) > 0 { // before state is written for nothing
			return "", fmt.Errorf("%s is there and is not empty: name a new folder", path)
		}
	}
	switch h := e.r.h; verb {
	case "savepoint":
		return path, h.Savepoint(e.ctx, path)
	case "stop", "drain":
		return path, h.StopWithSavepoint(e.ctx, path, verb == "drain")
	case "checkpoint":
		id, err := h.Checkpoint(e.ctx)
		return fmt.Sprint(id), err
	case "stats":
		b, err := json.Marshal(map[string]any{"operators": h.Stats(), "checkpoints": h.Checkpoints(), "restarts": h.Restarts()})
		return string(b), err
	}
	return "", fmt.Errorf("%.40q is none of savepoint, stop, drain, checkpoint and stats", verb)
}
