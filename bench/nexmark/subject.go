package nexmark

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"slices"
	"time"

	"github.com/overtake-stream/overtake"
	"github.com/overtake-stream/overtake/bench"
	"github.com/overtake-stream/overtake/perf"
)

// subject is a query that is being measured.
type subject struct {
	cfg   Config
	query Query
	gen   *Generator
	want  *Result // brief

	ours, loops runs
	arena       int64 // most bytes of network buffers in use

	pace      float64 // events per second of the measurement of latency
	paced     uint64  // and how many
	pacedGen  *Generator
	pacedWant Result
}

// run is what one measurement of all events found.
type run struct {
	rate     float64 // events per second
	perCore  float64 // events per second of processor time
	resident float64 // most bytes of memory
}

// runs are those of one side.
type runs []run

// figure returns a figure of each run, one after the other: of those that another case has
// taken or, beyond them, of new ones.
func (r *runs) figure(of func(run) float64, take func(ctx context.Context) (run, error)) bench.Measure {
	next := 0
	return func(ctx context.Context, _ bench.Size) (float64, error) {
		if next == len(*r) {
			one, err := take(ctx)
			if err != nil {
				return 0, err
			}
			*r = append(*r, one)
		}
		next++
		return of((*r)[next-1]), nil
	}
}

// engine runs the job over all events.
func (s *subject) engine(ctx context.Context) (_ run, err error) {
	if err := s.expect(); err != nil {
		return run{}, err
	}
	out, remove, err := s.output()
	if err != nil {
		return run{}, err
	}
	defer func() { err = errors.Join(err, remove()) }()
	debug.FreeOSMemory()
	before := bench.CPUTime()
	peak, err := s.job(ctx, s.gen, Pace{}, out)
	used := bench.CPUTime() - before
	if err != nil {
		return run{}, err
	}
	s.arena = max(s.arena, peak.arena)
	return s.run(out.Took(), used, peak.resident), s.check(out, *s.want)
}

// output is a place for the results of a run, and what removes them.
func (s *subject) output() (out *Output, remove func() error, err error) {
	out = &Output{Brief: true}
	if s.query.read == nil {
		return out, func() error { return nil }, nil
	}
	out.Folder, err = os.MkdirTemp(s.cfg.Folder, "overtake-nexmark-")
	return out, func() error { return os.RemoveAll(out.Folder) }, err
}

// expect computes the result that is to come.
func (s *subject) expect() error {
	if s.want == nil {
		r := s.query.Loop(s.gen, true)
		s.want = &r
	}
	return nil
}

// loop computes the result by hand.
func (s *subject) loop(context.Context) (_ run, err error) {
	out, remove, err := s.output()
	if err != nil {
		return run{}, err
	}
	defer func() { err = errors.Join(err, remove()) }()
	debug.FreeOSMemory()
	m := watch(nil)
	began, before := time.Now(), bench.CPUTime()
	var r Result
	if s.query.write != nil {
		err = s.query.write(s.gen, out.Folder)
	} else {
		r = s.query.Loop(s.gen, true)
	}
	took, used := time.Since(began), bench.CPUTime()-before
	peak := m.stop()
	if s.query.write != nil && err == nil {
		r, err = s.query.readBack(out.Folder, true)
	}
	if err != nil {
		return run{}, err
	}
	if s.want == nil {
		s.want = &r
	}
	if r != *s.want {
		return run{}, fmt.Errorf("nexmark: %s by hand is %v now, and was %v before", s.query.Name, r, *s.want)
	}
	return s.run(took, used, peak.resident), nil
}

func (s *subject) run(took, used time.Duration, resident int64) run {
	events := float64(s.gen.Events())
	return run{rate: events / took.Seconds(), perCore: events / max(used, time.Nanosecond).Seconds(), resident: float64(resident)}
}

func (s *subject) check(out *Output, want Result) error {
	r, err := s.query.Result(out)
	if err == nil && r != want {
		err = fmt.Errorf("nexmark: %s has %v, and by hand %v", s.query.Name, r, want)
	}
	return err
}

// job runs the query as a job.
func (s *subject) job(ctx context.Context, g *Generator, pace Pace, out *Output) (peak memory, err error) {
	opts := overtake.Options{Parallelism: s.cfg.Parallelism, Restart: overtake.Restart{Attempts: -1}}
	if !s.cfg.NoCheckpoints {
		var dir string
		if dir, err = os.MkdirTemp(s.cfg.Folder, "overtake-nexmark-"); err != nil {
			return peak, err
		}
		defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
		opts.Checkpoints = overtake.Checkpoints{Dir: dir, Interval: s.cfg.Interval, Mode: s.cfg.Mode}
		var closeStore func() error
		if closeStore, err = s.cfg.Pressure.Directory(&opts.Checkpoints); err != nil {
			return peak, err
		}
		defer func() { err = errors.Join(err, closeStore()) }()
	}
	setup := Setup{Engine: s.cfg.Pressure.Options(opts), Pace: pace, Output: out, Pressure: s.cfg.Pressure}
	h, err := s.query.Job(g, setup).Start(ctx)
	if err != nil {
		return peak, err
	}
	m := watch(h)
	err = h.Wait()
	peak = m.stop()
	if err == nil {
		err = bench.Accounts(h)
	}
	return peak, err
}

// warmUp is the part of a measurement of latency that does not count.
func (c Config) warmUp() time.Duration { return c.Duration / 5 }

// latency measures at the rate that is asked for, or half of the peak.
func (s *subject) latency(ctx context.Context, _ bench.Size, into *perf.Histogram) (err error) {
	if err := s.setPace(ctx); err != nil {
		return err
	}
	out, remove, err := s.output()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, remove()) }()
	out.Latency, out.WarmUp = into, s.cfg.warmUp()
	if _, err := s.job(ctx, s.pacedGen, Pace{Rate: s.pace}, out); err != nil {
		return err
	}
	return s.check(out, s.pacedWant)
}

// setPace decides on a rate once.
func (s *subject) setPace(ctx context.Context) (err error) {
	if s.pacedGen != nil {
		return nil
	}
	if s.pace = s.cfg.Rate; s.pace == 0 {
		if len(s.ours) == 0 {
			r, err := s.engine(ctx)
			if err != nil {
				return err
			}
			s.ours = append(s.ours, r)
		}
		var rates []float64
		for _, r := range s.ours {
			rates = append(rates, r.rate)
		}
		slices.Sort(rates)
		s.pace = rates[len(rates)/2] / 2
	}
	s.paced = max(1, uint64(s.pace*(s.cfg.Duration+s.cfg.warmUp()).Seconds()))
	if s.pacedGen, err = NewGenerator(s.cfg.options(s.paced)); err != nil {
		return err
	}
	s.pacedWant = s.query.Loop(s.pacedGen, true)
	return nil
}
