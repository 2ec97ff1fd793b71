package ebpf

import (
	"fmt"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"
)

// queueReading is how long the threads of a process have waited for processors.
type queueReading struct {
	pid     int
	threads map[string]threadQueue // by name in /proc
	na      string                 // why there is none
}

type threadQueue struct{ ran, waited, slices uint64 }

// readQueue reads what the kernel has counted so far.
func readQueue(pid int) queueReading {
	q := queueReading{pid: pid, threads: map[string]threadQueue{}}
	if _, err := os.Stat(fmt.Sprintf("/proc/%d", pid)); err != nil {
		q.na = kernelWords(err)
		return q
	}
	names, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/schedstat", pid)) // the pattern is fine
	for _, name := range names {
		b, err := os.ReadFile(name)
		if err != nil {
			continue // the thread has ended
		}
		var t threadQueue
		if _, err := fmt.Sscan(string(b), &t.ran, &t.waited, &t.slices); err == nil {
			q.threads[name] = t
		}
	}
	if len(q.threads) == 0 {
		q.na = "the kernel has no schedstat in /proc"
	}
	return q
}

// since is what came after an earlier reading: of the threads that there are now, since those
// that have ended took their counts with them.
func (q queueReading) since(before queueReading) ProcessQueue {
	sum := ProcessQueue{PID: q.pid, NA: before.na}
	if q.na != "" {
		sum.NA = q.na
	}
	if sum.NA != "" {
		return sum
	}
	for name, now := range q.threads {
		old := before.threads[name]
		if now.ran < old.ran || now.slices < old.slices {
			old = threadQueue{} // another thread has its number
		}
		sum.Ran += time.Duration(now.ran - old.ran)
		sum.Waited += time.Duration(now.waited - old.waited)
		sum.Slices += now.slices - old.slices
	}
	for name := range before.threads {
		if _, ok := q.threads[name]; !ok {
			sum.Ended++
		}
	}
	return sum
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
