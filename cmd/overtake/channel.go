package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"

	"github.com/overtake-stream/overtake/checkpoint"
	"github.com/overtake-stream/overtake/internal/task"
	"github.com/overtake-stream/overtake/netstack/record"
)

// channel has the records that were in flight on a channel.
type channel struct {
	task.Channel
	AtSender, AtReceiver int64 // bytes
	Records              int
	Events               int // watermarks and the like
}

// captured is what was captured at one end of a channel.
type captured struct {
	task.Run
	bytes []byte
}

// channels counts the records in flight. What was captured at the receiver comes before
// what was captured at the sender, and a record may be in both.
func channels(blobs checkpoint.Blobs, m *checkpoint.Manifest) ([]channel, error) {
	var all []captured
	for _, op := range m.Operators {
		for _, s := range op.Subtasks {
			for _, p := range s.Parts {
				if p.Kind != checkpoint.Channels {
					continue
				}
				more, err := flight(blobs, p)
				if err != nil {
					return nil, fmt.Errorf("records in flight of %s subtask %d: %w", op.UID, s.Index, err)
				}
				all = append(all, more...)
			}
		}
	}
	slices.SortStableFunc(all, func(a, b captured) int {
		return cmp.Or(cmp.Compare(a.Edge, b.Edge), cmp.Compare(a.From, b.From), cmp.Compare(a.To, b.To), order(a.Out)-order(b.Out))
	})
	var list []channel
	for i := 0; i < len(all); {
		c := channel{Channel: all[i].Channel}
		var bytes []byte
		for ; i < len(all) && all[i].Channel == c.Channel; i++ {
			bytes = append(bytes, all[i].bytes...)
			if all[i].Out {
				c.AtSender += all[i].Bytes
			} else {
				c.AtReceiver += all[i].Bytes
			}
		}
		if err := c.count(bytes); err != nil {
			return nil, fmt.Errorf("%s, from %d to %d: %w", c.Edge, c.From, c.To, err)
		}
		list = append(list, c)
	}
	return list, nil
}

func order(out bool) int {
	if out {
		return 1
	}
	return 0
}

func (c *channel) count(bytes []byte) error {
	it := record.Over(bytes)
	var r record.Record
	for {
		ok, err := it.Next(&r)
		if err != nil || !ok {
			return err
		}
		if r.Kind == record.Data {
			c.Records++
		} else {
			c.Events++
		}
	}
}

// flight reads what one subtask has captured.
func flight(blobs checkpoint.Blobs, p checkpoint.Part) ([]captured, error) {
	f, err := task.ParseFlight(p)
	if err != nil {
		return nil, err
	}
	bytes := f.Records
	if len(p.Chain) > 0 {
		whole, err := readBlob(blobs, f.Blob)
		if err != nil {
			return nil, err
		}
		if f.Offset < 0 || f.Offset > int64(len(whole)) || f.Size() > int64(len(whole))-f.Offset {
			return nil, task.ErrRuns
		}
		bytes = whole[f.Offset:]
	}
	var list []captured
	for _, r := range f.Runs {
		list = append(list, captured{Run: r, bytes: bytes[:r.Bytes]})
		bytes = bytes[r.Bytes:]
	}
	return list, nil
}

func readBlob(blobs checkpoint.Blobs, ref checkpoint.BlobRef) ([]byte, error) {
	in, err := blobs.Open(context.Background(), ref)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	return io.ReadAll(in)
}
