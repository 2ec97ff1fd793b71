package checkpoint

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// A savepoint's directory, which needs nothing from outside and may be copied:
//
//	FORMAT                   "overtake savepoint 1" and a newline
//	savepoint.manifest       written last: it is a savepoint if this is there
//	blobs/e3-c17-s2-0.blob   the blobs, under the names that they had
const (
	savepointFormat   = "overtake savepoint 1\n"
	savepointVersion  = 1
	formatFile        = "FORMAT"
	savepointManifest = "savepoint" + manifestSuffix
)

// Export copies a checkpoint out of a store into a new directory, as a savepoint that
// OpenSavepoint reads. All of it is verified on the way. If it fails, what was
// written is removed, and the store is as it was. A directory that is there and not
// empty is refused with ErrExists.
func Export(ctx context.Context, from Store, id ID, dirPath string, o Options) (err error) {
	m, err := from.Manifest(ctx, id)
	if err != nil {
		return err
	}
	disk := o.FS
	if disk == nil {
		disk = vfs.Default
	}
	if err := refuseUsed(disk, dirPath); err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = disk.RemoveAll(dirPath) // it was new, and the first error is the one to tell
		}
	}()
	to, err := openBlobs(dirPath, o, blobsDir)
	if err != nil {
		return err
	}
	if err := to.writeFile(to.path(formatFile), []byte(savepointFormat)); err != nil {
		return err
	}
	m.Kind = Savepoint
	if err := copyBlobs(ctx, from, to, m); err != nil {
		return err
	}
	data, err := EncodeManifest(m)
	if err != nil {
		return err
	}
	tmp := to.tmp(to.path(savepointManifest))
	if err := to.writeFile(tmp, data); err != nil {
		return err
	}
	if err := to.fs.Rename(tmp, to.path(savepointManifest)); err != nil {
		return ioError("rename", tmp, err)
	}
	return to.syncDir(to.root)
}

// refuseUsed returns ErrExists if there is something in the directory.
func refuseUsed(disk vfs.FS, dirPath string) error {
	files, err := disk.List(dirPath)
	if err == nil && len(files) > 0 {
		return fmt.Errorf("directory %s has %s in it: %w", dirPath, files[0], ErrExists)
	}
	return nil // if it cannot be listed, creating it says why
}

// copyBlobs copies all blobs of a manifest, and points it to the copies.
func copyBlobs(ctx context.Context, from, to Blobs, m *Manifest) error {
	copies := map[BlobName]BlobRef{}
	for i := range m.Operators {
		for j := range m.Operators[i].Subtasks {
			for _, p := range m.Operators[i].Subtasks[j].Parts {
				for k, ref := range p.Chain {
					if _, done := copies[ref.Name]; !done {
						c, err := copyBlob(ctx, from, to, ref)
						if err != nil {
							return err
						}
						copies[ref.Name] = c
					}
					p.Chain[k] = copies[ref.Name]
				}
			}
		}
	}
	return nil
}

func copyBlob(ctx context.Context, from, to Blobs, ref BlobRef) (copied BlobRef, err error) {
	r, err := from.Open(ctx, ref)
	if err != nil {
		return BlobRef{}, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	w, err := to.Create(ctx, ref.Name)
	if err != nil {
		return BlobRef{}, err
	}
	defer w.Abort()
	if _, err := io.Copy(w, r); err != nil {
		return BlobRef{}, err
	}
	return w.Commit()
}

// savepoint reads an exported directory.
type savepoint struct {
	*dirBlobs
	manifest *Manifest
}

// OpenSavepoint opens a directory that Export has written, and returns its manifest,
// all of whose blobs are there in the right size. It writes nothing: Create fails
// with ErrReadOnly, and Manifest knows this one only.
func OpenSavepoint(dirPath string, o Options) (Blobs, *Manifest, error) {
	codec, err := NewCodec(o)
	if err != nil {
		return nil, nil, err
	}
	s := &savepoint{dirBlobs: &dirBlobs{layout: layout{fs: o.FS, root: dirPath}, codec: codec}}
	if s.fs == nil {
		s.fs = vfs.Default
	}
	path := s.path(savepointManifest)
	if s.manifest, err = s.readManifest(path); err != nil {
		return nil, nil, err
	}
	if err := s.checkFormat(); err != nil {
		return nil, nil, err
	}
	if err := s.check(s.manifest); err != nil {
		return nil, nil, err
	}
	m, err := s.Manifest(context.Background(), s.manifest.ID)
	return s, m, err
}

// checkFormat refuses other versions of the layout.
func (s *savepoint) checkFormat() error {
	path := s.path(formatFile)
	data, err := s.readFile(path, 1<<10)
	if err != nil {
		return err
	}
	if string(data) == savepointFormat {
		return nil
	}
	var version uint32
	if n, _ := fmt.Sscanf(string(data), "overtake savepoint %d\n", &version); n == 1 && version > savepointVersion {
		return &VersionError{File: path, Found: version, Known: savepointVersion}
	}
	return &CorruptError{File: path, Reason: fmt.Sprintf("it says %.40q", data)}
}

// Create implements Blobs.
func (s *savepoint) Create(context.Context, BlobName) (BlobWriter, error) {
	return nil, fmt.Errorf("%s: %w", s.root, ErrReadOnly)
}

// Manifest implements Blobs.
func (s *savepoint) Manifest(ctx context.Context, id ID) (*Manifest, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if id != s.manifest.ID {
		return nil, fmt.Errorf("checkpoint %d in savepoint %s, which is of %d: %w", id, s.root, s.manifest.ID, ErrNotFound)
	}
	return s.readManifest(s.path(savepointManifest))
}
