package recovery_test

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/overtake-stream/overtake/checkpoint"
	"github.com/overtake-stream/overtake/internal/recovery"
	"github.com/overtake-stream/overtake/internal/task"
	"github.com/overtake-stream/overtake/netstack/record"
	"github.com/overtake-stream/overtake/operators"
)

const edgeKey = "a > b #0"

// data is an encoded record that holds n.
func data(n int) record.Record {
	hash := operators.HashInt(uint64(n))
	return record.Record{Kind: record.Data, Hash: hash, Payload: binary.LittleEndian.AppendUint32(nil, uint32(n))}
}

// run is records of one channel, as the checkpoint of a subtask has them.
type run struct {
	from, to int
	out      byte
	records  []record.Record
}

// flight is a part with captured records.
func flight(runs ...run) checkpoint.Part {
	var index, records []byte
	for _, r := range runs {
		var b []byte
		for _, rec := range r.records {
			b = record.Append(b, rec)
		}
		index = binary.LittleEndian.AppendUint32(index, uint32(len(edgeKey)))
		index = append(index, edgeKey...)
		index = binary.LittleEndian.AppendUint32(index, uint32(r.from))
		index = binary.LittleEndian.AppendUint32(index, uint32(r.to))
		index = binary.LittleEndian.AppendUint64(append(index, r.out), uint64(len(b)))
		records = append(records, b...)
	}
	return checkpoint.Part{
		Kind: checkpoint.Channels, State: "in flight, small",
		Inline: append(operators.JoinPieces([][]byte{index}), records...),
	}
}

// manifest has the operators a and b with two subtasks each, and records in flight that
// both ends have captured.
func manifest() *checkpoint.Manifest {
	mark := record.Record{Kind: record.Watermark, Payload: make([]byte, 8)}
	sub := func(i int, parts ...checkpoint.Part) checkpoint.Subtask {
		return checkpoint.Subtask{Index: i, Parts: parts}
	}
	split := func(names ...string) checkpoint.Part {
		var list [][]byte
		for _, n := range names {
			list = append(list, []byte(n))
		}
		return checkpoint.Part{Kind: checkpoint.Splits, Inline: operators.JoinPieces(list)}
	}
	return &checkpoint.Manifest{ID: 1, MaxParallelism: 8, Operators: []checkpoint.Operator{
		{UID: "a", Parallelism: 2, Subtasks: []checkpoint.Subtask{
			sub(0, split("p", "q"), flight(run{0, 0, 1, []record.Record{data(2), mark}}, run{0, 1, 1, []record.Record{data(12)}})),
			sub(1, split("r")),
		}},
		{UID: "b", Parallelism: 2, Subtasks: []checkpoint.Subtask{
			sub(0, flight(run{0, 0, 0, []record.Record{data(0), mark, data(1)}}, run{1, 0, 0, []record.Record{data(5)}})),
			sub(1, flight(run{0, 1, 0, []record.Record{data(10), data(11)}})),
		}},
	}}
}

// deal is the numbers in flight that each of n subtasks gets, by sender.
func deal(t *testing.T, e recovery.Edge, n int) (got [][]string) {
	t.Helper()
	d, err := recovery.New(context.Background(), recovery.From{Manifest: manifest(), Groups: 8})
	if err != nil {
		t.Fatal(err)
	}
	e.Key, e.Sender, e.Receiver, e.Senders, e.Parallelism = edgeKey, "a", "b", 2, n
	for i := range n {
		share, err := d.Share(recovery.Subtask{Index: i, Parallelism: n, UIDs: []string{"b"}, Inputs: []recovery.Edge{e}})
		if err != nil {
			t.Fatal(err)
		}
		var list []string
		for _, f := range share.InFlight {
			it := record.Over(f.Records)
			var r record.Record
			for {
				ok, err := it.Next(&r)
				if err != nil {
					t.Fatal(err)
				}
				if !ok {
					break
				}
				if r.Kind == record.Data {
					list = append(list, fmt.Sprintf("%d:%d", f.From, binary.LittleEndian.Uint32(r.Payload)))
				} else {
					list = append(list, fmt.Sprintf("%d:mark", f.From))
				}
			}
		}
		got = append(got, list)
	}
	return got
}

func number(r *record.Record) (int, error) {
	if len(r.Payload) != 4 {
		return 0, errors.New("that is no number")
	}
	return int(binary.LittleEndian.Uint32(r.Payload)), nil
}

func modulo(r *record.Record, n int) (int, error) {
	v, err := number(r)
	return v % n, err
}

