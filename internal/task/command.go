package task

import (
	"sync"
	"sync/atomic"

	"github.com/overtake-stream/overtake/checkpoint/protocol"
)

// CommandKind says what a subtask is told.
type CommandKind uint8

// What the coordinator tells a subtask.
const (
	// Trigger: begin a checkpoint, of which Barrier says all.
	Trigger CommandKind = iota
	// Abort: forget the checkpoint ID.
	Abort
	// Complete: the checkpoint ID is durable. Commit says whether what was prepared up
	// to it may be committed.
	Complete
	// End: the job's last checkpoint is complete; the subtask may close.
	End
)

// Command is what the coordinator tells a subtask.
type Command struct {
	Kind    CommandKind
	ID      protocol.ID
	Barrier protocol.Barrier
	Commit  bool
}

// mailbox holds commands until the subtask looks.
type mailbox struct {
	full atomic.Bool // there are some
	mu   struct {
		sync.Mutex
		commands []Command
	}
}

func (m *mailbox) put(c Command) {
	m.mu.Lock()
	m.mu.commands = append(m.mu.commands, c)
	m.full.Store(true)
	m.mu.Unlock()
}

func (m *mailbox) take() []Command {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.full.Store(false)
	commands := m.mu.commands
	m.mu.commands = nil
	return commands
}

// Tell hands the subtask a command. Any goroutine may call it; commands are carried
// out in their order, soon.
func (t *Task) Tell(c Command) {
	t.mail.put(c)
	if c.Kind == End { // who would take its output may have ended, and it may wait for that
		for _, p := range t.ctx.Partitions() {
			p.Cancel()
		}
	}
	t.Wake()
}
