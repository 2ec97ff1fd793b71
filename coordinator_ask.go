package overtake

import (
	"context"
	"errors"

	"github.com/overtake-stream/overtake/checkpoint/protocol"
)

var (
	// ErrNoCheckpoints: the job takes none: set Options.Checkpoints.
	ErrNoCheckpoints = errors.New("overtake: the job takes no checkpoints: set Options.Checkpoints.Dir")
	// ErrNotFirst: only the first worker can be asked for that.
	ErrNotFirst = errors.New("overtake: ask the first worker, which coordinates the job")
	// ErrEnded: the job's attempt ended before the request was answered.
	ErrEnded = errors.New("overtake: the job ended before the request was answered")
)

// ask requests a checkpoint and waits for what becomes of it.
func (c *coordinator) ask(ctx context.Context, kind protocol.Kind) (protocol.ID, error) {
	answers := make(chan answer, 1)
	c.mu.Lock()
	if c.mu.done {
		c.mu.Unlock()
		return 0, ErrEnded
	}
	c.mu.token++
	token := c.mu.token
	c.mu.asked[token] = answers
	c.mu.Unlock()
	c.take(protocol.Event{Type: protocol.Request, Kind: kind, Token: token})
	select {
	case a := <-answers:
		return a.id, a.err
	case <-ctx.Done():
		return 0, ctx.Err()
	}
}

func (c *coordinator) reply(token protocol.Token, a answer) {
	c.mu.Lock()
	answers := c.mu.asked[token]
	delete(c.mu.asked, token)
	c.mu.Unlock()
	if answers != nil {
		answers <- a
	}
}

// close answers what is still open.
func (c *coordinator) close() {
	c.timer.Stop()
	c.mu.Lock()
	c.mu.done = true
	asked := c.mu.asked
	c.mu.asked = nil
	c.mu.Unlock()
	for _, answers := range asked {
		answers <- answer{err: ErrEnded}
	}
	close(c.over)
}
