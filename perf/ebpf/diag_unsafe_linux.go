package ebpf

import (
	"encoding/binary"
	"fmt"
	"net/netip"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// diagRequest is struct inet_diag_req_v2 behind a netlink header.
type diagRequest struct {
	header          unix.NlMsghdr
	family, proto   uint8
	extensions, pad uint8
	states          uint32
	id              [48]byte
}

const (
	sockDiagByFamily = 20
	diagInfo         = 2 // INET_DIAG_INFO
	diagMessage      = 72
)

// diag asks the kernel for all TCP sockets of the caller's network namespace, and lends
// each to visit with its inode.
func diag(visit func(inode uint32, c *Connection)) error {
	fd, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_RAW|unix.SOCK_CLOEXEC, unix.NETLINK_SOCK_DIAG)
	if err != nil {
		return fmt.Errorf("sock_diag: %w", err)
	}
	defer func() { _ = unix.Close(fd) }()
	for _, family := range []uint8{unix.AF_INET, unix.AF_INET6} {
		if err := diagFamily(fd, family, visit); err != nil {
			return fmt.Errorf("sock_diag: %w", err)
		}
	}
	return nil
}

func diagFamily(fd int, family uint8, visit func(inode uint32, c *Connection)) error {
	req := diagRequest{family: family, proto: unix.IPPROTO_TCP, extensions: 1 << (diagInfo - 1), states: 1<<1 | 1<<4 | 1<<5 | 1<<8}
	req.header = unix.NlMsghdr{
		Len: uint32(unsafe.Sizeof(req)), Type: sockDiagByFamily, Flags: unix.NLM_F_REQUEST | unix.NLM_F_DUMP, Seq: uint32(family),
	}
	b := unsafe.Slice((*byte)(unsafe.Pointer(&req)), unsafe.Sizeof(req))
	if err := unix.Sendto(fd, b, 0, &unix.SockaddrNetlink{Family: unix.AF_NETLINK}); err != nil {
		return err
	}
	buf := make([]byte, 64<<10)
	for {
		n, _, err := unix.Recvfrom(fd, buf, 0)
		if err != nil {
			return err
		}
		done, err := diagMessages(buf[:n], visit)
		if done || err != nil {
			return err
		}
	}
}

// diagMessages walks over the netlink messages of an answer.
func diagMessages(b []byte, visit func(inode uint32, c *Connection)) (done bool, err error) {
	for len(b) >= unix.NLMSG_HDRLEN {
		size, kind := int(binary.NativeEndian.Uint32(b)), binary.NativeEndian.Uint16(b[4:])
		if size < unix.NLMSG_HDRLEN || size > len(b) {
			return true, unix.EBADMSG
		}
		switch msg := b[unix.NLMSG_HDRLEN:size]; kind {
		case unix.NLMSG_DONE:
			return true, nil
		case unix.NLMSG_ERROR:
			if len(msg) < 4 {
				return true, unix.EBADMSG
			}
			return true, unix.Errno(-int32(binary.NativeEndian.Uint32(msg)))
		default:
			if len(msg) >= diagMessage {
				inode, c := diagConnection(msg)
				visit(inode, &c)
			}
		}
		b = b[min(len(b), (size+3)&^3):]
	}
	return false, nil
}

// diagConnection reads a struct inet_diag_msg and what follows it.
func diagConnection(msg []byte) (inode uint32, c Connection) {
	states := [...]string{1: "established", 4: "fin-wait-1", 5: "fin-wait-2", 8: "close-wait"}
	if s := int(msg[1]); s < len(states) {
		c.State = states[s]
	}
	c.Local = diagAddress(msg[0], msg[8:24], msg[4:6])
	c.Remote = diagAddress(msg[0], msg[24:40], msg[6:8])
	c.From, c.To = c.Local.String(), c.Remote.String()
	c.Cookie = uint64(binary.NativeEndian.Uint32(msg[44:])) | uint64(binary.NativeEndian.Uint32(msg[48:]))<<32
	c.Unread = uint64(binary.NativeEndian.Uint32(msg[56:]))
	c.Inflight = uint64(binary.NativeEndian.Uint32(msg[60:]))
	inode = binary.NativeEndian.Uint32(msg[68:])
	var info []byte
	for attrs := msg[diagMessage:]; len(attrs) >= unix.SizeofRtAttr; {
		size := int(binary.NativeEndian.Uint16(attrs))
		if size < unix.SizeofRtAttr || size > len(attrs) {
			break
		}
		if binary.NativeEndian.Uint16(attrs[2:]) == diagInfo {
			info = attrs[unix.SizeofRtAttr:size]
		}
		attrs = attrs[min(len(attrs), (size+3)&^3):]
	}
	c.setInfo(info)
	return inode, c
}

