//go:build !linux

package ebpf

import (
	"context"
	"errors"
)

// Conns fails: only Linux tells of other processes' connections.
func Conns(context.Context, []int) ([]Connection, error) {
	return nil, errors.New("connections of other processes: on Linux only")
}
