package prometheus

import (
	"strconv"

	"github.com/overtake-stream/overtake/perf"
)

// bySubtask makes a metric that each subtask has one value of.
func bySubtask(name, kind, help string, value func(s *perf.SubtaskSnapshot) float64) metric {
	return maybeBySubtask(name, kind, help, func(s *perf.SubtaskSnapshot) *float64 {
		v := value(s)
		return &v
	})
}

// maybeBySubtask is bySubtask for values that there may not be.
func maybeBySubtask(name, kind, help string, value func(s *perf.SubtaskSnapshot) *float64) metric {
	return metric{Metric{name, kind, []string{"operator", "subtask"}, help}, func(s *perf.JobSnapshot, out *sink) {
		for _, o := range s.Operators {
			for i := range o.Subtasks {
				if v := value(&o.Subtasks[i]); v != nil {
					out.value(*v, o.ID, strconv.Itoa(o.Subtasks[i].Index))
				}
			}
		}
	}}
}

func subtaskMetrics() []metric {
	activity := metric{Metric{"overtake_subtask_time_seconds_total", counter, []string{"operator", "subtask", "activity"},
		"What a subtask has spent its time on: busy; idle, waiting for input; backpressured, waiting for output between two records (soft); blocked, waiting for output in the middle of one (hard). The sum is the wall time since its start."},
		activities}
	return []metric{
		{Metric{"overtake_operator_info", gauge, []string{"operator", "name"}, "1. The name of a chain of operators; operator, here and everywhere, is the UID of the first one, or its number and name."},
			func(s *perf.JobSnapshot, out *sink) {
				for _, o := range s.Operators {
					out.value(1, o.ID, o.Name)
				}
			}},
		activity,
		bySubtask("overtake_subtask_received_records_total", counter, "Records read from the input or the source.",
			func(s *perf.SubtaskSnapshot) float64 { return float64(s.RecordsIn) }),
		bySubtask("overtake_subtask_sent_records_total", counter, "Records sent to other subtasks, counted for each receiver.",
			func(s *perf.SubtaskSnapshot) float64 { return float64(s.RecordsOut) }),
		bySubtask("overtake_subtask_received_buffers_total", counter, "Buffers read from the input.",
			func(s *perf.SubtaskSnapshot) float64 { return float64(s.BuffersIn) }),
		bySubtask("overtake_subtask_sent_buffers_total", counter, "Buffers queued for receivers.",
			func(s *perf.SubtaskSnapshot) float64 { return float64(s.BuffersOut) }),
		bySubtask("overtake_subtask_received_bytes_total", counter, "Bytes in buffers read from the input.",
			func(s *perf.SubtaskSnapshot) float64 { return float64(s.BytesIn) }),
		bySubtask("overtake_subtask_sent_bytes_total", counter, "Bytes in buffers queued for receivers.",
			func(s *perf.SubtaskSnapshot) float64 { return float64(s.BytesOut) }),
		bySubtask("overtake_subtask_input_queue_buffers", gauge, "Buffers that have arrived and were not read.",
			func(s *perf.SubtaskSnapshot) float64 { return float64(s.QueuedIn) }),
		bySubtask("overtake_subtask_output_queue_buffers", gauge, "Buffers that wait to be sent.",
			func(s *perf.SubtaskSnapshot) float64 { return float64(s.QueuedOut) }),
		maybeBySubtask("overtake_subtask_watermark_timestamp_seconds", gauge, "Event time of the subtask, as Unix time. Absent without one.",
			func(s *perf.SubtaskSnapshot) *float64 { return s.Watermark }),
		maybeBySubtask("overtake_subtask_watermark_lag_seconds", gauge, "How far the event time is behind the wall clock.",
			func(s *perf.SubtaskSnapshot) *float64 { return s.Lag }),
		{Metric{"overtake_operator_process_seconds", histogram, []string{"operator"}, "Busy time for a buffer of the input; of a source, for what was read between two looks at the clock."},
			func(s *perf.JobSnapshot, out *sink) {
				for i := range s.Operators {
					if o := &s.Operators[i]; len(o.Subtasks) > 0 {
						out.times(o.Sum().Process, o.ID)
					}
				}
			}},
	}
}

func activities(s *perf.JobSnapshot, out *sink) {
	for _, o := range s.Operators {
		for i := range o.Subtasks {
			t := &o.Subtasks[i]
			subtask := strconv.Itoa(t.Index)
			out.value(t.Busy, o.ID, subtask, "busy")
			out.value(t.Idle, o.ID, subtask, "idle")
			out.value(t.Backpressured-t.Blocked, o.ID, subtask, "backpressured")
			out.value(t.Blocked, o.ID, subtask, "blocked")
		}
	}
}
