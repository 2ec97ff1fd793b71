package ebpf

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// SocketStamps reads the kernel's time stamps of a TCP connection of one's own: what can be
// had of its kernel stages without privileges (tier C+). It has one owner.
type SocketStamps struct {
	raw syscall.RawConn
	oob [512]byte
}

// NewSocketStamps makes the kernel stamp what is written to a connection from now on. It
// shares the connection.
func NewSocketStamps(nc net.Conn) (*SocketStamps, error) {
	sc, ok := nc.(syscall.Conn)
	if !ok {
		return nil, fmt.Errorf("time stamps: %T has no socket", nc)
	}
	raw, err := sc.SyscallConn()
	if err != nil {
		return nil, fmt.Errorf("time stamps: %w", err)
	}
	const flags = unix.SOF_TIMESTAMPING_TX_SCHED | unix.SOF_TIMESTAMPING_TX_SOFTWARE | unix.SOF_TIMESTAMPING_TX_ACK |
		unix.SOF_TIMESTAMPING_SOFTWARE | unix.SOF_TIMESTAMPING_OPT_ID | unix.SOF_TIMESTAMPING_OPT_TSONLY
	var sockErr error
	err = raw.Control(func(fd uintptr) {
		sockErr = unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_TIMESTAMPING_NEW, flags)
	})
	if err = errors.Join(err, sockErr); err != nil {
		return nil, fmt.Errorf("time stamps: %w", err)
	}
	return &SocketStamps{raw: raw}, nil
}

// Read appends the stamps that the kernel has made since it was called last. It does not
// wait.
func (s *SocketStamps) Read(dst []Stamp) ([]Stamp, error) {
	for {
		var n int
		var sockErr error
		err := s.raw.Control(func(fd uintptr) {
			_, n, _, _, sockErr = unix.Recvmsg(int(fd), nil, s.oob[:], unix.MSG_ERRQUEUE|unix.MSG_DONTWAIT)
		})
		switch {
		case errors.Is(sockErr, unix.EAGAIN):
			return dst, nil
		case err != nil || sockErr != nil:
			return dst, fmt.Errorf("time stamps: %w", errors.Join(err, sockErr))
		}
		if stamp, ok := decodeStamp(s.oob[:n]); ok {
			dst = append(dst, stamp)
		}
	}
}

// decodeStamp puts the two control messages of a stamp together: the time, and what it is of.
func decodeStamp(oob []byte) (s Stamp, ok bool) {
	messages, err := unix.ParseSocketControlMessage(oob)
	if err != nil {
		return s, false
	}
	var when, what bool
	for _, m := range messages {
		d := m.Data
		switch {
		case m.Header.Level == unix.SOL_SOCKET && m.Header.Type == unix.SO_TIMESTAMPING_NEW && len(d) >= 16:
			s.Time = time.Unix(int64(binary.NativeEndian.Uint64(d)), int64(binary.NativeEndian.Uint64(d[8:])))
			when = true
		case (m.Header.Level == unix.SOL_IP || m.Header.Level == unix.SOL_IPV6) && len(d) >= 16:
			info := binary.NativeEndian.Uint32(d[8:]) // sock_extended_err.ee_info
			s.Offset = binary.NativeEndian.Uint32(d[12:])
			switch info {
			case unix.SCM_TSTAMP_SCHED:
				s.Kind, what = StampScheduled, true
			case unix.SCM_TSTAMP_SND:
				s.Kind, what = StampSent, true
			case unix.SCM_TSTAMP_ACK:
				s.Kind, what = StampAcknowledged, true
			}
		}
	}
	return s, when && what
}
