package checkpoint

import (
	"context"
	"errors"
	"io"
)

// Local is Blobs with a copy of what this process writes on its own disk, which is
// preferred when it is read again: a recovery does not wait for a store that is far
// away. The copies are a convenience: one that is missing, damaged or cannot be written
// is passed over, and the store's blob is read instead.
type Local struct {
	Blobs
	copies *dirBlobs
}

// NewLocal keeps copies in a directory of this process's own, and makes it if there is
// none.
func NewLocal(primary Blobs, dir string, o Options) (*Local, error) {
	o.NoSync = true // a copy that a crash damages is noticed when it is read
	copies, err := openBlobs(dir, o, blobsDir)
	if err != nil {
		return nil, err
	}
	return &Local{Blobs: primary, copies: copies}, nil
}

// Create implements Blobs.
func (l *Local) Create(ctx context.Context, name BlobName) (BlobWriter, error) {
	w, err := l.Blobs.Create(ctx, name)
	if err != nil {
		return nil, err
	}
	c, err := l.copies.Create(ctx, name)
	if err != nil {
		c = nil
	}
	return &localWriter{primary: w, copy: c}, nil
}

// localWriter writes twice.
type localWriter struct {
	primary BlobWriter
	copy    BlobWriter // nil once it has failed
}

// Write implements BlobWriter.
func (w *localWriter) Write(p []byte) (int, error) {
	if w.copy != nil {
		if _, err := w.copy.Write(p); err != nil {
			w.abandon()
		}
	}
	return w.primary.Write(p)
}

func (w *localWriter) abandon() {
	if w.copy != nil {
		w.copy.Abort()
		w.copy = nil
	}
}

// Commit implements BlobWriter.
func (w *localWriter) Commit() (BlobRef, error) {
	ref, err := w.primary.Commit()
	if err != nil {
		w.abandon()
		return ref, err
	}
	if w.copy != nil {
		if _, err := w.copy.Commit(); err != nil {
			w.abandon()
		}
	}
	return ref, nil
}

// Abort implements BlobWriter.
func (w *localWriter) Abort() {
	w.abandon()
	w.primary.Abort()
}

// Open implements Blobs.
func (l *Local) Open(ctx context.Context, ref BlobRef) (io.ReadCloser, error) {
	c, err := l.openCopy(ctx, ref)
	if err != nil {
		return l.Blobs.Open(ctx, ref)
	}
	return &localReader{from: c, again: func() (io.ReadCloser, error) { return l.Blobs.Open(ctx, ref) }}, nil
}

func (l *Local) openCopy(ctx context.Context, ref BlobRef) (io.ReadCloser, error) {
	info, err := l.copies.fs.Stat(l.copies.blob(ref.Name))
	if err != nil {
		return nil, err
	}
	ref.Stored, ref.Compressed = info.Size(), l.copies.codec.compress
	return l.copies.Open(ctx, ref)
}

// localReader reads a copy, and if that is damaged goes on in the store's blob behind
// what it has read, which was verified.
type localReader struct {
	from  io.ReadCloser
	again func() (io.ReadCloser, error) // nil: from is the store's
	read  int64
}

// Read implements io.Reader.
func (r *localReader) Read(p []byte) (int, error) {
	n, err := r.from.Read(p)
	r.read += int64(n)
	if err == nil || errors.Is(err, io.EOF) || r.again == nil {
		return n, err
	}
	primary, openErr := r.again()
	if openErr != nil {
		return n, openErr
	}
	r.again = nil
	_ = r.from.Close()
	r.from = primary
	_, err = io.CopyN(io.Discard, primary, r.read)
	return n, err
}

// Close implements io.Closer.
func (r *localReader) Close() error { return r.from.Close() }

// Prune removes the copies for which keep returns false.
func (l *Local) Prune(keep func(BlobName) bool) error {
	dir := l.copies.path(blobsDir)
	files, err := l.copies.fs.List(dir)
	if err != nil {
		return ioError("list", dir, err)
	}
	for _, file := range files {
		if name, ok := parseBlobFile(file); ok && !keep(name) {
			err = errors.Join(err, l.copies.remove(l.copies.path(blobsDir, file)))
		}
	}
	return err
}
