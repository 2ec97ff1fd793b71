package overtake

import (
	"errors"
	"testing"
	"time"
)

// TestRestartsAreBoundedWithinAWindow plays failures at given times.
func TestRestartsAreBoundedWithinAWindow(t *testing.T) {
	const never = -1
	type failure struct {
		at   time.Duration
		wait time.Duration // never: not tried again
	}
	s := time.Second
	for name, c := range map[string]struct {
		opts     Restart
		failures []failure
	}{
		"defaults":              {Restart{}, []failure{{0, s}, {s, s}, {2 * s, s}, {3 * s, never}}},
		"the window moves on":   {Restart{}, []failure{{0, s}, {s, s}, {2 * s, s}, {61 * s, s}, {61*s + 1, s}, {61*s + 2, never}}},
		"none":                  {Restart{Attempts: -1}, []failure{{0, never}}},
		"whole life":            {Restart{Attempts: 2, Window: -1}, []failure{{0, s}, {1000 * s, s}, {5000 * s, never}}},
		"growing pauses":        {Restart{Attempts: 9, MaxDelay: 5 * s}, []failure{{0, s}, {s, 2 * s}, {2 * s, 4 * s}, {3 * s, 5 * s}, {4 * s, 5 * s}}},
		"a long life resets it": {Restart{Attempts: 9, MaxDelay: 5 * s}, []failure{{0, s}, {s, 2 * s}, {100 * s, s}}},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRestarts(c.opts.withDefaults())
			begin := time.Unix(0, 0)
			for i, f := range c.failures {
				wait, again := r.after(errors.New("failed"), begin.Add(f.at))
				if !again {
					wait = never
				}
				if wait != f.wait {
					t.Fatalf("failure %d at %v: wait %v, want %v", i, f.at, wait, f.wait)
				}
			}
			if _, again := r.after(nil, begin); again {
				t.Error("a job that has succeeded is started again")
			}
		})
	}
}
