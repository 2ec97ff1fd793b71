package protocol

import "fmt"

// Member is the index of a subtask in the job, from 0 to the number of members - 1.
type Member int

// Token names a request, so that its answer finds the one who asked. Tokens grow: one
// that is not above the last is a repetition. 0: nobody waits for an answer.
type Token uint64

// Kind says what a checkpoint is for.
type Kind uint8

// Kinds of checkpoints.
const (
	// Periodic is taken by the interval or by hand, is what recovery uses, and is
	// dropped by retention.
	Periodic Kind = iota
	// Savepoint is asked for and kept until its owner deletes it.
	Savepoint
	// StopSavepoint is a savepoint after whose barrier the sources stop, without
	// draining the job. The job ends when it is complete, and goes on if it is not.
	StopSavepoint
	// Final is taken when all members have finished, and the job ends with it.
	Final
)

var kindNames = [...]string{"periodic", "savepoint", "stop-savepoint", "final"}

// String is the kind in words.
func (k Kind) String() string { return nameOf(kindNames[:], int(k), "kind") }

// Kept says whether checkpoints of the kind belong to a user: no retention drops them.
func (k Kind) Kept() bool { return k == Savepoint || k == StopSavepoint }

// Ends says whether the job ends when a checkpoint of the kind is complete.
func (k Kind) Ends() bool { return k == StopSavepoint || k == Final }

// Commits says whether members may commit what they have prepared when a checkpoint of
// the kind is complete.
func (k Kind) Commits() bool { return k != Savepoint }

func nameOf(names []string, i int, what string) string {
	if i < 0 || i >= len(names) {
		return fmt.Sprintf("%s %d", what, i)
	}
	return names[i]
}
