package ebpf

import (
	"testing"
	"time"
)

func TestSocketStamps(t *testing.T) {
	a, b, err := loopback()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _, _ = a.Close(), b.Close() }()
	s, err := NewSocketStamps(a)
	if err != nil {
		t.Skipf("SKIPPED: %v", err)
	}
	buf, began := make([]byte, 100), time.Now()
	seen := map[StampKind]int{}
	for i := range 10 {
		if _, err := a.Write(buf); err != nil {
			t.Fatal(err)
		}
		if _, err := b.Read(buf); err != nil {
			t.Fatal(err)
		}
		for _, stamp := range waitForAck(t, s, uint32(100*i+99)) {
			seen[stamp.Kind]++
			if stamp.Offset != uint32(100*i+99) || stamp.Time.Before(began.Add(-time.Second)) || stamp.Time.After(time.Now().Add(time.Second)) {
				t.Errorf("write %d: %+v", i, stamp)
			}
		}
	}
	if seen[StampScheduled] == 0 || seen[StampSent] == 0 || seen[StampAcknowledged] != 10 {
		t.Errorf("stamps %v", seen)
	}
}

// waitForAck reads stamps until a byte is acknowledged: the receiver's kernel takes up to 40 ms.
func waitForAck(t *testing.T, s *SocketStamps, offset uint32) (stamps []Stamp) {
	t.Helper()
	for deadline := time.Now().Add(10 * time.Second); time.Now().Before(deadline); {
		var err error
		if stamps, err = s.Read(stamps); err != nil {
			t.Fatal(err)
		}
		if n := len(stamps); n > 0 && stamps[n-1].Kind == StampAcknowledged && stamps[n-1].Offset == offset {
			return stamps
		}
		time.Sleep(100 * time.Microsecond)
	}
	t.Fatalf("byte %d was not acknowledged: %v", offset, stamps)
	return nil
}