func TestRecordsInFlightGoToTheirReceivers(t *testing.T) {
	for name, c := range map[string]struct {
		edge recovery.Edge
		n    int
		want [][]string
	}{
		"placed, same": {recovery.Edge{}, 2, [][]string{
			{"0:0", "0:mark", "0:1", "0:2", "0:mark", "1:5"}, {"0:10", "0:11", "0:12"},
		}},
		"placed, one": {recovery.Edge{}, 1, [][]string{
			{"0:0", "0:1", "0:2", "1:5", "0:10", "0:11", "0:12"},
		}},
		"placed, three": {recovery.Edge{}, 3, [][]string{
			{"0:0", "0:1", "0:2", "1:5"}, {"0:10", "0:11", "0:12"}, nil,
		}},
		"custom, same": {recovery.Edge{Pattern: recovery.Custom, Choose: modulo}, 2, [][]string{
			{"0:0", "0:mark", "0:2", "0:mark", "0:10", "0:12"}, {"0:1", "1:5", "0:11"},
		}},
		"custom, three": {recovery.Edge{Pattern: recovery.Custom, Choose: modulo}, 3, [][]string{
			{"0:0", "0:12"}, {"0:1", "0:10"}, {"0:2", "1:5", "0:11"},
		}},
		"broadcast, four": {recovery.Edge{Pattern: recovery.Broadcast}, 4, [][]string{
			{"0:0", "0:1", "0:2", "1:5"}, {"0:10", "0:11", "0:12"},
			{"0:0", "0:1", "0:2", "1:5"}, {"0:10", "0:11", "0:12"},
		}},
	} {
		t.Run(name, func(t *testing.T) {
			if got := deal(t, c.edge, c.n); !slices.EqualFunc(got, c.want, slices.Equal) {
				t.Errorf("got  %v\nwant %v", got, c.want)
			}
		})
	}
}

func TestKeyedRecordsInFlightGoToTheOwnersOfTheirKeys(t *testing.T) {
	for n := 1; n <= 4; n++ {
		seen := map[string]int{}
		for i, list := range deal(t, recovery.Edge{Pattern: recovery.Keyed}, n) {
			for _, s := range list {
				var from, v int
				if _, err := fmt.Sscanf(s, "%d:%d", &from, &v); err != nil {
					continue
				}
				seen[s]++
				owner := operators.GroupOwner(operators.KeyGroup(operators.HashInt(uint64(v)), 8), 8, n)
				if n != 2 && owner != i { // with two they stay where they were
					t.Errorf("%d subtasks: %s is at %d, its key belongs to %d", n, s, i, owner)
				}
			}
		}
		if len(seen) != 7 {
			t.Errorf("%d subtasks: %d records of 7: %v", n, len(seen), seen)
		}
	}
}

// TestAChannelIsTheSameOnlyIfTheWholeJobIs: a channel whose sender had ended may bring
// records again when an operator anywhere before it has another parallelism.
func TestAChannelIsTheSameOnlyIfTheWholeJobIs(t *testing.T) {
	for name, c := range map[string]struct {
		today map[string]int
		want  bool
	}{
		"all the same":   {map[string]int{"a": 2, "b": 2}, true},
		"another source": {map[string]int{"a": 2, "b": 2, "source": 3}, false},
		"more senders":   {map[string]int{"a": 3, "b": 2}, false},
	} {
		d, err := recovery.New(context.Background(), recovery.From{Manifest: manifest(), Groups: 8, Today: c.today})
		if err != nil {
			t.Fatal(err)
		}
		e := recovery.Edge{Key: edgeKey, Sender: "a", Receiver: "b", Senders: 2, Parallelism: 2}
		share, err := d.Share(recovery.Subtask{Parallelism: 2, UIDs: []string{"b"}, Inputs: []recovery.Edge{e}})
		if err != nil || share.SameChannels != c.want {
			t.Errorf("%s: the same channels %v, %v; want %v", name, share.SameChannels, err, c.want)
		}
	}
}

func TestSplitsAreDealtOnce(t *testing.T) {
	d, err := recovery.New(context.Background(), recovery.From{Manifest: manifest(), Groups: 8})
	if err != nil {
		t.Fatal(err)
	}
	for n := 1; n <= 4; n++ {
		var got []string
		for i := range n {
			share, err := d.Share(recovery.Subtask{Index: i, Parallelism: n, UIDs: []string{"a"}})
			if err != nil {
				t.Fatal(err)
			}
			for _, s := range share.Operators["a"].Splits {
				got = append(got, string(s))
			}
		}
		slices.Sort(got)
		if !slices.Equal(got, []string{"p", "q", "r"}) {
			t.Errorf("%d subtasks: %v", n, got)
		}
	}
}

func TestADamagedIndexIsReported(t *testing.T) {
	m := manifest()
	p := &m.Operators[1].Subtasks[0].Parts[0]
	p.Inline = p.Inline[:len(p.Inline)-8]
	_, err := recovery.New(context.Background(), recovery.From{Manifest: m, Groups: 8})
	if !errors.Is(err, task.ErrRuns) {
		t.Errorf("got %v, want %v", err, task.ErrRuns)
	}
}
