//go:build !linux

package bench

import (
	"errors"
	"syscall"
	"time"
)

var errLinux = errors.New("bench: the raw baseline needs Linux")

func rawSend(string, int64, int64) (time.Duration, float64, error) { return 0, 0, errLinux }
func rawReceive(string, int64, int64) (report, error)              { return report{}, errLinux }
func cpuTime() time.Duration                                       { return 0 }

func unpaced(string, string, syscall.RawConn) error { return nil }
