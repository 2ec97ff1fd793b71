package s3store_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/overtake-stream/overtake/checkpoint"
	"github.com/overtake-stream/overtake/checkpoint/s3store"
	"github.com/overtake-stream/overtake/checkpoint/storetest"
)

func mustOpen(t *testing.T, client *s3.Client, o s3store.Options) checkpoint.Store {
	t.Helper()
	s, err := s3store.Open(t.Context(), client, o)
	if err != nil {
		t.Fatalf("Open: %v", err)
	}
	return s
}

func TestStore(t *testing.T) {
	storetest.Run(t, func(t *testing.T) (checkpoint.Store, checkpoint.Blobs) {
		_, client := newFake(t)
		worker, err := s3store.OpenBlobs(client, options())
		if err != nil {
			t.Fatal(err)
		}
		return mustOpen(t, client, options()), worker
	})
}

// kinds are the ways in which a request fails.
var kinds = []fault{unavailable, refused, lostAnswer, slow, cutShort, slowDown}

// use takes a checkpoint with a small and a large blob, and drops the one before.
func use(t *testing.T, s checkpoint.Store) (others []error, publish error) {
	ctx := t.Context()
	var refs []checkpoint.BlobRef
	for i, size := range []int{500, 70_000} {
		ref, err := storetest.Write(ctx, s, storetest.Name(2, i), storetest.Bytes(storetest.Seed(storetest.Name(2, i)), size))
		if err != nil {
			return []error{err}, errors.New("not called")
		}
		refs = append(refs, ref)
	}
	if publish = s.Publish(ctx, storetest.Manifest(2, refs)); publish != nil {
		return nil, publish
	}
	return []error{s.Drop(ctx, 1), s.Verify(ctx, 2)}, nil
}

// prepare puts checkpoint 1 there, and sets which requests fail from then on.
func prepare(t *testing.T, o s3store.Options, inject func(int, *http.Request) fault) (*fake, *s3.Client, checkpoint.Store) {
	f, client := newFake(t)
	s := mustOpen(t, client, o)
	storetest.MustPublish(t, s, storetest.Manifest(1, []checkpoint.BlobRef{storetest.MustWrite(t, s, storetest.Name(1, 0), 100)}))
	f.fail(inject)
	return f, client, s
}

// TestOneFault lets each request fail once in each way: nothing may come of it.
func TestOneFault(t *testing.T) {
	requests := 0
	for _, kind := range kinds {
		o := options()
		if kind == slow {
			o.Timeout = 100 * time.Millisecond
		}
		for at := 1; ; at++ {
			fired := ""
			f, client, s := prepare(t, o, func(call int, r *http.Request) fault {
				if call != at {
					return none
				}
				fired = r.Method + " " + r.URL.String()
				return kind
			})
			others, publish := use(t, s)
			f.fail(nil)
			if fired == "" {
				break
			}
			requests++
			if err := errors.Join(append(others, publish)...); err != nil {
				t.Fatalf("fault %d at request %d, %s: %v", kind, at, fired, err)
			}
			if err := after(t, f, client, publish); err != nil {
				t.Fatalf("fault %d at request %d, %s: %v", kind, at, fired, err)
			}
		}
	}
	t.Logf("%d requests failed", requests)
}

// TestManyFaults lets requests fail at random, or all from one on: a checkpoint that
// was completed is there, one that was not is not, and nothing live is deleted.
func TestManyFaults(t *testing.T) {
	const rounds = 300
	completed, doubts := 0, 0
	for seed := range uint64(rounds) {
		rng := rand.New(rand.NewPCG(seed, 2))
		o := options()
		o.Attempts = 1 + rng.IntN(3)
		from, percent := rng.IntN(30), []int{10, 40, 100}[rng.IntN(3)]
		f, client, s := prepare(t, o, func(call int, r *http.Request) fault {
			if call < from || rng.IntN(100) >= percent {
				return none
			}
			kind := kinds[rng.IntN(len(kinds))]
			if kind == slow { // it takes its time, and is much like this one
				kind = lostAnswer
			}
			return kind
		})
		others, publish := use(t, s)
		f.fail(nil)
		var doubt *checkpoint.DoubtError
		if errors.As(publish, &doubt) {
			doubts++
		} else if publish == nil {
			completed++
		}
		for _, err := range append(others, publish) {
			var failed *checkpoint.IOError
			if err != nil && err.Error() != "not called" && !errors.As(err, &failed) && !errors.Is(err, checkpoint.ErrNotFound) {
				t.Errorf("seed %d: error without a name: %v", seed, err)
			}
		}
		if err := after(t, f, client, publish); err != nil {
			t.Fatalf("seed %d: %v\npublish: %v\nothers: %v", seed, err, publish, others)
		}
	}
	t.Logf("%d of %d completed, %d in doubt", completed, rounds, doubts)
}

