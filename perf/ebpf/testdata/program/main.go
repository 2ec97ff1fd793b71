// Program program has the probe points, for tests that look for them in files.
package main

import (
	"fmt"

	"github.com/overtake-stream/overtake/perf/probe"
)

func main() {
	m := probe.Message{}
	if probe.Attached() {
		probe.WriteBegin(&m)
		probe.Processed(&m)
	}
	fmt.Println(m)
}
