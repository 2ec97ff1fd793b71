package main

import (
	"bytes"
	"testing"
)

func TestSquaresInBatches(t *testing.T) {
	var out bytes.Buffer
	if err := run(&out, 6); err != nil {
		t.Fatal(err)
	}
	if got, want := out.String(), "[1 4 9 16]\n[25 36]\n"; got != want {
		t.Fatalf("output %q, want %q", got, want)
	}
}
