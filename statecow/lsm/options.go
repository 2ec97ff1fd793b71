package lsm

import (
	"errors"
	"fmt"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/overtake-stream/overtake/statecow"
)

// Limits and defaults of Options.
const (
	DefaultCacheSize    = 64 << 20
	DefaultMemtableSize = 64 << 20
	MinMemtableSize     = 64 << 10
	MaxMemtableSize     = 1 << 30
	DefaultMaxOpenFiles = 1000
	MinOpenFiles        = 32
)

// Options configure a store. The zero value means the defaults, but for Dir.
type Options struct {
	// Dir is the directory that the store may fill. It must be empty or absent;
	// its parent's file system should be local. Required.
	Dir string
	// MaxGroups is the number of key groups of the job. Default
	// statecow.DefaultMaxGroups.
	MaxGroups int
	// Groups are the key groups that the store owns. Default all.
	Groups statecow.Groups
	// CacheSize is the size of the cache of table blocks, in bytes. Default 64 MiB.
	CacheSize int64
	// MemtableSize is how many bytes are gathered in memory before they are sorted
	// into a table. Up to four times as much is used while flushes catch up. It
	// bounds the pause of Checkpoint. Default 64 MiB, from 64 KiB to 1 GiB.
	MemtableSize int
	// MaxOpenFiles bounds the tables that are open at a time. Default 1000, at
	// least 32.
	MaxOpenFiles int
	// Compactions is how many tables' merges may run at a time. Default 1.
	Compactions int
	// FS is where the files are. Default the operating system's. Tests inject
	// errors here.
	FS vfs.FS
}

func (o Options) withDefaults() Options {
	if o.MaxGroups == 0 {
		o.MaxGroups = statecow.DefaultMaxGroups
	}
	if o.Groups == (statecow.Groups{}) {
		o.Groups = statecow.Groups{First: 0, End: o.MaxGroups}
	}
	if o.CacheSize == 0 {
		o.CacheSize = DefaultCacheSize
	}
	if o.MemtableSize == 0 {
		o.MemtableSize = DefaultMemtableSize
	}
	if o.MaxOpenFiles == 0 {
		o.MaxOpenFiles = DefaultMaxOpenFiles
	}
	if o.Compactions == 0 {
		o.Compactions = 1
	}
	if o.FS == nil {
		o.FS = vfs.Default
	}
	return o
}

// Validate reports all that is wrong with the options.
func (o Options) Validate() error {
	o = o.withDefaults()
	var errs []error
	bad := func(cond bool, format string, args ...any) {
		if cond {
			errs = append(errs, fmt.Errorf("statecow/lsm: "+format, args...))
		}
	}
	bad(o.Dir == "", "Dir is empty: name a directory of the store's own")
	bad(o.MaxGroups < 1 || o.MaxGroups > statecow.MaxGroupsLimit, "MaxGroups is %d: set 1 to %d", o.MaxGroups, statecow.MaxGroupsLimit)
	bad(o.Groups.First < 0 || o.Groups.First >= o.Groups.End || o.Groups.End > o.MaxGroups,
		"Groups are %d to %d exclusive: set a range within 0 to %d", o.Groups.First, o.Groups.End, o.MaxGroups)
	bad(o.CacheSize < 0, "CacheSize is %d: set at least 0", o.CacheSize)
	bad(o.MemtableSize < MinMemtableSize || o.MemtableSize > MaxMemtableSize,
		"MemtableSize is %d bytes: set %d to %d", o.MemtableSize, MinMemtableSize, MaxMemtableSize)
	bad(o.MaxOpenFiles < MinOpenFiles, "MaxOpenFiles is %d: set at least %d", o.MaxOpenFiles, MinOpenFiles)
	bad(o.Compactions < 1, "Compactions is %d: set at least 1", o.Compactions)
	return errors.Join(errs...)
}

// hashes is the range of hashes of groups, lo to hi exclusive.
func hashes(g statecow.Groups, maximum int) (lo, hi uint64) {
	up := func(group int) uint64 { return (uint64(group)<<32 + uint64(maximum) - 1) / uint64(maximum) }
	return up(g.First), up(g.End)
}
