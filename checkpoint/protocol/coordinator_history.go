package protocol

// Record is a checkpoint that has ended. Times are in nanoseconds.
type Record struct {
	ID        ID
	Kind      Kind
	Mode      Mode
	Triggered int64
	Ended     int64
	Reason    Reason // zero: it is complete
	Acks      int    // members that acknowledged
	Members   int    // of so many
	FirstAck  int64  // if Acks > 0
	LastAck   int64  // if Acks > 0
	Slowest   Member // who acknowledged last, if Acks > 0

	doubt    bool  // it was handed to Publish and aborted before the outcome was known
	payloads []any // if in doubt
}

// Complete says whether the checkpoint succeeded.
func (r *Record) Complete() bool { return r.Reason.Cause == CauseNone }

// history is a ring of the newest records.
type history struct {
	records []Record
	next    int // where the oldest is, once the ring is full
	size    int
}

func (h *history) add(r Record) {
	if len(h.records) < h.size {
		h.records = append(h.records, r)
		return
	}
	h.records[h.next] = r
	h.next = (h.next + 1) % h.size
}

func (h *history) find(id ID) *Record {
	for i := range h.records {
		if h.records[i].ID == id {
			return &h.records[i]
		}
	}
	return nil
}

// History appends the newest checkpoints that have ended to dst, in the order of
// their ends.
func (c *Coordinator) History(dst []Record) []Record {
	h := &c.history
	for i := range h.records {
		r := h.records[(h.next+i)%len(h.records)]
		r.payloads = nil
		dst = append(dst, r)
	}
	return dst
}

// newest is the record that was added last. There must be one.
func (h *history) newest() *Record {
	return &h.records[(h.next+len(h.records)-1)%len(h.records)]
}
