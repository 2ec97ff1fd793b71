package perfcost

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"time"

	"github.com/overtake-stream/overtake"
	"github.com/overtake-stream/overtake/bench"
	"github.com/overtake-stream/overtake/connectors/generate"
	"github.com/overtake-stream/overtake/perf"
)

// steadyJob is the name of the job that steady is.
const steadyJob = "steady"

// steady is a job without an end, of two workers in this process.
type steady struct {
	handles []*overtake.Handle
	start   time.Time
	stop    context.CancelFunc
}

// startSteady starts the exchange between two workers over TCP.
func (w Work) startSteady(ctx context.Context) (*steady, error) {
	addresses, err := bench.FreeAddresses(2)
	if err != nil {
		return nil, err
	}
	w.Records = generate.Forever
	ctx, stop := context.WithCancel(ctx)
	s := &steady{handles: make([]*overtake.Handle, 2), start: time.Now(), stop: stop}
	errs := make(chan error, 2)
	for i := range s.handles {
		go func() {
			opts := overtake.Options{Parallelism: 2, Cluster: overtake.Cluster{Workers: addresses, Index: i}}
			var err error
			s.handles[i], err = w.build(opts, s.start, nil, exchange).Start(ctx)
			errs <- err
		}()
	}
	if err := errors.Join(<-errs, <-errs); err != nil {
		return nil, errors.Join(err, s.end())
	}
	return s, nil
}

// sample is how far the job has come.
func (s *steady) sample() Outcome {
	o := Outcome{Measured: perf.Enabled, Seconds: time.Since(s.start).Seconds(), CPU: bench.CPUSeconds()}
	for _, h := range s.handles {
		all := h.Stats()
		o.Read += all[len(all)-1].Records
	}
	return o
}

// end ends the job. What a worker says when it is cancelled, or when the other one has
// been, is no error.
func (s *steady) end() (err error) {
	for _, h := range s.handles {
		if h == nil {
			continue
		}
		err = errors.Join(err, bench.Accounts(h))
		select {
		case <-h.Done():
			err = errors.Join(err, h.Wait())
		default:
		}
	}
	s.stop()
	for _, h := range s.handles {
		if h != nil {
			_ = h.Wait()
		}
	}
	return err
}

// serve answers each value that in brings with a sample, until in ends.
func (w Work) serve(ctx context.Context, in *json.Decoder, out *json.Encoder) error {
	s, err := w.startSteady(ctx)
	if err != nil {
		return err
	}
	for {
		var any struct{}
		if err := in.Decode(&any); err != nil {
			if errors.Is(err, io.EOF) {
				err = nil
			}
			return errors.Join(err, s.end())
		}
		if err := out.Encode(s.sample()); err != nil {
			return errors.Join(err, s.end())
		}
	}
}
