package top

import (
	"fmt"
	"strings"

	"charm.land/lipgloss/v2"
)

// column is one of a table. The first is on the left and takes what room there is.
type column struct {
	title string
	rank  int // the greatest is the first to go when there is no room
}

// cell is text with a look.
type cell struct {
	text  string
	style lipgloss.Style
}

func plain(text string) cell { return cell{text: text} }

// table lays rows out to a width.
type table struct {
	columns  []column
	rows     [][]cell
	selected int // row; -1: none
	least    int // width of the first column before others are left out
}

// lines draws the heading and the rows, each as wide as width or less, and no more of
// them than height: if there are more rows, those around the selected one, and the heading
// says how many of how many.
func (t *table) lines(width, height int, st styles) []string {
	if height < 2 {
		return nil
	}
	first, last := window(len(t.rows), max(t.selected, 0), height-1)
	if last-first < len(t.rows) {
		t.columns[0].title += fmt.Sprintf(" %d/%d", last-first, len(t.rows))
	}
	shown, widths := t.fit(width - 2) // each row begins with a mark
	out := []string{"  " + paint(st.head, t.heading(shown, widths))}
	for i := first; i < last; i++ {
		out = append(out, t.row(i, shown, widths, st))
	}
	return out
}

// window is the part of n rows that is shown in a height, with the selected one.
func window(n, selected, height int) (first, last int) {
	if n <= height {
		return 0, n
	}
	first = min(max(0, selected-height/2), n-height)
	return first, first + height
}

// fit chooses columns and their widths.
func (t *table) fit(width int) (shown, widths []int) {
	natural := make([]int, len(t.columns))
	for c := range t.columns {
		natural[c] = lipgloss.Width(t.columns[c].title)
		for _, r := range t.rows {
			natural[c] = max(natural[c], lipgloss.Width(r[c].text))
		}
		shown = append(shown, c)
	}
	for {
		room := width
		for _, c := range shown[1:] {
			room -= natural[c] + 2
		}
		if room >= min(t.least, natural[0]) || len(shown) == 1 {
			natural[0] = min(natural[0], max(room, 1))
			break
		}
		worst := 1
		for i := range shown {
			if i > 0 && t.columns[shown[i]].rank >= t.columns[shown[worst]].rank {
				worst = i
			}
		}
		shown = append(shown[:worst:worst], shown[worst+1:]...)
	}
	for _, c := range shown {
		widths = append(widths, natural[c])
	}
	return shown, widths
}

func (t *table) heading(shown, widths []int) string {
	var parts []string
	for i, c := range shown {
		parts = append(parts, pad(cut(t.columns[c].title, widths[i]), widths[i], c > 0))
	}
	return strings.Join(parts, "  ")
}

func (t *table) row(i int, shown, widths []int, st styles) string {
	mark := "  "
	if i == t.selected {
		mark = "> "
	}
	var parts []string
	for k, c := range shown {
		text := pad(cut(t.rows[i][c].text, widths[k]), widths[k], c > 0)
		if c == 0 && i == t.selected {
			text = paint(st.selected, text)
		} else {
			text = paint(t.rows[i][c].style, text)
		}
		parts = append(parts, text)
	}
	return strings.TrimRight(mark+strings.Join(parts, "  "), " ")
}
