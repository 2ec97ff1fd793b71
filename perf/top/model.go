package top

import (
	"context"
	"time"

	tea "charm.land/bubbletea/v2"
)

// readTimeout is how long a reading may take.
const readTimeout = 5 * time.Second

// Options say what a Model shows.
type Options struct {
	// Read takes a reading: Client.Read. Commands call it, one at a time.
	Read func(context.Context) (Reading, error)

	// Now tells the time of readings. Default: time.Now.
	Now func() time.Time

	Addrs    []string      // where Read reads, for people
	Interval time.Duration // from one reading to the next
	Plain    bool          // no colours and no other looks
}

// page is what a Model shows below the headline.
type page int

const (
	pageJob page = iota
	pageSubtasks
	pageEdges
	pageCheckpoints
	pageHelp
)

// Model is the terminal view: a tea.Model, changed by messages only.
type Model struct {
	opt           Options
	width, height int
	page          page
	selected      string // Operator.ID; empty: the first
	line          int    // selected row of the other pages

	last    Reading
	figures *Figures  // nil: nothing was read yet
	now     time.Time // of the last message that told it
	lost    time.Time // of the first reading that failed since one that did not; zero: the last one did not
	why     string    // it failed
	paused  bool
	frozen  bool // between p and the next reading nothing is under way
}

// NewModel shows nothing before it is told the terminal's size and a reading.
func NewModel(o Options) Model {
	if o.Now == nil {
		o.Now = time.Now
	}
	return Model{opt: o}
}

// readingMsg is what became of a reading.
type readingMsg struct {
	at      time.Time
	reading Reading
	err     error
}

// tickMsg says that the next reading is due.
type tickMsg struct{ at time.Time }

// Init implements tea.Model.
func (m Model) Init() tea.Cmd { return m.read }

// read is a command.
func (m Model) read() tea.Msg {
	ctx, cancel := context.WithTimeout(context.Background(), readTimeout)
	defer cancel()
	r, err := m.opt.Read(ctx)
	return readingMsg{at: m.opt.Now(), reading: r, err: err}
}

// wait is a command.
func (m Model) wait() tea.Cmd {
	return tea.Tick(m.opt.Interval, func(time.Time) tea.Msg { return tickMsg{at: m.opt.Now()} })
}

// Update implements tea.Model.
func (m Model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.width, m.height = msg.Width, msg.Height
	case tea.KeyPressMsg:
		return m.press(msg.String())
	case readingMsg:
		return m.take(msg)
	case tickMsg:
		m.now = msg.at
		if m.paused {
			m.frozen = true
			return m, nil
		}
		return m, m.read
	}
	return m, nil
}

// take takes a reading up, and sees to the next one unless the job has ended.
func (m Model) take(msg readingMsg) (tea.Model, tea.Cmd) {
	m.now = msg.at
	if msg.err != nil {
		if m.lost.IsZero() {
			m.lost = msg.at
		}
		m.why = msg.err.Error()
		return m, m.wait()
	}
	m.lost, m.why = time.Time{}, ""
	f := Compute(m.last, msg.reading)
	if f.Ended && len(f.Missing) > 0 && m.figures != nil {
		f = *m.figures // the last that are of the whole job: workers end one after the other
		f.Ended = true
	}
	m.figures, m.last = &f, msg.reading
	if f.Ended {
		return m, nil
	}
	return m, m.wait()
}

// press obeys a key.
func (m Model) press(key string) (tea.Model, tea.Cmd) {
	switch key {
	case "q", "ctrl+c":
		return m, tea.Quit
	case "up", "k":
		m.move(-1)
	case "down", "j":
		m.move(1)
	case "enter":
		m.turn(pageSubtasks)
	case "e":
		m.turn(pageEdges)
	case "c":
		m.turn(pageCheckpoints)
	case "?", "h":
		m.turn(pageHelp)
	case "esc":
		m.page = pageJob
	case "p", "space":
		m.paused = !m.paused
		if !m.paused && m.frozen {
			m.frozen = false
			return m, m.read
		}
	}
	return m, nil
}

// turn shows a page, or the first one again.
func (m *Model) turn(to page) {
	if m.page == to {
		to = pageJob
	}
	m.page, m.line = to, 0
}

// row is the selected operator.
func (m *Model) row() int {
	if m.figures != nil {
		for i := range m.figures.Operators {
			if m.figures.Operators[i].ID == m.selected {
				return i
			}
		}
	}
	return 0
}

// rows is how many the page has, of those but the first.
func (m *Model) rows() int {
	switch m.page {
	case pageSubtasks:
		return len(m.figures.Operators[m.row()].Subtasks)
	case pageEdges:
		return len(m.figures.Edges)
	case pageCheckpoints:
		return len(m.figures.Checkpoints.Recent)
	}
	return 0
}

func (m *Model) move(by int) {
	if m.figures == nil || len(m.figures.Operators) == 0 {
		return
	}
	if m.page != pageJob {
		m.line = max(0, min(m.line+by, m.rows()-1))
		return
	}
	ops := m.figures.Operators
	m.selected = ops[min(max(m.row()+by, 0), len(ops)-1)].ID
}
