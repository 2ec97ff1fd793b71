package memory

import (
	"errors"
	"sync"

	"github.com/overtake-stream/overtake/operators"
)

// Channel is a source of what is sent to c, until it is closed: the way into a job
// for the program that embeds it. Its subtasks share the channel.
//
// It cannot be replayed: what was received after the last checkpoint is gone when the
// job goes on from there, in the same process too, and so may be one value for each
// subtask that was waiting. Each value is processed at most once. The source has a
// method Unreplayable, which returns ErrUnreplayable, for whoever wants to refuse that
// before the job starts.
func Channel[T any](c <-chan T) operators.Source[T] { return channel[T]{c: c} }

type channel[T any] struct{ c <-chan T }

// ErrUnreplayable says that a source cannot give again what it gave after a checkpoint.
var ErrUnreplayable = errors.New("memory: a channel cannot be replayed: what it gave after the last checkpoint is lost when the job restarts")

// Unreplayable returns ErrUnreplayable.
func (channel[T]) Unreplayable() error { return ErrUnreplayable }

// Open implements operators.Source.
func (s channel[T]) Open(ctx operators.SourceContext) (operators.Reader[T], error) {
	return &channelReader[T]{
		c: s.c, wake: ctx.Wake,
		stop: make(chan struct{}), polled: make(chan received[T], 1),
	}, nil
}

// received is a value; or if not ok, the end of the channel.
type received[T any] struct {
	value T
	ok    bool
}

type channelReader[T any] struct {
	// constant
	c      <-chan T
	wake   func()
	stop   chan struct{}    // closed by Close
	polled chan received[T] // from the poller, which never waits for room
	poller sync.WaitGroup

	// subtask's goroutine
	polling bool
}

// Read implements operators.Reader.
func (r *channelReader[T]) Read(out *operators.Output[T]) (operators.Status, error) {
	for out.Ready() {
		v, status := r.receive()
		if status != operators.More {
			return status, nil
		}
		out.Collect(v)
	}
	return operators.More, nil
}

// receive returns what the poller or the channel has. If that is nothing, it is Idle,
// and a poller waits.
func (r *channelReader[T]) receive() (T, operators.Status) {
	var v received[T]
	if r.polling {
		select {
		case v = <-r.polled:
			r.polling = false
		default:
			return v.value, operators.Idle
		}
	} else {
		select {
		case v.value, v.ok = <-r.c:
		default:
			r.wait()
			return v.value, operators.Idle
		}
	}
	if !v.ok {
		return v.value, operators.Ended
	}
	return v.value, operators.More
}

// wait starts a goroutine that waits for one value.
func (r *channelReader[T]) wait() {
	r.polling = true
	r.poller.Go(func() {
		var v received[T]
		select {
		case v.value, v.ok = <-r.c:
		case <-r.stop:
		}
		r.polled <- v
		r.wake()
	})
}

// Splits implements operators.Reader: a channel has no position to go back to.
func (r *channelReader[T]) Splits(dst [][]byte) ([][]byte, error) { return dst, nil }

// Close implements operators.Reader.
func (r *channelReader[T]) Close() error {
	close(r.stop)
	r.poller.Wait()
	return nil
}
