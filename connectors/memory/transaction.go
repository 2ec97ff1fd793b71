package memory

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// transaction names what one subtask wrote between two checkpoints.
type transaction struct{ subtask, epoch, seq uint64 }

// String implements fmt.Stringer.
func (t transaction) String() string {
	return fmt.Sprintf("transaction %d of subtask %d in attempt %d", t.seq, t.subtask, t.epoch)
}

// append is the description of a prepared transaction in a checkpoint.
func (t transaction) append(dst []byte) []byte {
	for _, n := range []uint64{t.subtask, t.epoch, t.seq} {
		dst = binary.AppendUvarint(dst, n)
	}
	return dst
}

var errPrepared = errors.New("memory: damaged description of a transaction")

func decodeTransaction(b []byte) (t transaction, err error) {
	for _, to := range []*uint64{&t.subtask, &t.epoch, &t.seq} {
		v, n := binary.Uvarint(b)
		if n <= 0 {
			return t, errPrepared
		}
		*to, b = v, b[n:]
	}
	if len(b) != 0 {
		return t, errPrepared
	}
	return t, nil
}
