package memory

import (
	"errors"
	"fmt"
	"maps"
	"sync"

	"github.com/overtake-stream/overtake/operators"
)

// Committed is a sink with transactions that keeps copies of all records in memory: for
// tests of jobs with checkpoints. What is committed stays over restarts of the job in
// this process, and so does what is only prepared. Each process of a job has its own.
// It serves any number of subtasks, and one run of one job: what a second run commits
// under the names of the first is refused. The zero Committed is empty and ready.
//
// In a job without checkpoints, what a subtask wrote is committed when the input has
// ended; there, several runs add up.
type Committed[T any] struct {
	mu struct {
		sync.Mutex
		prepared  map[transaction][]T
		committed map[transaction]bool
		records   []T
	}
}

// Errors of Committed.
var (
	// ErrLost says that a transaction is neither prepared nor committed.
	ErrLost = errors.New("memory: what was prepared is gone")
	// ErrReused says that a transaction has been there before: with another run.
	ErrReused = errors.New("memory: a Committed serves one run of a job: use another one")
)

// Open implements operators.Sink.
func (c *Committed[T]) Open(ctx *operators.Context) (operators.Writer[T], error) {
	keep, err := operators.Cloner[T]()
	return &committedWriter[T]{
		to: c, keep: keep, parallelism: uint64(max(ctx.Parallelism, 1)),
		present: transaction{subtask: uint64(ctx.Subtask), epoch: ctx.Epoch},
	}, err
}

// Records returns a copy of what is committed so far, in the order of the commits. Any
// goroutine may call it.
func (c *Committed[T]) Records() []T {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([]T(nil), c.mu.records...)
}

// Prepared returns how many transactions are prepared, but neither committed nor removed:
// none when a job has ended. Any goroutine may call it.
func (c *Committed[T]) Prepared() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.mu.prepared)
}

func (c *Committed[T]) prepare(t transaction, records []T) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, ok := c.mu.prepared[t]; ok || c.mu.committed[t] {
		return fmt.Errorf("%w: %v", ErrReused, t)
	}
	if c.mu.prepared == nil {
		c.mu.prepared, c.mu.committed = map[transaction][]T{}, map[transaction]bool{}
	}
	c.mu.prepared[t] = records
	return nil
}

func (c *Committed[T]) commit(t transaction) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.mu.committed[t] {
		return nil
	}
	records, ok := c.mu.prepared[t]
	if !ok {
		return fmt.Errorf("%w: %v", ErrLost, t)
	}
	delete(c.mu.prepared, t)
	c.mu.committed[t] = true
	c.mu.records = append(c.mu.records, records...)
	return nil
}

func (c *Committed[T]) abort(t transaction) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.mu.committed[t] {
		return fmt.Errorf("memory: %v is committed: it cannot be taken back", t)
	}
	delete(c.mu.prepared, t)
	return nil
}

// add commits records that have no transaction.
func (c *Committed[T]) add(records []T) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.mu.records = append(c.mu.records, records...)
}

// remove removes the prepared transactions that are void.
func (c *Committed[T]) remove(void func(t transaction) bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	maps.DeleteFunc(c.mu.prepared, func(t transaction, _ []T) bool { return void(t) })
}
