package main

import (
	"bytes"
	"strings"
	"testing"
	"time"
)

func TestNothingIsDropped(t *testing.T) {
	var out bytes.Buffer
	if err := run(&out, 2000, 10*time.Microsecond); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(out.String(), "sent 2000, received 2000\n") || !strings.Contains(out.String(), "fast  2000 records") {
		t.Fatalf("output:\n%s", &out)
	}
}
