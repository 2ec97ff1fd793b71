// Command subject is the program that bench/perfcost builds with and without the tag
// noperf. It reads work from its standard input.
package main

import (
	"context"
	"fmt"
	"os"

	"github.com/overtake-stream/overtake/bench/perfcost"
)

func main() {
	if err := perfcost.Subject(context.Background(), os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err) // whoever reads the output misses it
	}
}
