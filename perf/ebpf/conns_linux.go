package ebpf

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// Conns returns the TCP connections of processes, by process and address. It needs no
// privileges beyond those to look into the processes.
func Conns(ctx context.Context, pids []int) ([]Connection, error) {
	var all []Connection
	for _, pid := range pids {
		inodes, err := socketInodes(pid)
		if err != nil {
			return nil, err
		}
		err = inNamespaceOf(pid, func() error {
			return diag(func(inode uint32, c *Connection) {
				if inodes[inode] {
					c.PID = pid
					all = append(all, *c)
				}
			})
		})
		if err != nil {
			return nil, err
		}
	}
	slices.SortFunc(all, func(a, b Connection) int {
		return cmp.Or(cmp.Compare(a.PID, b.PID), a.Local.Compare(b.Local), a.Remote.Compare(b.Remote))
	})
	return all, ctx.Err()
}

// socketInodes returns the inodes of a process's sockets.
func socketInodes(pid int) (map[uint32]bool, error) {
	dir := fmt.Sprintf("/proc/%d/fd", pid)
	names, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("connections of process %d: %w", pid, err)
	}
	inodes := map[uint32]bool{}
	for _, name := range names {
		link, err := os.Readlink(filepath.Join(dir, name.Name()))
		if err != nil {
			continue // closed meanwhile
		}
		if s, ok := strings.CutPrefix(link, "socket:["); ok {
			if n, err := strconv.ParseUint(strings.TrimSuffix(s, "]"), 10, 32); err == nil {
				inodes[uint32(n)] = true
			}
		}
	}
	return inodes, nil
}

// inNamespaceOf runs f in the network namespace of a process.
func inNamespaceOf(pid int, f func() error) error {
	theirs := fmt.Sprintf("/proc/%d/ns/net", pid)
	name, err := os.Readlink(theirs)
	if err != nil {
		return fmt.Errorf("network namespace of process %d: %w", pid, err)
	}
	if own, err := os.Readlink("/proc/self/ns/net"); err == nil && own == name {
		return f()
	}
	runtime.LockOSThread()
	own, err := unix.Open("/proc/thread-self/ns/net", unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer func() { _ = unix.Close(own) }()
	fd, err := unix.Open(theirs, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("network namespace of process %d: %w", pid, err)
	}
	defer func() { _ = unix.Close(fd) }()
	if err := unix.Setns(fd, unix.CLONE_NEWNET); err != nil {
		runtime.UnlockOSThread()
		return fmt.Errorf("network namespace of process %d: %w (needs CAP_SYS_ADMIN)", pid, err)
	}
	err = f()
	if unix.Setns(own, unix.CLONE_NEWNET) == nil {
		runtime.UnlockOSThread() // else the thread ends with the goroutine
	}
	return err
}
