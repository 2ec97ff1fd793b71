//go:build linux && (amd64 || arm64)

package ebpf

import (
	"context"
	"fmt"
	"net/netip"
	"os"
	"strconv"

	"github.com/cilium/ebpf"
)

// flows keeps the list of connections that the kernel side follows.
type flows struct {
	pids    []int
	kernel  *ebpf.Map // flows
	dirs    *ebpf.Map
	known   map[uint64]uint64 // bytes that a socket had sent when it was found, by cookie
	edges   []edgeStats       // by direction
	maximum int
}

type tuple struct{ local, remote netip.AddrPort }

// refresh finds connections between the processes, and follows new ones.
func (f *flows) refresh(ctx context.Context) error {
	var conns []Connection
	for _, pid := range f.pids {
		of, err := Conns(ctx, []int{pid})
		if err != nil && !gone(err) {
			return err
		}
		conns = append(conns, of...)
	}
	ends := map[tuple]*Connection{}
	for i := range conns {
		c := &conns[i]
		ends[tuple{c.Local, c.Remote}] = c
	}
	for i := range conns {
		a := &conns[i]
		b := ends[tuple{a.Remote, a.Local}]
		if b == nil || f.follows(a) || f.follows(b) || len(f.edges)+2 > f.maximum {
			continue
		}
		if err := f.follow(a, b); err != nil {
			return err
		}
	}
	return nil
}

func (f *flows) follows(c *Connection) bool {
	_, ok := f.known[c.Cookie]
	return ok
}

// moved is how much was sent over those connections, of the given ones, that are followed.
func (f *flows) moved(conns []Connection) (bytes uint64) {
	for i := range conns {
		if c := &conns[i]; f.follows(c) {
			bytes += c.Sent - f.known[c.Cookie]
		}
	}
	return bytes
}

// follow gives the directions of a connection numbers.
func (f *flows) follow(a, b *Connection) error {
	out := uint32(len(f.edges))
	f.edges = append(f.edges, newEdge(a, b), newEdge(b, a))
	f.known[a.Cookie], f.known[b.Cookie] = a.Sent, b.Sent
	for i, receiver := range []int{b.PID, a.PID} {
		if err := f.dirs.Put(out+uint32(i), latencyDir{Pid: uint32(receiver)}); err != nil {
			return fmt.Errorf("follow a connection: %w", err)
		}
	}
	for cookie, flow := range map[uint64]latencyFlow{a.Cookie: {Out: out, In: out + 1}, b.Cookie: {Out: out + 1, In: out}} {
		if err := f.kernel.Put(cookie, flow); err != nil {
			return fmt.Errorf("follow a connection: %w", err)
		}
	}
	return nil
}

func newEdge(from, to *Connection) edgeStats {
	return edgeStats{edge: Edge{Sender: from.PID, Receiver: to.PID, From: from.From, To: to.From}}
}

// peers returns the processes, of those that may be looked into, that are at the other
// end of a process's connections.
func peers(ctx context.Context, pids []int) ([]int, error) {
	conns, err := Conns(ctx, pids)
	if err != nil {
		return nil, err
	}
	wanted := map[tuple]bool{}
	for i := range conns {
		wanted[tuple{conns[i].Remote, conns[i].Local}] = true
	}
	inodes := map[uint32]bool{}
	err = inNamespaceOf(pids[0], func() error {
		return diag(func(inode uint32, c *Connection) {
			if wanted[tuple{c.Local, c.Remote}] {
				inodes[inode] = true
			}
		})
	})
	if err != nil {
		return nil, err
	}
	return ownersOf(inodes)
}

// ownersOf returns the processes that hold any of the sockets.
func ownersOf(inodes map[uint32]bool) (pids []int, err error) {
	names, err := os.ReadDir("/proc")
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		pid, err := strconv.Atoi(name.Name())
		if err != nil {
			continue
		}
		own, err := socketInodes(pid)
		if err != nil {
			continue // gone, or not ours to look into
		}
		for inode := range own {
			if inodes[inode] {
				pids = append(pids, pid)
				break
			}
		}
	}
	return pids, nil
}
