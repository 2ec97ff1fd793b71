package checkpoint

import (
	"context"
	"fmt"
	"io"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// dirWriter writes a blob's file under a temporary name.
type dirWriter struct {
	dir       *dirBlobs
	ctx       context.Context
	path, tmp string
	file      vfs.File // nil once it is closed
	blocks    *BlockWriter
	done      bool
}

// namedWriter names the file in what fails.
type namedWriter struct {
	w    io.Writer
	path string
}

// Write implements io.Writer.
func (n namedWriter) Write(p []byte) (int, error) {
	written, err := n.w.Write(p)
	return written, ioError("write", n.path, err)
}

// Write implements BlobWriter.
func (w *dirWriter) Write(p []byte) (int, error) {
	if err := w.ctx.Err(); err != nil {
		return 0, err
	}
	if w.done {
		return 0, fmt.Errorf("%s: written after Commit or Abort", w.path)
	}
	return w.blocks.Write(p)
}

// Commit implements BlobWriter.
func (w *dirWriter) Commit() (ref BlobRef, err error) {
	if w.done {
		return BlobRef{}, fmt.Errorf("%s: committed twice, or after Abort", w.path)
	}
	defer func() {
		if err != nil {
			w.Abort()
			ref = BlobRef{}
		}
		w.done = true
	}()
	if err := w.ctx.Err(); err != nil {
		return BlobRef{}, err
	}
	if ref, err = w.blocks.Finish(); err != nil {
		return ref, err
	}
	f := w.file
	w.file = nil
	if err := w.dir.syncFile(f, w.tmp); err != nil {
		return ref, err
	}
	if err := w.dir.free(w.path); err != nil {
		return ref, err
	}
	if err := w.dir.fs.Rename(w.tmp, w.path); err != nil {
		return ref, ioError("rename", w.tmp, err)
	}
	if err := w.dir.syncDir(w.dir.path(blobsDir)); err != nil {
		w.dir.discard(w.path)
		return ref, err
	}
	return ref, nil
}

// Abort implements BlobWriter.
func (w *dirWriter) Abort() {
	if w.done {
		return
	}
	w.done = true
	if w.file != nil {
		_ = w.file.Close() // the file is given up
		w.file = nil
	}
	w.dir.discard(w.tmp)
}
