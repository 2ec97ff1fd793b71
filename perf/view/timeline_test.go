package view_test

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/overtake-stream/overtake/perf/ebpf"
	"github.com/overtake-stream/overtake/perf/probe"
	"github.com/overtake-stream/overtake/perf/view"
)

// message matches one from its two ends, without the kernel's part.
func message(t *testing.T, ended int64) *ebpf.Message {
	t.Helper()
	var got *ebpf.Message
	m := ebpf.NewMatcher(func(m *ebpf.Message) {
		c := *m
		got = &c
	})
	began := ended - int64(10*time.Millisecond)
	at := func(ms int) int64 { return began + int64(ms)*int64(time.Millisecond) }
	m.Add(ebpf.Event{Kind: ebpf.WriteBegin, Direction: 1, Time: at(4), PID: 11, TID: 11, Message: probe.Message{
		Flow: 1, Channel: 1, Sequence: 1, End: 100, Stamps: [4]int64{at(0), at(2), at(3), at(3)}}})
	m.Add(ebpf.Event{Kind: ebpf.Processed, Direction: 1, Time: at(10), PID: 12, TID: 12, Message: probe.Message{
		Flow: 1, Channel: 1, Sequence: 1, End: 100, Stamps: [4]int64{at(6), at(7), at(9), 0}}})
	if m.Close(); got == nil {
		t.Fatal("the message was not matched")
	}
	return got
}

// count reads a picture as XML and counts its elements.
func count(t *testing.T, picture string) map[string]int {
	t.Helper()
	n := map[string]int{}
	for d := xml.NewDecoder(strings.NewReader(picture)); ; {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return n
		}
		if err != nil {
			t.Fatalf("%v in\n%s", err, picture)
		}
		if e, ok := token.(xml.StartElement); ok {
			n[e.Name.Local]++
		}
	}
}

func TestPicturesAreWellFormed(t *testing.T) {
	line := view.NewTimeline(100 * time.Millisecond)
	draw := func() string {
		var b bytes.Buffer
		if err := line.WriteSVG(&b); err != nil {
			t.Fatal(err)
		}
		if strings.Contains(b.String(), "NaN") || strings.Contains(b.String(), "Inf") || strings.Contains(b.String(), "%!") {
			t.Fatal(b.String())
		}
		return b.String()
	}
	if s := draw(); count(t, s)["path"] != 0 || !strings.Contains(s, "no message was seen") || !strings.Contains(s, "n/a") {
		t.Errorf("of nothing: %s", s)
	}
	m := message(t, 1e9)
	line.Message(m)
	line.Message(m)
	line.Message(message(t, 2e9))
	line.Credit(1e9, "worker <0>", view.Level{Credits: 7, Starved: 1})
	line.Credit(2e9, "worker <0>", view.Level{Credits: 3})
	s := draw()
	if n := count(t, s); n["path"] != 2 || n["title"] < 8 {
		t.Errorf("%v: want two lines, of credits and of channels without, and columns of stages\n%s", n, s)
	}
	for _, want := range []string{"fill", "3 messages", "worker &lt;0&gt;", "process 11 to 12", "10ms"} {
		if !strings.Contains(s, want) {
			t.Errorf("no %q in\n%s", want, s)
		}
	}
	var page bytes.Buffer
	if err := line.WriteHTML(&page, "a & b", "<table>", time.Unix(0, 0)); err != nil {
		t.Fatal(err)
	}
	if p := page.String(); !strings.Contains(p, "a &amp; b") || !strings.Contains(p, "<pre>&lt;table&gt;</pre>") || !strings.Contains(p, "<svg") {
		t.Error(p)
	}
}

type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, errors.New("disk full") }

func TestWritersErrorsAreReturned(t *testing.T) {
	line := view.NewTimeline(time.Second)
	for name, write := range map[string]func(io.Writer) error{
		"latency":  func(w io.Writer) error { return view.WriteLatency(w, report()) },
		"check":    func(w io.Writer) error { return view.WriteCheck(w, &ebpf.Support{}) },
		"conns":    func(w io.Writer) error { return view.WriteConns(w, nil) },
		"svg":      line.WriteSVG,
		"html":     func(w io.Writer) error { return line.WriteHTML(w, "t", "x", time.Time{}) },
		"accounts": func(w io.Writer) error { return view.WriteAccounts(w, nil) },
	} {
		if err := write(broken{}); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
