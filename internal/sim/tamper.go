package sim

import (
	"encoding/binary"
	"io"

	"github.com/overtake-stream/overtake/checkpoint"
	"github.com/overtake-stream/overtake/internal/task"
	"github.com/overtake-stream/overtake/netstack/record"
	"github.com/overtake-stream/overtake/operators"
)

// tamper changes the records that a subtask has captured, to see whether that is found.
// It returns them, and whether it has changed them.
type tamper func(records [][]byte) ([][]byte, bool)

// dropOne loses a record.
func dropOne(records [][]byte) ([][]byte, bool) {
	if len(records) == 0 {
		return records, false
	}
	return records[1:], true
}

// repeatOne captures a record twice.
func repeatOne(records [][]byte) ([][]byte, bool) {
	if len(records) == 0 {
		return records, false
	}
	return append(records, records[len(records)-1]), true
}

// notice tampers with the first run of whole records in an acknowledgement.
func (f tamper) notice(a *attempt, n *task.Notice) bool {
	for i := range n.Saved {
		for j := range n.Saved[i].Parts {
			if p := &n.Saved[i].Parts[j]; p.Kind == checkpoint.Channels && f.part(a, p) {
				return true
			}
		}
	}
	return false
}

// flight reads the captured records of a part.
func (a *attempt) flight(p *checkpoint.Part) (runs []task.Run, records []byte, err error) {
	index := p.Inline
	if len(p.Chain) == 0 {
		index, records, err = task.SplitSmallFlight(p.Inline)
	} else {
		var in io.ReadCloser
		if in, err = a.w.store.Open(a.ctx, p.Chain[0]); err == nil {
			records, err = io.ReadAll(in)
		}
	}
	if err == nil {
		runs, err = task.ParseRuns(index)
	}
	return runs, records, err
}

func (f tamper) part(a *attempt, p *checkpoint.Part) bool {
	runs, records, err := a.flight(p)
	if err != nil {
		return false
	}
	done := false
	var newIndex, newRecords []byte
	for _, run := range runs {
		b := records[:run.Bytes]
		records = records[run.Bytes:]
		if list, whole := split(b); whole && !done {
			if list, done = f(list); done {
				b = join(list)
			}
		}
		newIndex, newRecords = appendRun(newIndex, run, len(b)), append(newRecords, b...)
	}
	if done {
		p.Chain, p.State = nil, "in flight, small"
		p.Inline = append(operators.JoinPieces([][]byte{newIndex}), newRecords...)
	}
	return done
}

func appendRun(b []byte, r task.Run, n int) []byte {
	b = binary.LittleEndian.AppendUint32(b, uint32(len(r.Edge)))
	b = append(b, r.Edge...)
	b = binary.LittleEndian.AppendUint32(b, uint32(r.From))
	b = binary.LittleEndian.AppendUint32(b, uint32(r.To))
	out := byte(0)
	if r.Out {
		out = 1
	}
	return binary.LittleEndian.AppendUint64(append(b, out), uint64(n))
}

// split cuts a run into data records, if it has nothing else.
func split(b []byte) (list [][]byte, whole bool) {
	it := record.Over(b)
	var r record.Record
	for it.Rest() > 0 {
		before := b[len(b)-it.Rest():]
		if ok, err := it.Next(&r); err != nil || !ok || r.Kind != record.Data {
			return nil, false
		}
		list = append(list, before[:len(before)-it.Rest()])
	}
	return list, len(list) > 0
}

func join(list [][]byte) (b []byte) {
	for _, r := range list {
		b = append(b, r...)
	}
	return b
}

// decode decodes an encoded record of an edge.
func decode(b []byte) (v rec, err error) {
	codec, err := operators.CodecFor[rec]()
	if err != nil {
		return v, err
	}
	it := record.Over(b)
	var r record.Record
	if _, err := it.Next(&r); err != nil {
		return v, err
	}
	return codec.Decode(r.Payload)
}
