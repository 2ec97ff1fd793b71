package top_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"

	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"
	"github.com/google/go-cmp/cmp"

	"github.com/overtake-stream/overtake/perf"
	"github.com/overtake-stream/overtake/perf/top"
)

// world is what a Model is told, one message after the other, with no terminal.
type world struct {
	t   *testing.T
	m   tea.Model
	now time.Time

	seconds int   // since the job's start, of the next reading
	err     error // of the next reading
	change  func(*perf.JobSnapshot)
	missing []string
}

func newWorld(t *testing.T, width, height int) *world {
	w := &world{t: t, now: start(), seconds: 4}
	w.m = top.NewModel(top.Options{Read: w.read, Now: func() time.Time { return w.now }, Addrs: []string{"127.0.0.1:7070"}, Interval: time.Millisecond, Plain: true})
	w.send(tea.WindowSizeMsg{Width: width, Height: height})
	return w
}

func (w *world) read(context.Context) (top.Reading, error) {
	if w.err != nil {
		return top.Reading{}, w.err
	}
	r := reading(w.seconds)
	if w.missing != nil {
		r.Workers, r.Missing = r.Workers[:1], w.missing
	}
	for i := range r.Workers {
		if w.change != nil {
			w.change(&r.Workers[i])
		}
	}
	return r, nil
}

func (w *world) send(msg tea.Msg) (cmd tea.Cmd) {
	w.m, cmd = w.m.Update(msg)
	return cmd
}

// look lets a second pass, and a reading happen.
func (w *world) look() (next tea.Cmd) {
	w.seconds++
	w.now = w.now.Add(time.Second)
	return w.send(w.m.Init()())
}

func (w *world) press(keys ...rune) (last tea.Cmd) {
	for _, k := range keys {
		key := tea.KeyPressMsg{Code: k}
		if unicode.IsPrint(k) {
			key.Text = string(k)
		}
		last = w.send(key)
	}
	return last
}

func (w *world) frame() string { return w.m.View().Content }

// has checks that a frame fits its terminal, and what it says.
func (w *world) has(width, height int, texts ...string) {
	w.t.Helper()
	frame := w.frame()
	lines := strings.Split(frame, "\n")
	if len(lines) > height {
		w.t.Errorf("%d lines, of %d:\n%s", len(lines), height, frame)
	}
	for _, l := range lines {
		if lipgloss.Width(l) > width {
			w.t.Errorf("a line of %d columns, of %d: %q", lipgloss.Width(l), width, l)
		}
	}
	for _, text := range texts {
		if !strings.Contains(strings.Join(strings.Fields(frame), " "), text) {
			w.t.Errorf("no %q in\n%s", text, frame)
		}
	}
}

