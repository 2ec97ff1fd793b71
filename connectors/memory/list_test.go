package memory_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/overtake-stream/overtake"
	"github.com/overtake-stream/overtake/connectors/memory"
	"github.com/overtake-stream/overtake/operators"
)

func TestListKeepsCopiesOfViews(t *testing.T) {
	var list memory.List[[]byte]
	w, err := list.Open(&operators.Context{Parallelism: 1})
	if err != nil {
		t.Fatal(err)
	}
	view := []byte("first")
	for _, s := range []string{"first", "other"} {
		copy(view, s)
		if err := w.Write(view); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(w.Flush(), w.Close(true)); err != nil {
		t.Fatal(err)
	}
	if got := list.Values(); string(got[0]) != "first" || string(got[1]) != "other" {
		t.Fatalf("%q", got)
	}
}

func TestListCanBeReadWhileTheJobRuns(t *testing.T) {
	c := make(chan int)
	var list memory.List[int]
	job := overtake.NewJob("list", overtake.Options{Parallelism: 2})
	overtake.To(overtake.From(job, memory.Channel(c)), &list)
	h, err := job.Start(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	var reader sync.WaitGroup
	reader.Go(func() {
		for len(list.Values()) < 100 {
			if v := list.Values(); slices.Contains(v, -1) {
				t.Error("a value that nobody sent")
			}
		}
	})
	for i := range 100 {
		c <- i
	}
	close(c)
	if err := h.Wait(); err != nil {
		t.Fatal(err)
	}
	reader.Wait()
	got := list.Values()
	slices.Sort(got)
	if len(got) != 100 || got[0] != 0 || got[99] != 99 {
		t.Fatalf("%d values", len(got))
	}
}

func TestListOfWhatCannotBeCopiedIsRefused(t *testing.T) {
	var list memory.List[chan int]
	if _, err := list.Open(&operators.Context{}); !errors.Is(err, operators.ErrNoCodec) {
		t.Fatalf("error %v, want ErrNoCodec", err)
	}
}

func TestErrorOfAFuncFailsTheJob(t *testing.T) {
	boom := errors.New("boom")
	job := overtake.NewJob("func", overtake.Options{Parallelism: 1})
	overtake.To(overtake.From(job, memory.Slice("a", "b")), memory.Func(func(v string) error {
		if strings.HasPrefix(v, "b") {
			return boom
		}
		return nil
	}))
	if err := job.Run(context.Background()); !errors.Is(err, boom) {
		t.Fatalf("error %v, want %v", err, boom)
	}
}
