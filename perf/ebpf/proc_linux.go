package ebpf

import (
	"fmt"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"
)

// processQueue reads how long the threads of a process have waited for processors.
func processQueue(pid int) ProcessQueue {
	q := ProcessQueue{PID: pid}
	names, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/schedstat", pid))
	if err != nil || len(names) == 0 {
		q.NA = "the kernel has no schedstat in /proc"
		if _, err := os.Stat(fmt.Sprintf("/proc/%d", pid)); err != nil {
			q.NA = kernelWords(err)
		}
		return q
	}
	for _, name := range names {
		b, err := os.ReadFile(name)
		if err != nil {
			continue // the thread has ended
		}
		var ran, waited, slices uint64
		if _, err := fmt.Sscan(string(b), &ran, &waited, &slices); err == nil {
			q.Ran += time.Duration(ran)
			q.Waited += time.Duration(waited)
			q.Slices += slices
		}
	}
	return q
}

// since takes away what had been before. Threads that have ended meanwhile are lost.
func (q ProcessQueue) since(before ProcessQueue) ProcessQueue {
	q.Ran = max(0, q.Ran-before.Ran)
	q.Waited = max(0, q.Waited-before.Waited)
	q.Slices -= min(q.Slices, before.Slices)
	return q
}

// ownCPU is the processor time of this process.
func ownCPU() time.Duration {
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func kernelRelease() string {
	var u unix.Utsname
	if err := unix.Uname(&u); err != nil {
		return "unknown"
	}
	return unix.ByteSliceToString(u.Release[:])
}