// TestGoldenFrames compares with testdata; UPDATE_GOLDEN=1 writes it.
func TestGoldenFrames(t *testing.T) {
	for _, c := range []struct {
		name          string
		width, height int
		keys          []rune
	}{
		{"job-80x24", 80, 24, nil},
		{"job-120x40", 120, 40, []rune{'j'}},
		{"job-160x40", 160, 40, []rune{'j', 'j'}},
		{"job-40x10", 40, 10, []rune{'j', 'j', 'j'}},
		{"subtasks-80x24", 80, 24, []rune{'j', tea.KeyEnter}},
		{"edges-120x40", 120, 40, []rune{'e'}},
		{"checkpoints-80x24", 80, 24, []rune{'c'}},
		{"help-80x24", 80, 24, []rune{'?'}},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t, c.width, c.height)
			w.look()
			w.look()
			w.press(c.keys...)
			w.has(c.width, c.height)
			golden(t, c.name, w.frame())
		})
	}
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name+".txt")
	if os.Getenv("UPDATE_GOLDEN") != "" {
		if err := os.WriteFile(path, []byte(got+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got+"\n"); diff != "" {
		t.Errorf("%s\n%s", diff, got)
	}
}

func TestPlainFrameHasAllTables(t *testing.T) {
	golden(t, "once-170", strings.TrimSuffix(top.Frame(top.Compute(reading(5), reading(6)), 170), "\n"))
}

func TestEveryFrameFits(t *testing.T) {
	w := newWorld(t, 80, 24)
	w.look()
	w.look()
	for _, page := range []rune{'e', 'c', '?', tea.KeyEnter, tea.KeyEscape} {
		w.press(page)
		for width := 1; width < 200; width += 13 {
			for height := 1; height < 50; height += 5 {
				w.send(tea.WindowSizeMsg{Width: width, Height: height})
				w.has(width, height)
			}
		}
	}
	w.press(tea.KeyEscape)
	w.missing = slices.Repeat([]string{"127.0.0.1:7071: connection refused"}, 9)
	w.look()
	w.err = errors.New("127.0.0.1:7070: " + strings.Repeat("connection refused ", 20))
	w.look()
	w.send(tea.WindowSizeMsg{Width: 40, Height: 10})
	w.has(40, 10, "1 of 10 workers", "No answer since", "Not in these figures", "q quit")
	w.err, w.missing = nil, nil
	w.look()
	w.send(tea.WindowSizeMsg{Width: 30, Height: 24})
	w.has(30, 24, "30x24 is too small")
	w.send(tea.WindowSizeMsg{Width: 90, Height: 24})
	w.has(90, 24, `Backpressure begins at "totals"`)
}

func TestRowsThatFindNoRoomAreReached(t *testing.T) {
	w := newWorld(t, 40, 10)
	w.seconds = 40
	w.look()
	w.press('c')
	w.has(40, 10, "> 40", "CHECKPOINT 5/40")
	for range 60 {
		w.press('j')
	}
	w.has(40, 10, "> 1 ")
	for range 60 {
		w.press('k')
	}
	w.has(40, 10, "> 40")
	w.press('c', 'j', tea.KeyEnter, 'j', 'j')
	w.has(40, 10, "SUBTASK", "> [1] enrich")
	w.press(tea.KeyEscape)
	w.has(40, 10, "> enrich")
}

func TestColoursTellSoftFromHard(t *testing.T) {
	w := newWorld(t, 120, 40)
	w.m = top.NewModel(top.Options{Read: w.read, Interval: time.Millisecond})
	w.send(tea.WindowSizeMsg{Width: 120, Height: 40})
	w.look()
	w.look()
	if f := w.frame(); !strings.Contains(f, lipgloss.NewStyle().Foreground(lipgloss.Color("3")).Render(" 50%")) ||
		!strings.Contains(f, lipgloss.NewStyle().Foreground(lipgloss.Color("1")).Render(" 40%")) {
		t.Errorf("%q", f)
	}
}

func TestALostEndpointSaysSinceWhenAndComesBack(t *testing.T) {
	w := newWorld(t, 100, 30)
	w.has(100, 30, "asking 127.0.0.1:7070")
	w.err = errors.New("127.0.0.1:7070: connection refused")
	if w.look() == nil {
		t.Fatal("it does not ask again")
	}
	w.has(100, 30, "No answer since 03:02:02 (0 ago): 127.0.0.1:7070: connection refused.")
	w.err = nil
	w.look()
	w.look()
	w.err = errors.New("127.0.0.1:7070: connection refused")
	for range 3 {
		if w.look() == nil {
			t.Fatal("it does not ask again")
		}
	}
	w.has(100, 30, "No answer since 03:02:05 (2.00s ago)", "orders-in") // the last figures stay
	w.err = nil
	w.look()
	w.has(100, 30, "over 4.00s")
	if strings.Contains(w.frame(), "No answer") {
		t.Error(w.frame())
	}
}

func TestAnEndedJobStaysAndIsAskedNoMore(t *testing.T) {
	w := newWorld(t, 100, 30)
	w.look()
	w.change = func(s *perf.JobSnapshot) { s.Ended = true }
	if w.look() != nil {
		t.Error("it asks on")
	}
	w.has(100, 30, "The job has ended", "totals")
}

// Workers end one after the other: the last figures are those of all.
func TestAnEndedJobKeepsTheFiguresOfAllWorkers(t *testing.T) {
	w := newWorld(t, 100, 30)
	w.look()
	w.look()
	w.change, w.missing = func(s *perf.JobSnapshot) { s.Ended = true }, []string{"127.0.0.1:7071: connection refused"}
	w.look()
	w.has(100, 30, "The job has ended", "orders, 2 workers, 03:02:07", "240k")
	if strings.Contains(w.frame(), "Not in these") {
		t.Error(w.frame())
	}
}

func TestPauseStopsReading(t *testing.T) {
	w := newWorld(t, 100, 30)
	tick := w.look()
	w.press('p')
	w.has(100, 30, "PAUSED overtake top")
	if w.send(tick()) != nil {
		t.Error("it reads while paused")
	}
	if w.press('p') == nil {
		t.Error("it does not go on")
	}
	if w.press('p', 'p') != nil { // a reading is under way already
		t.Error("it reads twice at once")
	}
	if cmd := w.press('q'); cmd == nil || cmd() != tea.Quit() {
		t.Error("q does not quit")
	}
}

func TestMissingWorkersAndNoMeasurementAreSaid(t *testing.T) {
	w := newWorld(t, 100, 30)
	w.missing = []string{"127.0.0.1:7071: connection refused"}
	w.look()
	w.has(100, 30, "1 of 2 workers", "Not in these figures: 127.0.0.1:7071: connection refused", "since the start, 5.00s ago")
	w.missing = nil
	w.change = func(s *perf.JobSnapshot) { s.Measured = false }
	w.look()
	w.has(100, 30, "Not known: nothing is measured")
}
