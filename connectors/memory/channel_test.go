package memory_test

import (
	"slices"
	"testing"

	"github.com/overtake-stream/overtake/connectors/memory"
	"github.com/overtake-stream/overtake/operators"
)

func TestChannelIsReadInOrderUntilItIsClosed(t *testing.T) {
	c := make(chan int, 8)
	d := open(t, memory.Channel(c), 0, 1, false)
	c <- 1
	c <- 2
	c <- 3
	if s := d.read(t, 2); s != operators.More {
		t.Fatalf("status %v with a value left, want More", s)
	}
	if s := d.read(t, 10); s != operators.Idle {
		t.Fatalf("status %v of an empty channel, want Idle", s)
	}
	if s := d.read(t, 10); s != operators.Idle {
		t.Fatalf("status %v while the poller waits, want Idle", s)
	}
	c <- 4
	<-d.woke
	c <- 5
	close(c)
	if s := d.read(t, 10); s != operators.Ended {
		t.Fatalf("status %v of a closed channel, want Ended", s)
	}
	if _, got := d.stop(t); !slices.Equal(got, []int{1, 2, 3, 4, 5}) {
		t.Fatalf("got %v", got)
	}
}

// A value that the poller has received waits until the job can take it.
func TestPolledValueWaitsForTheJob(t *testing.T) {
	c := make(chan string)
	d := open(t, memory.Channel(c), 0, 1, false)
	d.read(t, 1)
	c <- "polled"
	<-d.woke
	if s := d.read(t, 0); s != operators.More || len(d.got.values) != 0 {
		t.Fatalf("status %v, %d records, want More and none", s, len(d.got.values))
	}
	d.read(t, 1)
	if _, got := d.stop(t); !slices.Equal(got, []string{"polled"}) {
		t.Fatalf("got %v", got)
	}
}

func TestClosingTheChannelWakesAnIdleReader(t *testing.T) {
	c := make(chan int)
	d := open(t, memory.Channel(c), 0, 1, false)
	d.read(t, 1)
	close(c)
	<-d.woke
	if s := d.read(t, 1); s != operators.Ended {
		t.Fatalf("status %v, want Ended", s)
	}
	d.stop(t)
}

// Close joins the poller: once it has returned, nobody receives from the channel, and
// nobody calls Wake.
func TestCloseJoinsThePoller(t *testing.T) {
	for range 200 {
		c := make(chan int, 1)
		d := open(t, memory.Channel(c), 0, 1, false)
		d.read(t, 1)
		d.stop(t)
		woken := len(d.woke)
		c <- 1
		if v := <-c; v != 1 || len(d.woke) != woken {
			t.Fatal("the poller outlives Close")
		}
	}
}

// However senders and reader interleave, no value is lost and no wake-up either.
func TestNoValueIsLostBetweenReadAndWake(t *testing.T) {
	const n = 2000
	c := make(chan int)
	go func() {
		defer close(c)
		for i := range n {
			c <- i
		}
	}()
	d := open(t, memory.Channel(c), 0, 1, false)
	for {
		switch d.read(t, 3) {
		case operators.Idle:
			<-d.woke
			continue
		case operators.More:
			continue
		}
		break
	}
	_, got := d.stop(t)
	if len(got) != n || !slices.IsSorted(got) {
		t.Fatalf("%d of %d values, sorted: %v", len(got), n, slices.IsSorted(got))
	}
}

func TestReadyChannelIsReadWithoutAllocation(t *testing.T) {
	c := make(chan int, 1)
	d := open(t, memory.Channel(c), 0, 1, false)
	d.got.values = make([]int, 0, 1000)
	if n := testing.AllocsPerRun(100, func() { c <- 1; d.read(t, 1) }); n != 0 {
		t.Errorf("%v allocations for each value", n)
	}
	d.stop(t)
}
