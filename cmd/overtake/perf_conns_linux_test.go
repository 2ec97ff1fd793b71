package main

import (
	"fmt"
	"strings"
	"testing"
)

func perfConns(t *testing.T, addr string) {
	var list []struct {
		PID       int
		State     string
		LimitedBy string `json:"limited_by"`
		RTT       int64  `json:"rtt_ns"`
		Channels  *struct {
			Channels, Granted, Credits int
			Queued                     int `json:"queued_buffers"`
		}
	}
	perfJSON(t, &list, "conns", "--addr", addr, "--json")
	if len(list) < 2 {
		t.Fatalf("%+v", list)
	}
	known := 0
	for _, c := range list {
		if c.PID == 0 || c.State == "" || c.LimitedBy == "" || c.RTT == 0 {
			t.Errorf("%+v", c)
		}
		if n := c.Channels; n != nil { // who else is connected has none of the job's channels
			known++
			if n.Channels != 2 || n.Granted == 0 || n.Credits < 0 || n.Credits > n.Granted || n.Queued < 0 {
				t.Errorf("channels of %+v: %+v", c, n)
			}
		}
	}
	if known != 2 {
		t.Errorf("channels of %d ends of connections, want both: %+v", known, list)
	}
	code, stdout, _ := overtakes(t, "perf", "conns", "--pid", fmt.Sprint(list[0].PID, ",", list[1].PID))
	if code != 0 || strings.Count(stdout, "n/a") < 2*len(list) || !strings.Contains(stdout, "LIMITED BY") {
		t.Errorf("exit code %d\n%s", code, stdout)
	}
}
