package lsm

import "github.com/cockroachdb/pebble/v2/vfs"

// scratchFS is the file system as Pebble sees it: one for files that are of no use
// after a crash.
//
// Nothing is synced. What a checkpoint needs is synced by its Finish, off the
// owner's path; then and there a failed write shows that no sync has shown before.
//
// The background work of a broken store begins no new table: it waits until the
// store closes, instead of failing again at once, forever.
type scratchFS struct {
	vfs.FS
	guard *guard
}

// Create implements vfs.FS. The owner never gets here with one of the categories.
func (f scratchFS) Create(name string, c vfs.DiskWriteCategory) (vfs.File, error) {
	if err := f.guard.err(); err != nil {
		if c == "pebble-memtable-flush" || c == "pebble-compaction" {
			<-f.guard.closing
		}
		return nil, err
	}
	return unsyncedFile(f.FS.Create(name, c))
}

// OpenReadWrite implements vfs.FS.
func (f scratchFS) OpenReadWrite(name string, c vfs.DiskWriteCategory, opts ...vfs.OpenOption) (vfs.File, error) {
	return unsyncedFile(f.FS.OpenReadWrite(name, c, opts...))
}

// ReuseForWrite implements vfs.FS.
func (f scratchFS) ReuseForWrite(oldname, newname string, c vfs.DiskWriteCategory) (vfs.File, error) {
	return unsyncedFile(f.FS.ReuseForWrite(oldname, newname, c))
}

// OpenDir implements vfs.FS.
func (f scratchFS) OpenDir(name string) (vfs.File, error) { return unsyncedFile(f.FS.OpenDir(name)) }

// Unwrap implements vfs.FS.
func (f scratchFS) Unwrap() vfs.FS { return f.FS }

func unsyncedFile(f vfs.File, err error) (vfs.File, error) {
	if err != nil {
		return nil, err
	}
	return unsynced{f}, nil
}

// unsynced is a file that syncs nothing.
type unsynced struct{ vfs.File }

// Sync implements vfs.File.
func (unsynced) Sync() error { return nil }

// SyncData implements vfs.File.
func (unsynced) SyncData() error { return nil }

// SyncTo implements vfs.File.
func (unsynced) SyncTo(int64) (fullSync bool, err error) { return false, nil }