func diagAddress(family uint8, ip, port []byte) netip.AddrPort {
	p := binary.BigEndian.Uint16(port)
	if family == unix.AF_INET {
		return netip.AddrPortFrom(netip.AddrFrom4([4]byte(ip[:4])), p)
	}
	return netip.AddrPortFrom(netip.AddrFrom16([16]byte(ip)).Unmap(), p)
}

// setInfo takes what a struct tcp_info says; an older kernel's is shorter, or not there.
func (c *Connection) setInfo(b []byte) {
	var info unix.TCPInfo
	copy(unsafe.Slice((*byte)(unsafe.Pointer(&info)), unsafe.Sizeof(info)), b)
	us := func(n uint64) time.Duration { return time.Duration(n) * time.Microsecond }
	c.RTT, c.RTTVar = us(uint64(info.Rtt)), us(uint64(info.Rttvar))
	if info.Min_rtt != ^uint32(0) { // it was never measured
		c.MinRTT = us(uint64(info.Min_rtt))
	}
	c.Retransmits, c.Window, c.Unsent = uint64(info.Total_retrans), info.Snd_cwnd, uint64(info.Notsent_bytes)
	c.Sent, c.Received = info.Bytes_acked, info.Bytes_received
	c.Busy, c.WindowLimited, c.BufferLimited = us(info.Busy_time), us(info.Rwnd_limited), us(info.Sndbuf_limited)
	c.DeliveryRate = info.Delivery_rate
	if info.Pacing_rate != ^uint64(0) {
		c.PacingRate = info.Pacing_rate
	}
	c.Missing = missing(len(b))
}

// missing is what a struct tcp_info of so many bytes does not have.
func missing(size int) (names []string) {
	var i unix.TCPInfo
	for _, f := range []struct {
		name string
		end  uintptr
	}{
		{"rtt_ns", unsafe.Offsetof(i.Rtt) + unsafe.Sizeof(i.Rtt)},
		{"rttvar_ns", unsafe.Offsetof(i.Rttvar) + unsafe.Sizeof(i.Rttvar)},
		{"cwnd", unsafe.Offsetof(i.Snd_cwnd) + unsafe.Sizeof(i.Snd_cwnd)},
		{"retransmits", unsafe.Offsetof(i.Total_retrans) + unsafe.Sizeof(i.Total_retrans)},
		{"pacing_rate", unsafe.Offsetof(i.Pacing_rate) + unsafe.Sizeof(i.Pacing_rate)},
		{"sent_bytes", unsafe.Offsetof(i.Bytes_acked) + unsafe.Sizeof(i.Bytes_acked)},
		{"received_bytes", unsafe.Offsetof(i.Bytes_received) + unsafe.Sizeof(i.Bytes_received)},
		{"unsent_bytes", unsafe.Offsetof(i.Notsent_bytes) + unsafe.Sizeof(i.Notsent_bytes)},
		{"min_rtt_ns", unsafe.Offsetof(i.Min_rtt) + unsafe.Sizeof(i.Min_rtt)},
		{"delivery_rate", unsafe.Offsetof(i.Delivery_rate) + unsafe.Sizeof(i.Delivery_rate)},
		{"busy_ns", unsafe.Offsetof(i.Busy_time) + unsafe.Sizeof(i.Busy_time)},
		{"rwnd_limited_ns", unsafe.Offsetof(i.Rwnd_limited) + unsafe.Sizeof(i.Rwnd_limited)},
		{"sndbuf_limited_ns", unsafe.Offsetof(i.Sndbuf_limited) + unsafe.Sizeof(i.Sndbuf_limited)},
	} {
		if uintptr(size) < f.end {
			names = append(names, f.name)
		}
	}
	return names
}
