package peers

import (
	"os"
	"runtime"
	"syscall"
)

// maxRSS is the most memory that a process has had, in bytes, as the kernel tells it to
// the process's parent.
func maxRSS(s *os.ProcessState) int64 {
	u, ok := s.SysUsage().(*syscall.Rusage)
	if !ok {
		return 0
	}
	if runtime.GOOS == "darwin" {
		return int64(u.Maxrss)
	}
	return int64(u.Maxrss) << 10
}
