package perf_test

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/overtake-stream/overtake/perf"
)

// What Since, Merge and Sum do is listed field by field. These tests go through all fields, so that
// one that was forgotten, or a new one, is found. A number is a count, which is
// subtracted and added up, unless it is named here.

// moments are numbers that tell of a moment, or who somebody is: Since leaves them.
const moments = ` JobSnapshot.Worker JobSnapshot.Workers JobSnapshot.PID JobSnapshot.Restarts OperatorSnapshot.Parallelism
SubtaskSnapshot.Index SubtaskSnapshot.QueuedIn SubtaskSnapshot.QueuedOut SubtaskSnapshot.Watermark SubtaskSnapshot.Lag
EdgeSnapshot.Input SenderSnapshot.Subtask SenderSnapshot.Channels SenderSnapshot.QueuedBuffers SenderSnapshot.FullChannels
SenderSnapshot.Credits SenderSnapshot.StarvedChannels SenderSnapshot.PoolHeld SenderSnapshot.PoolLimit
ReceiverSnapshot.Subtask ReceiverSnapshot.Channels ReceiverSnapshot.QueuedBuffers
BufferSnapshot.SegmentBytes BufferSnapshot.Segments BufferSnapshot.Free BufferSnapshot.InUse BufferSnapshot.States
BufferSnapshot.ResidentBytes PoolSnapshot.Min PoolSnapshot.Limit PoolSnapshot.Held PoolSnapshot.States
ConnectionSnapshot.Worker ConnectionSnapshot.Peer ConnectionSnapshot.Cookie ConnectionSnapshot.Channels ConnectionSnapshot.Credits
ConnectionSnapshot.StarvedChannels ConnectionSnapshot.QueuedBuffers ConnectionSnapshot.QueuedBytes
LatencySnapshot.Subtask LatencySnapshot.Times LatencySnapshot.OffsetError LatencySnapshot.Lost
CheckpointSnapshot.ID CheckpointSnapshot.Duration CheckpointSnapshot.Pause CheckpointSnapshot.Alignment CheckpointSnapshot.Delay
CheckpointSnapshot.Bytes CheckpointSnapshot.FullBytes CheckpointSnapshot.InFlightBytes
RuntimeSnapshot.Goroutines RuntimeSnapshot.MaxProcs RuntimeSnapshot.HeapBytes RuntimeSnapshot.TotalBytes `

// greatest are numbers of which Merge takes the greatest, firsts those of which it takes the first.
const (
	greatest = " JobSnapshot.Workers JobSnapshot.Restarts BufferSnapshot.SegmentBytes "
	firsts   = " JobSnapshot.Worker JobSnapshot.PID OperatorSnapshot.Parallelism EdgeSnapshot.Input "
)

// listed reports whether a field, the last of a path, is in a list.
func listed(list, path string) bool {
	field := path[strings.LastIndexByte(path, '/')+1:]
	return strings.Contains(strings.ReplaceAll(list, "\n", " "), " "+field+" ")
}

// fixed are fields by which parts find each other: they are the same in all that is filled.
const fixed = " JobSnapshot.PID JobSnapshot.Restarts SubtaskSnapshot.Index SenderSnapshot.Subtask ReceiverSnapshot.Subtask EdgeSnapshot.Input ConnectionSnapshot.Worker ConnectionSnapshot.Peer "

// fill sets everything in v to n, or what is like it.
func fill(v reflect.Value, field string, n int) {
	if listed(fixed, field) {
		n = 1
	}
	switch x := v.Addr().Interface().(type) {
	case *perf.Distribution:
		*x = timesOf(make([]time.Duration, n)...)
		return
	case *time.Time:
		*x = time.Unix(int64(n), 0)
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			fill(v.Field(i), v.Type().Name()+"."+v.Type().Field(i).Name, n)
		}
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem(), field, n)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fill(v.Index(0), field, n)
	case reflect.Map:
		v.Set(reflect.ValueOf(map[string]int{"x": n}))
	case reflect.String:
		v.SetString("x")
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Float64:
		v.SetFloat(float64(n))
	case reflect.Int, reflect.Int64:
		v.SetInt(int64(n))
	default:
		v.SetUint(uint64(n))
	}
}