// after opens the store again, when all works, and looks at what is there.
func after(t *testing.T, f *fake, client *s3.Client, publish error) error {
	ctx := t.Context()
	s := mustOpen(t, client, options())
	defer s.Close()
	var doubt *checkpoint.DoubtError
	first, second := s.Verify(ctx, 1), s.Verify(ctx, 2)
	switch {
	case publish == nil && second != nil:
		return fmt.Errorf("2 was completed: %w", second)
	case publish != nil && !errors.As(publish, &doubt) && !errors.Is(second, checkpoint.ErrNotFound):
		return fmt.Errorf("2 was not completed and is visible: %v", second)
	case second != nil && !errors.Is(second, checkpoint.ErrNotFound):
		return fmt.Errorf("2 is visible, but not whole: %w", second)
	case publish != nil && first != nil:
		return fmt.Errorf("1 is not what it was: %w", first)
	case first != nil && !errors.Is(first, checkpoint.ErrNotFound):
		return fmt.Errorf("1 is visible, but not whole: %w", first)
	}
	if _, err := s.Sweep(ctx, func(checkpoint.BlobName) bool { return false }); err != nil {
		return err
	}
	var want []string
	all, err := s.List(ctx)
	if err != nil {
		return err
	}
	for _, one := range all {
		m, err := s.Manifest(ctx, one.ID)
		if err != nil {
			return err
		}
		want = append(want, fmt.Sprintf("jobs/orders/manifests/c%d.manifest", one.ID))
		for name := range m.BlobSet() {
			want = append(want, fmt.Sprintf("jobs/orders/blobs/%v.blob", name))
		}
		if err := s.Verify(ctx, one.ID); err != nil {
			return fmt.Errorf("%d after a sweep: %w", one.ID, err)
		}
	}
	slices.Sort(want)
	if objects, uploads := f.keys(); !slices.Equal(objects, want) || len(uploads) > 0 {
		return fmt.Errorf("after a sweep there are %q and uploads %q, want %q", objects, uploads, want)
	}
	return nil
}

// TestDamage changes objects behind the back of the store.
func TestDamage(t *testing.T) {
	f, client, s := prepare(t, options(), nil)
	ctx := t.Context()
	shared := storetest.MustWrite(t, s, storetest.Name(2, 0), 30_000)
	storetest.MustPublish(t, s, storetest.Manifest(2, []checkpoint.BlobRef{shared}))
	storetest.MustPublish(t, s, storetest.Manifest(3, []checkpoint.BlobRef{shared}))
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	f.change("jobs/orders/manifests/c3.manifest", func(b []byte) []byte { b[40] ^= 4; return b })
	s = mustOpen(t, client, options())
	m, skipped, err := s.Latest(ctx)
	var corrupt *checkpoint.CorruptError
	if err != nil || m.ID != 2 || len(skipped) != 1 || !errors.As(skipped[0], &corrupt) || !strings.Contains(corrupt.File, "c3.manifest") {
		t.Fatalf("Latest = %v, %v, %v", m, skipped, err)
	}
	all, err := s.List(ctx)
	if err != nil || len(all) != 3 || all[0].ID != 3 || all[0].Damaged == nil || all[1].Damaged != nil {
		t.Errorf("List = %+v, %v", all, err)
	}
	// It is not known what 3 refers to, so blobs stay until it is dropped.
	if err := s.Drop(ctx, 2); err != nil {
		t.Fatal(err)
	}
	storetest.MustRead(t, s, shared)
	if n, err := s.Sweep(ctx, func(checkpoint.BlobName) bool { return false }); n != 0 || err != nil {
		t.Errorf("Sweep = %d, %v", n, err)
	}
	if err := s.Drop(ctx, 3); err != nil {
		t.Fatal(err)
	}
	if n, err := s.Sweep(ctx, func(checkpoint.BlobName) bool { return false }); n != 1 || err != nil {
		t.Errorf("Sweep = %d, %v, want 1", n, err)
	}
	f.change("jobs/orders/blobs/e3-c1-s7-0.blob", func(b []byte) []byte { b[60] ^= 4; return b })
	if err := s.Verify(ctx, 1); !errors.As(err, &corrupt) || !strings.Contains(corrupt.File, "e3-c1-s7-0.blob") {
		t.Errorf("Verify of a damaged blob: %v", err)
	}
	f.change("jobs/orders/blobs/e3-c1-s7-0.blob", func(b []byte) []byte { return b[:70] })
	var missing *checkpoint.MissingError
	if _, skipped, err := s.Latest(ctx); !errors.Is(err, checkpoint.ErrNotFound) || len(skipped) != 1 || !errors.As(skipped[0], &missing) {
		t.Errorf("Latest = %v, %v", skipped, err)
	}
}

func TestOptions(t *testing.T) {
	_, client := newFake(t)
	for _, spoil := range []func(*s3store.Options){
		func(o *s3store.Options) { o.Bucket = "" },
		func(o *s3store.Options) { o.Prefix = "/a" },
		func(o *s3store.Options) { o.PartSize = -1 },
		func(o *s3store.Options) { o.BlockSize = 1 },
		func(o *s3store.Options) { o.Timeout = -1 },
	} {
		o := options()
		spoil(&o)
		if _, err := s3store.Open(t.Context(), client, o); err == nil {
			t.Errorf("Open with %+v succeeded", o)
		}
	}
	o := options()
	o.Bucket = "other"
	var failed *checkpoint.IOError
	if _, err := s3store.Open(t.Context(), client, o); !errors.As(err, &failed) || !strings.Contains(failed.Advice, "bucket") {
		t.Errorf("Open of a bucket that is not there: %v", err)
	}
}

func TestClaim(t *testing.T) {
	f, client, s := prepare(t, options(), nil)
	other := mustOpen(t, client, options())
	last := uint64(3) // of the manifest
	for i := range 6 {
		f.fail(func(call int, r *http.Request) fault {
			if r.Method == http.MethodPut && call < 5 {
				return lostAnswer
			}
			return none
		})
		claimer := []checkpoint.Store{s, other}[i%2].(checkpoint.Claimer)
		epoch, err := claimer.Claim(t.Context(), 0)
		if err != nil || epoch != last+1 {
			t.Errorf("Claim = %d, %v, want %d", epoch, err, last+1)
		}
		last = epoch
	}
}
