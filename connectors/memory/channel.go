package memory

import (
	"github.com/overtake-stream/overtake/operators"
)

// Channel is a source of what is sent to c, until it is closed: the way into a job
// for the program that embeds it. Its subtasks share the channel, and values that
// were received but not yet checkpointed are lost with the process.
func Channel[T any](c <-chan T) operators.Source[T] { return channel[T]{c: c} }

type channel[T any] struct{ c <-chan T }

// Open implements operators.Source.
func (s channel[T]) Open(ctx operators.SourceContext) (operators.Reader[T], error) {
	return &channelReader[T]{c: s.c, wake: ctx.Wake, stop: make(chan struct{})}, nil
}

type channelReader[T any] struct {
	c    <-chan T
	wake func()
	stop chan struct{}
	poll *poll[T] // not nil while a goroutine waits for the next value
}

// poll is one wait for one value.
type poll[T any] struct {
	done  chan struct{} // closed when the wait is over
	value T
	ok    bool // false: the channel or the reader was closed
}

// Read implements operators.Reader.
func (r *channelReader[T]) Read(out *operators.Output[T]) (operators.Status, error) {
	if r.poll != nil {
		select {
		case <-r.poll.done:
		default:
			return operators.Idle, nil
		}
		p := r.poll
		r.poll = nil
		if !p.ok {
			return operators.Ended, nil
		}
		out.Collect(p.value)
	}
	for out.Ready() {
		select {
		case v, ok := <-r.c:
			if !ok {
				return operators.Ended, nil
			}
			out.Collect(v)
		default:
			r.wait()
			return operators.Idle, nil
		}
	}
	return operators.More, nil
}

// wait starts a goroutine that waits for one value.
func (r *channelReader[T]) wait() {
	p := &poll[T]{done: make(chan struct{})}
	r.poll = p
	go func() {
		select {
		case p.value, p.ok = <-r.c:
		case <-r.stop:
		}
		close(p.done)
		r.wake()
	}()
}

// Splits implements operators.Reader: a channel has no position to go back to.
func (r *channelReader[T]) Splits(dst [][]byte) ([][]byte, error) { return dst, nil }

// Close implements operators.Reader.
func (r *channelReader[T]) Close() error {
	close(r.stop)
	if r.poll != nil {
		<-r.poll.done
	}
	return nil
}
