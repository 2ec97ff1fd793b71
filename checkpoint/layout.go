package checkpoint

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"

	"github.com/cockroachdb/pebble/v2/vfs"
)

const (
	lockFile     = "LOCK"
	blobsDir     = "blobs"
	manifestsDir = "manifests"
	catalogueDir = "catalogue"
	tmpSuffix    = ".tmp"
)

// category tells Pebble's disk statistics what the writes are for.
const category = vfs.WriteCategoryUnspecified

// layout knows where things are in a directory, and how to change it so that a crash
// leaves the old or the new.
type layout struct {
	fs     vfs.FS
	root   string
	noSync bool
}

func (l layout) path(elem ...string) string {
	return l.fs.PathJoin(append([]string{l.root}, elem...)...)
}

func (l layout) blob(name BlobName) string { return l.path(blobsDir, name.String()+blobSuffix) }
func (l layout) manifest(id ID) string     { return l.path(manifestsDir, ManifestName(id)) }

// parseBlobFile returns the blob that a file is for, finished or temporary.
func parseBlobFile(file string) (BlobName, bool) {
	base, rest, ok := strings.Cut(file, blobSuffix)
	if !ok || rest != "" && !strings.HasSuffix(rest, tmpSuffix) {
		return BlobName{}, false
	}
	return ParseBlobName(base)
}

// makeDir creates a directory whose entry is durable, those above it included.
func (l layout) makeDir(path string) error {
	if _, err := l.fs.Stat(path); err == nil {
		return nil
	} else if !errors.Is(err, fs.ErrNotExist) {
		return ioError("stat", path, err)
	}
	parent := l.fs.PathDir(path)
	if parent != path {
		if err := l.makeDir(parent); err != nil {
			return err
		}
	}
	if err := l.fs.MkdirAll(path, dirMode); err != nil {
		return ioError("create", path, err)
	}
	return l.syncDir(parent)
}

// makeDirs creates the directories of a store. Those that were there may have been
// created by a process that died before it synced them.
func (l layout) makeDirs(names ...string) error {
	if err := l.makeDir(l.root); err != nil {
		return err
	}
	for _, name := range names {
		if err := l.makeDir(l.path(name)); err != nil {
			return err
		}
	}
	return l.syncDir(l.root)
}

// syncDir makes the entries of a directory durable.
func (l layout) syncDir(path string) error {
	if l.noSync {
		return nil
	}
	dir, err := l.fs.OpenDir(path)
	if err != nil {
		return ioError("open", path, err)
	}
	if err := dir.Sync(); err != nil {
		return ioError("sync", path, errors.Join(err, dir.Close()))
	}
	return ioError("close", path, dir.Close())
}

// syncFile makes a file's bytes durable and closes it, in any case.
func (l layout) syncFile(f vfs.File, path string) error {
	if !l.noSync {
		if err := f.Sync(); err != nil {
			return ioError("sync", path, errors.Join(err, f.Close()))
		}
	}
	return ioError("close", path, f.Close())
}

// writeFile writes a file of the given bytes and makes them durable, but not its name.
func (l layout) writeFile(path string, data []byte) error {
	f, err := l.fs.Create(path, category)
	if err != nil {
		return ioError("create", path, err)
	}
	n, err := f.Write(data)
	if err == nil && n < len(data) {
		err = io.ErrShortWrite
	}
	if err != nil {
		return ioError("write", path, errors.Join(err, f.Close()))
	}
	return l.syncFile(f, path)
}

// exists says whether there is a file.
func (l layout) exists(path string) (bool, error) {
	_, err := l.fs.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, ioError("stat", path, err)
}

// remove removes a file. That it is not there is fine.
func (l layout) remove(path string) error {
	err := l.fs.Remove(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return ioError("remove", path, err)
}

// discard removes what a failed call has left. The call has its error to return, and
// what stays is swept later, so another error would tell nothing.
func (l layout) discard(path string) { _ = l.remove(path) }

// readFile reads a file of at most limit bytes.
func (l layout) readFile(path string, limit int64) (data []byte, err error) {
	f, err := l.fs.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s: %w", path, ErrNotFound)
	}
	if err != nil {
		return nil, ioError("open", path, err)
	}
	defer func() { err = errors.Join(err, ioError("close", path, f.Close())) }()
	info, err := f.Stat()
	if err != nil {
		return nil, ioError("stat", path, err)
	}
	if info.Size() > limit {
		return nil, &CorruptError{File: path, Offset: limit, Reason: fmt.Sprintf("it has %d bytes, more than any", info.Size())}
	}
	data = make([]byte, info.Size())
	if _, err := io.ReadFull(f, data); err != nil {
		return nil, ioError("read", path, err)
	}
	return data, nil
}

// readManifest reads the manifest in a file.
func (l layout) readManifest(path string) (*Manifest, error) {
	data, err := l.readFile(path, MaxManifest)
	if err != nil {
		return nil, err
	}
	return DecodeManifest(path, data)
}

// check compares a manifest's references with the files that are there. The file
// names the blob; it may be part of a path of a directory or of an object store.
func (l layout) check(m *Manifest) error {
	for name, ref := range m.BlobSet() {
		path := l.blob(name)
		info, err := l.fs.Stat(path)
		missing := &MissingError{Checkpoint: m.ID, Blob: name, File: path, Want: ref.Stored, Got: -1}
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return missing
		case err != nil:
			return ioError("stat", path, err)
		case info.Size() != ref.Stored:
			missing.Got = info.Size()
			return missing
		}
	}
	return nil
}
