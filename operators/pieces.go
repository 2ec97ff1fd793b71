package operators

import (
	"encoding/binary"
	"errors"
)

// JoinPieces encodes a list of byte strings as one.
func JoinPieces(list [][]byte) (b []byte) {
	for _, p := range list {
		b = binary.AppendUvarint(b, uint64(len(p)))
		b = append(b, p...)
	}
	return b
}

var errPieces = errors.New("a list in the checkpoint is damaged")

// SplitPieces is the inverse. It shares b.
func SplitPieces(b []byte) (list [][]byte, err error) {
	for len(b) > 0 {
		n, k := binary.Uvarint(b)
		if k <= 0 || n > uint64(len(b)-k) {
			return nil, errPieces
		}
		list = append(list, b[k:k+int(n):k+int(n)])
		b = b[k+int(n):]
	}
	return list, nil
}
