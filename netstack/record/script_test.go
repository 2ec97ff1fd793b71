package record_test

import (
	"encoding/hex"
	"fmt"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/overtake-stream/overtake/netstack/record"
)

// TestScripts runs testdata. "append" shows the bytes of a record written over old
// ones, so that padding must be cleared; "read" shows the records in bytes given as
// hex.
func TestScripts(t *testing.T) {
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			switch d.Cmd {
			case "append":
				return hex.Dump(appendOne(t, d))
			case "read":
				return readAll(t, d.Input)
			}
			t.Fatalf("%s: unknown command %q", d.Pos, d.Cmd)
			return ""
		})
	})
}

func appendOne(t *testing.T, d *datadriven.TestData) []byte {
	var kind, hash, time int
	var payload string
	d.MaybeScanArgs(t, "kind", &kind)
	d.MaybeScanArgs(t, "hash", &hash)
	d.MaybeScanArgs(t, "payload", &payload)
	hasTime := d.MaybeScanArgs(t, "time", &time)
	r := record.Record{Kind: record.Kind(kind), HasTime: hasTime, Hash: uint32(hash), Time: int64(time), Payload: []byte(payload)}
	return record.Append(dirty(64)[:0], r)
}

// dirty returns memory that holds something.
func dirty(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = 0xEE
	}
	return b
}

func readAll(t *testing.T, input string) string {
	b, err := hex.DecodeString(strings.Join(strings.Fields(input), ""))
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	var r record.Record
	it := record.Over(b)
	for {
		ok, err := it.Next(&r)
		if err != nil {
			fmt.Fprintln(&out, "error:", err)
		}
		if !ok {
			fmt.Fprintf(&out, "%d bytes left\n", it.Rest())
			return out.String()
		}
		fmt.Fprintf(&out, "kind=%d hash=%#x time=%v,%d payload=%q\n", r.Kind, r.Hash, r.HasTime, r.Time, r.Payload)
	}
}
