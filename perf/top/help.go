package top

// helpText explains the signs and keys.
func helpText(width, height int) []string {
	text := []string{
		"",
		"BUSY     running operators              TIME  █ busy ▓ hard ░ soft · idle",
		"IDLE     waiting for input",
		"SOFT     waiting for output between two records, where checkpoints go on",
		"HARD     waiting for output in the middle of a record, where they wait too",
		"IN/s     records read; of a source, made    OUT/s  records sent to other chains",
		"QUEUE    buffers that wait for the operator; Q P50, Q P99: how long they did",
		"PER REC  busy time per record       LAG  watermark behind the wall clock",
		"QUEUED   of an edge: buffers at senders + at receivers",
		"CREDITS  buffers that may be sent at once; STARVED: channels with data and none",
		"CR WAIT  times a second that a channel ran out of credit, P99: for how long",
		"BUF WAIT times a second that a sender had no buffer; POOL: held/may hold",
		"",
		"up, down  select a row           enter  its subtasks    e  edges",
		"c         checkpoints            p      pause           q  quit",
		"esc       back to operators      A figure that is not known is written –.",
	}
	for i := range text {
		text[i] = cut(text[i], width)
	}
	return text[:min(len(text), max(height, 0))]
}
