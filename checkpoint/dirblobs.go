package checkpoint

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"path/filepath"
	"strconv"
	"sync/atomic"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// dirBlobs is the part of a directory that all processes share.
type dirBlobs struct {
	layout
	codec    *Codec
	instance uint64        // tells temporary files of processes apart
	writes   atomic.Uint64 // tells those of this process apart
}

// OpenBlobs opens a store's directory to read and write blobs and to read manifests,
// for the workers that are not the coordinator. Any number of processes may do so,
// before the coordinator opens the store, too: what is missing is created.
func OpenBlobs(path string, o Options) (Blobs, error) {
	return openBlobs(path, o, blobsDir, manifestsDir)
}

func openBlobs(path string, o Options, dirs ...string) (*dirBlobs, error) {
	codec, err := NewCodec(o)
	if err != nil {
		return nil, err
	}
	d := &dirBlobs{layout: layout{fs: o.FS, root: path, noSync: o.NoSync}, codec: codec, instance: rand.Uint64()}
	if d.fs == nil {
		d.fs = privateFS{vfs.Default}
		if d.root, err = filepath.Abs(path); err != nil {
			return nil, ioError("open", path, err)
		}
	}
	if err := d.makeDirs(dirs...); err != nil {
		return nil, err
	}
	if o.FS == nil { // one name for one directory: the lock goes by it
		if d.root, err = filepath.EvalSymlinks(d.root); err != nil {
			return nil, ioError("open", path, err)
		}
	}
	return d, nil
}

// tmp returns a new name for a file that will be renamed to path.
func (d *dirBlobs) tmp(path string) string {
	return path + "." + strconv.FormatUint(d.instance, 16) + "-" + strconv.FormatUint(d.writes.Add(1), 10) + tmpSuffix
}

// Create implements Blobs.
func (d *dirBlobs) Create(ctx context.Context, name BlobName) (BlobWriter, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	path := d.blob(name)
	if err := d.free(path); err != nil {
		return nil, err
	}
	w := &dirWriter{dir: d, ctx: ctx, path: path, tmp: d.tmp(path)}
	f, err := d.fs.Create(w.tmp, category)
	if err != nil {
		return nil, ioError("create", w.tmp, err)
	}
	w.file = f
	w.blocks = d.codec.Writer(namedWriter{f, w.tmp}, name)
	return w, nil
}

// free returns ErrExists if the path is taken.
func (d *dirBlobs) free(path string) error {
	taken, err := d.exists(path)
	if err == nil && taken {
		err = fmt.Errorf("%s: %w", path, ErrExists)
	}
	return err
}

// Open implements Blobs.
func (d *dirBlobs) Open(ctx context.Context, ref BlobRef) (io.ReadCloser, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	path := d.blob(ref.Name)
	f, err := d.fs.Open(path, vfs.SequentialReadsOption)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s: %w", path, ErrNotFound)
	}
	if err != nil {
		return nil, ioError("open", path, err)
	}
	blocks := d.codec.Reader(bufio.NewReaderSize(f, 2*DefaultBlockSize), ref, path)
	return &dirReader{ctx: ctx, blocks: blocks, file: f, path: path}, nil
}

// Manifest implements Blobs.
func (d *dirBlobs) Manifest(ctx context.Context, id ID) (*Manifest, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	path := d.manifest(id)
	m, err := d.readManifest(path)
	if err == nil && m.ID != id {
		return nil, &CorruptError{File: path, Offset: manifestHeader, Reason: fmt.Sprintf("it is the manifest of %d", m.ID)}
	}
	return m, err
}

// dirReader reads a blob's file.
type dirReader struct {
	ctx    context.Context
	blocks *BlockReader
	file   vfs.File
	path   string
}

// Read implements io.Reader.
func (r *dirReader) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.blocks.Read(p)
}

// Close implements io.Closer.
func (r *dirReader) Close() error { return ioError("close", r.path, r.file.Close()) }