// numbers calls f with the fields that lead to each number of v, or the count of a distribution.
func numbers(v reflect.Value, path string, f func(path string, got float64)) {
	if d, ok := v.Interface().(perf.Distribution); ok {
		f(path, float64(d.Count))
		return
	}
	if _, ok := v.Interface().(time.Time); ok {
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			numbers(v.Field(i), path+"/"+v.Type().Name()+"."+v.Type().Field(i).Name, f)
		}
	case reflect.Pointer:
		if v.IsNil() {
			f(path, 0)
			return
		}
		numbers(v.Elem(), path, f)
	case reflect.Slice:
		if v.Len() == 0 {
			f(path+" (none)", -1)
		}
		for i := range v.Len() {
			numbers(v.Index(i), path, f)
		}
	case reflect.Map:
		for _, k := range v.MapKeys() {
			numbers(v.MapIndex(k), path, f)
		}
	case reflect.String, reflect.Bool:
	case reflect.Float64:
		f(path, v.Float())
	case reflect.Int, reflect.Int64:
		f(path, float64(v.Int()))
	default:
		f(path, float64(v.Uint()))
	}
}

func snapshotOf(n int) (s perf.JobSnapshot) {
	fill(reflect.ValueOf(&s).Elem(), "", n)
	return s
}

func TestSinceForgetsNoField(t *testing.T) {
	earlier, now := snapshotOf(2), snapshotOf(5)
	d := now.Since(&earlier)
	n := 0
	numbers(reflect.ValueOf(d), "", func(field string, got float64) {
		want := 3.0
		switch {
		case listed(fixed, field):
			want = 1
		case listed(moments, field):
			want = 5
		}
		if got != want {
			t.Errorf("%s is %v, want %v of 2 before and 5 now: see to it in interval.go, or list it among the moments here", field, got, want)
		}
		n++
	})
	if n < 90 {
		t.Errorf("only %d numbers were looked at", n)
	}
}

func TestMergeForgetsNoField(t *testing.T) {
	sums, found := map[string]float64{}, map[string]bool{}
	whole := perf.Merge([]perf.JobSnapshot{snapshotOf(2), snapshotOf(5)})
	numbers(reflect.ValueOf(whole), "", func(field string, got float64) { sums[field] += got; found[field] = true })
	numbers(reflect.ValueOf(snapshotOf(2)), "", func(field string, _ float64) {
		want := 7.0 // added up, or both are in the list
		switch {
		case listed(firsts, field), strings.Contains(field, "/CheckpointSnapshot."):
			want = 2
		case listed(greatest, field):
			want = 5
		case listed(fixed, field):
			want = 2 // both are in the list
		}
		if listed(fixed, field) && (listed(greatest, field) || listed(firsts, field)) {
			want = 1
		}
		if !found[field] || sums[field] != want {
			t.Errorf("%s is %v, want %v of 2 and 5: see to it in merge.go, or list it here", field, sums[field], want)
		}
	})
	if !whole.At.Equal(time.Unix(5, 0)) || !whole.Ended || !whole.Measured || whole.Job != "x" {
		t.Errorf("%+v", whole)
	}
}

func TestSumsForgetNoField(t *testing.T) {
	var o perf.OperatorSnapshot
	for _, n := range []int{2, 5} {
		var s perf.SubtaskSnapshot
		fill(reflect.ValueOf(&s).Elem(), "", n)
		o.Subtasks = append(o.Subtasks, s)
	}
	special := map[string]float64{"SubtaskSnapshot.Index": 2, "SubtaskSnapshot.Watermark": 2, "SubtaskSnapshot.Lag": 2} // the lag of the least watermark
	check := func(field string, got float64) {
		want, ok := special[strings.TrimPrefix(field, "/")]
		if !ok {
			want = 7
		}
		if got != want {
			t.Errorf("%s is %v, want %v of 2 and 5", field, got, want)
		}
	}
	numbers(reflect.ValueOf(o.Sum()), "", check)
	a, b := snapshotOf(2).Edges[0].Sent, snapshotOf(5).Edges[0].Sent
	a.Add(b)
	numbers(reflect.ValueOf(a), "", check)
}

// The tests above find what they are for.
func TestAForgottenFieldIsFound(t *testing.T) {
	var fields []string
	numbers(reflect.ValueOf(snapshotOf(1)), "", func(field string, got float64) {
		if got != 1 {
			t.Errorf("%s was not filled: %v", field, got)
		}
		fields = append(fields, field)
	})
	for _, list := range []string{moments, greatest, firsts, fixed} {
		for _, f := range strings.Fields(list) {
			if !strings.Contains(fmt.Sprint(fields), "/"+f) {
				t.Errorf("%s is listed, but there is no such field", f)
			}
		}
	}
}
