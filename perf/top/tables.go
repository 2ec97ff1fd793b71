package top

import (
	"fmt"
	"strings"
	"time"

	"charm.land/lipgloss/v2"
)

// barWidth is how many signs a bar of an operator's time has.
const barWidth = 20

// operatorTable has a row for each operator, or for each subtask of one.
func operatorTable(rows []Operator, first string, selected int, st styles) table {
	t := table{selected: selected, least: 16, columns: []column{
		{title: first}, {title: "TASKS", rank: 7}, {title: "IN/s", rank: 1}, {title: "OUT/s", rank: 4},
		{title: "BUSY", rank: 1}, {title: "IDLE", rank: 6}, {title: "SOFT", rank: 2}, {title: "HARD", rank: 2},
		{title: "TIME" + strings.Repeat(" ", barWidth-4), rank: 11}, {title: "PER REC", rank: 10},
		{title: "QUEUE", rank: 3}, {title: "Q P50", rank: 8}, {title: "Q P99", rank: 5}, {title: "LAG", rank: 9},
	}}
	for i := range rows {
		t.rows = append(t.rows, operatorRow(&rows[i], st))
	}
	return t
}

func operatorRow(o *Operator, st styles) []cell {
	spent := o.Unused == 0
	share := func(v float64, look lipgloss.Style, from float64) cell {
		c := plain(known(spent, percent(v)))
		if spent && v >= from {
			c.style = look
		}
		return c
	}
	tasks := fmt.Sprint(o.Running)
	if o.Running != o.Parallelism && len(o.Subtasks) > 0 {
		tasks = fmt.Sprintf("%d/%d", o.Running, o.Parallelism)
	}
	if len(o.Subtasks) == 0 {
		tasks = known(o.Running > 0, "runs")
	}
	lag := none
	if o.Lag != nil {
		lag = duration(*o.Lag)
	}
	return []cell{
		plain(o.Name), plain(tasks), plain(count(o.RecordsIn)), plain(known(!o.Sink, count(o.RecordsOut))),
		share(o.Busy, st.busy, 0.5), plain(known(spent, percent(o.Idle))), share(o.Soft, st.soft, 0.005), share(o.Hard, st.hard, 0.005),
		plain(bar(o, st)), plain(known(o.PerRecord > 0, duration(o.PerRecord))),
		plain(known(!o.Source, fmt.Sprint(o.QueuedIn))), plain(known(o.Queued > 0, duration(o.QueueP50))),
		plain(known(o.Queued > 0, duration(o.QueueP99))), plain(lag),
	}
}

// bar draws what an operator spends its time on: busy, backpressured hard and soft, and
// idle.
func bar(o *Operator, st styles) string {
	if o.Unused > 0 {
		return ""
	}
	var b strings.Builder
	drawn, upTo := 0, 0.0
	for _, part := range []struct {
		share float64
		sign  string
		look  lipgloss.Style
	}{{o.Busy, "█", st.busy}, {o.Hard, "▓", st.hard}, {o.Soft, "░", st.soft}} {
		upTo += part.share
		n := min(barWidth, int(upTo*barWidth+0.5))
		b.WriteString(paint(part.look, strings.Repeat(part.sign, max(0, n-drawn))))
		drawn = max(drawn, n)
	}
	return b.String() + paint(st.dim, strings.Repeat("·", barWidth-drawn))
}

func edgeTable(edges []Edge, st styles) table {
	t := table{selected: -1, least: 34, columns: []column{
		{title: "EDGE"}, {title: "REC/s", rank: 1}, {title: "BYTES/s", rank: 6}, {title: "QUEUED", rank: 3}, {title: "Q P50", rank: 5},
		{title: "Q P99", rank: 4}, {title: "CREDITS", rank: 2}, {title: "STARVED", rank: 7}, {title: "CR WAIT/s", rank: 8}, {title: "P99", rank: 9},
		{title: "BUF WAIT/s", rank: 11}, {title: "P99", rank: 12}, {title: "POOL", rank: 10},
	}}
	for i := range edges {
		e := &edges[i]
		starved, pool := plain(fmt.Sprintf("%d/%d", e.Starved, e.Channels)), plain(fmt.Sprintf("%d/%d", e.PoolHeld, e.PoolLimit))
		if e.Starved > 0 {
			starved.style = st.soft
		}
		if e.PoolHeld >= e.PoolLimit && e.PoolLimit > 0 {
			pool.style = st.soft
		}
		t.rows = append(t.rows, []cell{
			plain(fmt.Sprintf("%s → %s (%s)", e.From, e.To, e.Pattern)), plain(count(e.Records)), plain(bytes(e.Bytes)),
			plain(fmt.Sprintf("%d+%d", e.QueuedOut, e.QueuedIn)), plain(known(e.Queued > 0, duration(e.QueueP50))), plain(known(e.Queued > 0, duration(e.QueueP99))),
			plain(fmt.Sprint(e.Credits)), starved, plain(count(e.CreditWaits)), plain(known(e.CreditP99 > 0, duration(e.CreditP99))),
			plain(count(e.BufferWaits)), plain(known(e.BufferP99 > 0, duration(e.BufferP99))), pool,
		})
	}
	return t
}

func checkpointTable(c *Checkpoints, at time.Time) table {
	t := table{selected: -1, least: 16, columns: []column{
		{title: "CHECKPOINT"}, {title: "AGO", rank: 5}, {title: "TOOK", rank: 1}, {title: "PAUSE", rank: 2}, {title: "ALIGN", rank: 4},
		{title: "IN FLIGHT", rank: 3}, {title: "WRITTEN", rank: 6}, {title: "WHOLE", rank: 7}, {title: "BARRIERS", rank: 8},
	}}
	for i := len(c.Recent) - 1; i >= 0; i-- {
		k := &c.Recent[i]
		name, barriers := fmt.Sprint(k.ID), "waited in line"
		if k.Savepoint {
			name += " (savepoint)"
		}
		if k.Overtook {
			barriers = "overtook records"
		}
		ago := at.Sub(k.Triggered).Seconds() - k.Duration
		t.rows = append(t.rows, []cell{
			plain(name), plain(duration(ago)), plain(duration(k.Duration)), plain(duration(k.Pause)), plain(duration(k.Alignment)),
			plain(bytes(float64(k.InFlightBytes))), plain(bytes(float64(k.Bytes))), plain(bytes(float64(k.FullBytes))), plain(barriers),
		})
	}
	return t
}
