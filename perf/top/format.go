package top

import (
	"fmt"
	"math"
	"strings"

	"charm.land/lipgloss/v2"
)

const none = "–" // there is no such figure

// scaled writes three digits and a unit.
func scaled(v float64, units []string, step float64) string {
	i := 0
	for v >= step*0.9995 && i < len(units)-1 {
		v /= step
		i++
	}
	switch {
	case v >= 99.95 || v == math.Trunc(v) && i == 0:
		return fmt.Sprintf("%.0f%s", v, units[i])
	case v >= 9.995:
		return fmt.Sprintf("%.1f%s", v, units[i])
	}
	return fmt.Sprintf("%.2f%s", v, units[i])
}

func count(v float64) string { return scaled(v, []string{"", "k", "M", "G", "T"}, 1000) }

func bytes(v float64) string { return scaled(v, []string{"B", "kB", "MB", "GB", "TB"}, 1000) }

// duration writes seconds.
func duration(s float64) string {
	switch {
	case s <= 0:
		return "0"
	case s >= 3600:
		return fmt.Sprintf("%.0fh%02.0fm", math.Floor(s/3600), math.Floor(math.Mod(s, 3600)/60))
	case s >= 120:
		return fmt.Sprintf("%.0fm%02.0fs", math.Floor(s/60), math.Floor(math.Mod(s, 60)))
	}
	return scaled(s*1e9, []string{"ns", "µs", "ms", "s"}, 1000)
}

// percent writes a share; what is there at all is not written as 0.
func percent(share float64) string {
	switch {
	case share <= 0:
		return "0%"
	case share < 0.005:
		return "<1%"
	}
	return fmt.Sprintf("%.0f%%", 100*share)
}

// known is text if it is known, else none.
func known(is bool, text string) string {
	if !is {
		return none
	}
	return text
}

// cut shortens text to a width, with an ellipsis.
func cut(text string, width int) string {
	if lipgloss.Width(text) <= width {
		return text
	}
	if width <= 0 {
		return ""
	}
	var b strings.Builder
	used := 0
	for _, r := range text {
		w := lipgloss.Width(string(r))
		if used+w > width-1 {
			break
		}
		b.WriteRune(r)
		used += w
	}
	return b.String() + "…"
}

// pad fills text with spaces, on the left if it is to be at the right.
func pad(text string, width int, right bool) string {
	fill := strings.Repeat(" ", max(0, width-lipgloss.Width(text)))
	if right {
		return fill + text
	}
	return text + fill
}

// wrap breaks text at spaces into lines of a width, at most so many; the last is cut.
func wrap(text string, width, most int) (lines []string) {
	line := ""
	for _, word := range strings.Fields(text) {
		switch {
		case line == "":
			line = word
		case lipgloss.Width(line)+1+lipgloss.Width(word) <= width || len(lines) == most-1:
			line += " " + word
		default:
			lines = append(lines, cut(line, width))
			line = word
		}
	}
	return append(lines, cut(line, width))
}

// plural writes a number of things.
func plural(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}
