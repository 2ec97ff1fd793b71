package top

import "charm.land/lipgloss/v2"

// styles are the looks of a frame. The zero value is plain text.
type styles struct {
	title, dim, head, selected, good, busy, soft, hard, alarm lipgloss.Style
}

// colours are for terminals; whoever draws takes them away where there are none, or
// NO_COLOR is set. Nothing is told by colour alone.
func colours() styles {
	fg := func(c string) lipgloss.Style { return lipgloss.NewStyle().Foreground(lipgloss.Color(c)) }
	return styles{
		title: lipgloss.NewStyle().Bold(true), dim: lipgloss.NewStyle().Faint(true), head: lipgloss.NewStyle().Underline(true),
		selected: lipgloss.NewStyle().Reverse(true), good: fg("2"), busy: fg("4"), soft: fg("3"), hard: fg("1"), alarm: fg("1").Bold(true),
	}
}

// paint applies a style, or leaves the text alone if the frame is plain.
func paint(s lipgloss.Style, text string) string {
	if text == "" {
		return ""
	}
	return s.Render(text)
}
