package top

import (
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"
)

// The least terminal that a frame is drawn for.
const (
	leastWidth  = 40
	leastHeight = 10
	roomy       = 16 // from this height on there is a summary of processes and checkpoints
)

// View implements tea.Model.
func (m Model) View() tea.View {
	v := tea.NewView(m.frame())
	v.AltScreen = true
	v.WindowTitle = "overtake top"
	return v
}

// frame draws what there is, in at most height lines of at most width.
func (m Model) frame() string {
	st := styles{}
	if !m.opt.Plain {
		st = colours()
	}
	if m.width < leastWidth || m.height < leastHeight {
		return cut(fmt.Sprintf("%dx%d is too small: %dx%d at least", m.width, m.height, leastWidth, leastHeight), m.width)
	}
	lines := m.head(st)
	lines = lines[:min(len(lines), m.height-1)]
	room := m.height - len(lines) - 1
	lines = append(lines, m.body(room, st)...)
	for len(lines) < m.height-1 {
		lines = append(lines, "")
	}
	return strings.Join(append(lines, m.foot(st)), "\n")
}

// head says which job this is, how it is, and what holds it up.
func (m Model) head(st styles) []string {
	if m.figures == nil {
		lines := []string{paint(st.title, "overtake top"), ""}
		if m.lost.IsZero() {
			return append(lines, "asking "+strings.Join(m.opt.Addrs, ", "))
		}
		return append(lines, m.outage(st)...)
	}
	lines := []string{cut(headline(m.figures), m.width)}
	if m.paused {
		lines[0] = cut("PAUSED "+lines[0], m.width)
	}
	lines[0] = paint(st.title, lines[0])
	lines = append(lines, verdict(m.figures, m.width, 2+m.height/roomy, st)...)
	switch {
	case m.figures.Ended:
		lines = append(lines, paint(st.alarm, cut("The job has ended; these are its last figures.", m.width)))
	case !m.lost.IsZero():
		lines = append(lines, m.outage(st)...)
	}
	if missing := m.figures.Missing; len(missing) > 0 {
		for _, l := range wrap("Not in these figures: "+strings.Join(missing, "; "), m.width, 2) {
			lines = append(lines, paint(st.alarm, l))
		}
	}
	if m.height >= roomy {
		for _, l := range append(wrap(processes(m.figures), m.width, 2), wrap(lastCheckpoint(m.figures), m.width, 2)...) {
			lines = append(lines, paint(st.dim, l))
		}
	}
	return lines
}

// outage says that the endpoint is gone: the process may have ended, or cannot be reached.
func (m Model) outage(st styles) []string {
	text := fmt.Sprintf("No answer since %s (%s ago): %s. Either the job has ended, or it cannot be reached; asking again.",
		m.lost.Format("15:04:05"), duration(m.now.Sub(m.lost).Seconds()), m.why)
	var lines []string
	for _, l := range wrap(text, m.width, 3) {
		lines = append(lines, paint(st.alarm, l))
	}
	return lines
}

func (m Model) foot(st styles) string {
	keys := "q quit  ↑↓ select  enter subtasks  e edges  c checkpoints  p pause  ? help"
	if m.width < lipgloss.Width(keys) {
		keys = "q quit  ↑↓ enter  e  c  p  ? help"
	}
	return paint(st.dim, cut(keys, m.width))
}

// body draws the page in height lines or fewer.
func (m Model) body(height int, st styles) []string {
	if m.page == pageHelp {
		return helpText(m.width, height)
	}
	if m.figures == nil || height < 2 {
		return nil
	}
	f := m.figures
	var t table
	switch m.page {
	case pageSubtasks:
		if len(f.Operators) == 0 {
			return nil
		}
		t = operatorTable(f.Operators[m.row()].Subtasks, "SUBTASK", -1, st)
	case pageEdges:
		t = edgeTable(f.Edges, st)
	case pageCheckpoints:
		t = checkpointTable(&f.Checkpoints, f.At)
	default:
		return jobPage(f, m.row(), m.width, height, st)
	}
	t.selected = min(m.line, len(t.rows)-1)
	if height < roomy/2 {
		return t.lines(m.width, height, st)
	}
	return append([]string{""}, t.lines(m.width, height-1, st)...)
}

// jobPage has the operators, and the edges below them if there is room.
func jobPage(f *Figures, selected, width, height int, st styles) []string {
	ops := operatorTable(f.Operators, "OPERATOR", selected, st)
	if height > len(ops.rows)+6 {
		height-- // a blank line above
		lines := append([]string{""}, ops.lines(width, height, st)...)
		edges := edgeTable(f.Edges, st)
		return append(append(lines, ""), edges.lines(width, height-len(lines), st)...)
	}
	lines := ops.lines(width, height, st)
	if left := height - len(lines); left >= 3 && len(f.Edges) > 0 {
		edges := edgeTable(f.Edges, st)
		lines = append(append(lines, ""), edges.lines(width, left-1, st)...)
	}
	return lines
}

// Frame draws figures as plain text: all tables, the latest
// checkpoints among them, with lines of at most width.
func Frame(f Figures, width int) string {
	lines := append([]string{headline(&f)}, verdict(&f, width, 9, styles{})...)
	if f.Ended {
		lines = append(lines, "The job has ended; these are its last figures.")
	}
	for _, missing := range f.Missing {
		lines = append(lines, "Not in these figures: "+missing)
	}
	lines = append(lines, processes(&f), lastCheckpoint(&f))
	tables := []table{operatorTable(f.Operators, "OPERATOR", -1, styles{}), edgeTable(f.Edges, styles{})}
	if n := len(f.Checkpoints.Recent); n > 0 {
		latest := Checkpoints{Recent: f.Checkpoints.Recent[max(0, n-5):]}
		tables = append(tables, checkpointTable(&latest, f.At))
	}
	for i := range tables {
		lines = append(append(lines, ""), tables[i].lines(width, len(tables[i].rows)+1, styles{})...)
	}
	return strings.Join(lines, "\n") + "\n"
}
