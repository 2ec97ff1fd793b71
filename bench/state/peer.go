package state

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"

	"github.com/overtake-stream/overtake/bench"
)

// peer is a process that serves a store.
type peer struct {
	spec    spec
	cmd     *exec.Cmd
	in      io.WriteCloser
	replies *json.Decoder
	loaded  reply
}

func startPeer(ctx context.Context, s spec) (*peer, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(s)
	if err != nil {
		return nil, err
	}
	p := &peer{spec: s, cmd: exec.CommandContext(ctx, self)}
	p.cmd.Env = append(os.Environ(), envChild+"="+string(text))
	p.cmd.Stderr, p.cmd.SysProcAttr = os.Stderr, bench.Offspring()
	if p.in, err = p.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	p.replies = json.NewDecoder(out)
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	if p.loaded, err = p.ask(request{Op: "load"}); err != nil {
		return nil, errors.Join(err, p.stop())
	}
	return p, nil
}

// ask does a request and waits for its reply.
func (p *peer) ask(q request) (r reply, err error) {
	if err = json.NewEncoder(p.in).Encode(q); err == nil {
		err = p.replies.Decode(&r)
	}
	if err == nil && r.Err != "" {
		err = errors.New(r.Err)
	}
	if err != nil {
		err = fmt.Errorf("state: %s with %d keys of %s bytes: %s: %w", p.spec.Kind, p.spec.N, p.spec.Layout, q.Op, err)
	}
	return r, err
}

func (p *peer) stop() error {
	_ = p.in.Close()
	return p.cmd.Wait()
}

// fleet is the processes that are up.
type fleet struct {
	peers map[spec]*peer
}

// get returns the process of a store, loaded; it starts it if need be.
func (f *fleet) get(ctx context.Context, s spec) (*peer, error) {
	if p := f.peers[s]; p != nil {
		return p, nil
	}
	p, err := startPeer(ctx, s)
	if err == nil {
		f.peers[s] = p
	}
	return p, err
}

// fresh is get with a process that has done nothing but load.
func (f *fleet) fresh(ctx context.Context, s spec) (*peer, error) {
	if err := f.keep(func(other spec) bool { return other != s }); err != nil {
		return nil, err
	}
	return f.get(ctx, s)
}

// keep stops all processes but those wanted.
func (f *fleet) keep(wanted func(spec) bool) (err error) {
	for s, p := range f.peers {
		if !wanted(s) {
			err = errors.Join(err, p.stop())
			delete(f.peers, s)
		}
	}
	return err
}
