package main

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"go.uber.org/goleak"
)

func TestEveryPurchaseCountsOnce(t *testing.T) {
	defer goleak.VerifyNone(t)
	const count = 400_000
	total := 0
	for n := range count {
		total += n % 100
	}
	var out bytes.Buffer
	if err := run(&out, t.TempDir(), count); err != nil {
		t.Fatal(err)
	}
	if want := fmt.Sprintf("%d shoppers have spent %d cents\n", shoppers, total); !strings.HasSuffix(out.String(), want) {
		t.Fatalf("output %q, want %q at its end", &out, want)
	}
}
