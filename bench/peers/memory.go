package peers

import (
	"bufio"
	"os"
	"strconv"
	"strings"
)

// peakMemory is the most memory that this process has had, in bytes; 0 where the system
// does not tell. The kernel's figure for a process that has ended includes what its parent
// had when it was started.
func peakMemory() float64 {
	f, err := os.Open("/proc/self/status")
	if err != nil {
		return 0
	}
	defer f.Close()
	for s := bufio.NewScanner(f); s.Scan(); {
		if text, ok := strings.CutPrefix(s.Text(), "VmHWM:"); ok {
			kib, err := strconv.ParseFloat(strings.TrimSpace(strings.TrimSuffix(text, "kB")), 64)
			if err == nil {
				return 1024 * kib
			}
		}
	}
	return 0
}
