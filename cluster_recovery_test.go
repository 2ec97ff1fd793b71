package overtake_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/overtake-stream/overtake"
	"github.com/overtake-stream/overtake/connectors/memory"
)

// TestWorkersRestartTogether fails jobs of several workers, again and again, on
// whichever has the record: all go on from the same checkpoint, in the same attempt.
func TestWorkersRestartTogether(t *testing.T) {
	defer goleak.VerifyNone(t)
	for _, mode := range []overtake.CheckpointMode{overtake.Aligned, overtake.Unaligned, overtake.Auto} {
		for _, n := range []int{2, 3} {
			t.Run(fmt.Sprint(mode, n), func(t *testing.T) {
				const records, keys = 60_000, 31
				seed := uint64(time.Now().UnixNano())
				t.Log("seed", seed)
				f := newFaulty(seed, 4, records)
				var sink memory.Committed[count]
				dir := t.TempDir()
				errs := workers(t, n, func(_ int, opts overtake.Options) error {
					opts.Checkpoints = overtake.Checkpoints{
						Dir: dir, Interval: 5 * time.Millisecond, Mode: mode, AlignmentTimeout: time.Millisecond, MaxConcurrent: 2,
					}
					opts.Log = slog.New(wasted{t})
					opts.Restart = overtake.Restart{Attempts: 100, Delay: time.Millisecond}
					return countJob(opts, records, keys, f, &sink, nil).Run(context.Background())
				})
				if err := errors.Join(errs...); err != nil {
					t.Fatal(err)
				}
				verifyCounts(t, sink.Records(), records, keys)
			})
		}
	}
}

// wasted is a log that fails a test when it tells of a job that fails for no other reason
// than that a checkpoint did.
type wasted struct{ t *testing.T }

func (l wasted) Enabled(context.Context, slog.Level) bool { return true }
func (l wasted) WithAttrs([]slog.Attr) slog.Handler       { return l }
func (l wasted) WithGroup(string) slog.Handler            { return l }

// Handle implements slog.Handler.
func (l wasted) Handle(_ context.Context, r slog.Record) error {
	r.Attrs(func(a slog.Attr) bool {
		if text := a.Value.String(); strings.Contains(text, "than is tolerated") {
			l.t.Errorf("%s: %s", r.Message, text)
		}
		return true
	})
	return nil
}
