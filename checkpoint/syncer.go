package checkpoint

import (
	"os"
	"runtime"
	"sync"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// syncer syncs files while the processor goes on. A goroutine in a system call keeps its
// share of the scheduler (its P) until a monitor takes that away, which in a job that
// computes sleeps for up to 10 ms: so each sync would take a processor from the subtasks. This
// one hands the sync to the kernel and looks from time to time whether it is done. (To be
// woken would be no better: a scheduler that has goroutines to run looks for events
// every 10 ms only.) Any goroutine may use it.
type syncer struct {
	mu   sync.Mutex
	idle []*kernelAIO
	no   bool // the kernel has none
}

const (
	firstLook = 100 * time.Microsecond // whether a sync is done
	lastLook  = 5 * time.Millisecond   // at least so often
)

// sync makes a file's bytes durable.
func (s *syncer) sync(f vfs.File) error {
	if f.Fd() == vfs.InvalidFd { // it is closed
		return f.Sync()
	}
	aio := s.get()
	if aio == nil {
		return f.Sync()
	}
	if err := aio.submitSync(f.Fd()); err != nil {
		s.put(aio)
		return f.Sync() // which says what is wrong, if that is not what is missing in the kernel
	}
	for began := time.Now(); ; {
		time.Sleep(max(firstLook, min(time.Since(began)/8, lastLook)))
		done, err := aio.done()
		if err != nil { // the context is not used again, as it is not clear what that will say
			return os.NewSyscallError("fsync", err)
		}
		if done {
			s.put(aio)
			return nil
		}
	}
}

// get returns a context that nobody uses, nil if the kernel gives none.
func (s *syncer) get() *kernelAIO {
	s.mu.Lock()
	defer s.mu.Unlock()
	if n := len(s.idle); n > 0 {
		aio := s.idle[n-1]
		s.idle = s.idle[:n-1]
		return aio
	}
	if s.no {
		return nil
	}
	made, err := newKernelAIO()
	if err != nil {
		s.no = true
		return nil
	}
	aio := &made
	runtime.AddCleanup(aio, kernelAIO.close, made) // nobody closes those who only read and write blobs
	return aio
}

func (s *syncer) put(aio *kernelAIO) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.idle = append(s.idle, aio)
}

// syncedFile is a file that a syncer syncs.
type syncedFile struct {
	vfs.File
	syncer *syncer
}

// Sync implements vfs.File.
func (f syncedFile) Sync() error { return f.syncer.sync(f.File) }
