package recovery

import (
	"fmt"
	"maps"
	"slices"

	"github.com/overtake-stream/overtake/checkpoint"
	"github.com/overtake-stream/overtake/internal/task"
	"github.com/overtake-stream/overtake/netstack/record"
	"github.com/overtake-stream/overtake/operators"
)

// flight is the records that were in flight on one channel.
type flight struct {
	task.Run
	records []byte
}

// inFlight reads all records that were in flight. What was captured at the two ends of
// a channel is one run: the receiver's come first, the sender's were behind them.
func (d *Dealer) inFlight() error {
	for _, op := range d.from.Manifest.Operators {
		for _, s := range op.Subtasks {
			for _, p := range s.Parts {
				if p.Kind != checkpoint.Channels {
					continue
				}
				if err := d.addFlights(p); err != nil {
					return fmt.Errorf("recovery: records in flight of %q subtask %d: %w", op.Name, s.Index, err)
				}
			}
		}
	}
	for _, list := range d.fly {
		slices.SortStableFunc(list, func(a, b flight) int {
			switch {
			case a.To != b.To:
				return a.To - b.To
			case a.From != b.From:
				return a.From - b.From
			case a.Out == b.Out:
				return 0
			case b.Out:
				return -1
			}
			return 1
		})
	}
	return nil
}

// Edges names, in order, the edges that records were in flight on.
func (d *Dealer) Edges() []string { return slices.Sorted(maps.Keys(d.fly)) }

func (d *Dealer) addFlights(p checkpoint.Part) error {
	f, err := task.ParseFlight(p)
	if err != nil {
		return err
	}
	records := f.Records
	if len(p.Chain) > 0 {
		if records, err = d.shared(f); err != nil {
			return err
		}
	}
	for _, run := range f.Runs {
		d.fly[run.Edge] = append(d.fly[run.Edge], flight{Run: run, records: records[:run.Bytes:run.Bytes]})
		records = records[run.Bytes:]
	}
	return nil
}

// shared returns a part's records from a blob that may hold those of others. The blob is
// read once.
func (d *Dealer) shared(f task.Flight) ([]byte, error) {
	whole, ok := d.blobs[f.Blob.Name]
	if !ok {
		var err error
		if whole, err = d.blob(f.Blob); err != nil {
			return nil, err
		}
		d.blobs[f.Blob.Name] = whole
	}
	if n := f.Size(); f.Offset < 0 || n > int64(len(whole)) || f.Offset > int64(len(whole))-n {
		return nil, task.ErrRuns
	}
	return whole[f.Offset:], nil
}

// runs are the records in flight on an edge that a subtask is to process.
func (d *Dealer) runs(e *Edge, index int) (list []task.InFlight, err error) {
	flights := d.fly[e.Key]
	for i := 0; i < len(flights); {
		whole := flights[i].records
		ch := flights[i].Channel
		for i++; i < len(flights) && flights[i].Channel == ch; i++ {
			whole = append(slices.Clip(whole), flights[i].records...)
		}
		mine, err := d.route(e, ch, whole, index)
		if err != nil {
			return nil, err
		}
		if len(mine) > 0 {
			ch.To = index
			list = append(list, task.InFlight{Channel: ch, Input: e.Input, Records: mine})
		}
	}
	return list, nil
}

// route picks from the records of a channel those that go to subtask index today.
func (d *Dealer) route(e *Edge, ch task.Channel, records []byte, index int) ([]byte, error) {
	before, now := d.before(e), e.Parallelism
	switch {
	case e.Pattern == Broadcast:
		if index%before == ch.To {
			return records, nil
		}
		return nil, nil
	case before == now && e.Pattern != Custom:
		if ch.To == index {
			return records, nil
		}
		return nil, nil
	case e.Pattern == Keyed:
		groups := d.from.Groups
		return pick(records, false, func(rec *record.Record) (bool, error) {
			return operators.GroupOwner(operators.KeyGroup(rec.Hash, groups), groups, now) == index, nil
		})
	case e.Pattern == Custom:
		return pick(records, before == now && ch.To == index, func(rec *record.Record) (bool, error) {
			to, err := e.Choose(rec, now)
			return to == index, err
		})
	}
	if ch.To%now == index {
		return records, nil
	}
	return nil, nil
}

// before is how many subtasks the receiving operator had.
func (d *Dealer) before(e *Edge) int {
	if op := d.saved[e.Receiver]; op != nil {
		return op.Parallelism
	}
	return e.Parallelism
}

// pick copies the data records that want accepts, and if marks is set, the others: they
// say something about a channel, and mean nothing if that is no more.
func pick(records []byte, marks bool, want func(*record.Record) (bool, error)) (picked []byte, err error) {
	it := record.Over(records)
	var rec record.Record
	for {
		ok, err := it.Next(&rec)
		if err != nil || !ok {
			return picked, err
		}
		mine := marks
		if rec.Kind == record.Data {
			if mine, err = want(&rec); err != nil {
				return nil, err
			}
		}
		if mine {
			picked = record.Append(picked, rec)
		}
	}
}
