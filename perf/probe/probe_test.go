package probe

import (
	"testing"
	"time"
)

func TestNobodyIsAttached(t *testing.T) {
	if Attached() {
		t.Fatal("the gate is open though nobody opened it")
	}
	m := Message{Channel: 1}
	WriteBegin(&m)
	Processed(&m)
	if m != (Message{Channel: 1}) {
		t.Fatalf("a stub changed its argument: %+v", m)
	}
}

func TestNowIsMonotonicTime(t *testing.T) {
	before := Now()
	time.Sleep(time.Millisecond)
	if d := Now() - before; d < 1e6 {
		t.Fatalf("%d ns passed in a millisecond", d)
	}
}

func TestRates(t *testing.T) {
	tests := map[string]struct {
		rate Rate
		gap  int64 // ns between messages
		of   int   // one of these is chosen
	}{
		"every":                 {Every, 1000, 1},
		"1/64":                  {Every64, 1000, 64},
		"1/1024":                {Every1024, 1000, 1024},
		"adaptive, saturated":   {Adaptive, 600, 1024},
		"adaptive, 20k/s":       {Adaptive, 50e3, 64},
		"adaptive, 1 per 2 ms":  {Adaptive, 2e6, 5},
		"adaptive, 1 a second":  {Adaptive, 1e9, 1},
		"adaptive, 100k/s":      {Adaptive, 10e3, 100},
		"adaptive, 1000k/s":     {Adaptive, 1e3, 1000},
		"adaptive, 1 in 200 us": {Adaptive, 200e3, 50},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			var s Sampler
			now, chosen := int64(1e9), 0
			const messages = 128 * 1024
			for range messages {
				now += tt.gap
				if _, ok := s.next(tt.rate, func() int64 { return now }); ok {
					chosen++
				}
			}
			if want := messages / tt.of; chosen < want-want/50-1 || chosen > want+want/50+1 {
				t.Fatalf("%d of %d messages chosen, want about %d", chosen, messages, want)
			}
		})
	}
}

func TestNothingAllocates(t *testing.T) {
	var s Sampler
	n := testing.AllocsPerRun(100, func() {
		now, _ := s.Next()
		m := Message{Stamps: [4]int64{now}}
		WriteBegin(&m)
		Processed(&m)
	})
	if n != 0 {
		t.Fatalf("%v allocations", n)
	}
}

// BenchmarkGate is what each place costs while nobody is attached.
func BenchmarkGate(b *testing.B) {
	m := Message{}
	for b.Loop() {
		if Attached() {
			WriteBegin(&m)
		}
	}
}

// BenchmarkStub is the stub itself, detached.
func BenchmarkStub(b *testing.B) {
	m := Message{}
	for b.Loop() {
		WriteBegin(&m)
	}
}

func BenchmarkNow(b *testing.B) {
	for b.Loop() {
		_ = Now()
	}
}
