package s3store

import (
	"context"
	"fmt"

	"github.com/overtake-stream/overtake/checkpoint"
)

// writer collects a blob's file, and sends it whole if it is small, else in parts.
type writer struct {
	*blobs
	ctx    context.Context
	key    string
	write  string
	blocks *checkpoint.BlockWriter
	buffer []byte     // what has not been sent: less than a part
	parts  *multipart // nil as long as it is small
	done   bool
}

// sink takes the bytes of the file.
type sink struct{ w *writer }

// Write implements io.Writer.
func (s sink) Write(p []byte) (int, error) {
	w := s.w
	for rest := p; len(rest) > 0; {
		n := min(len(rest), w.o.PartSize-len(w.buffer))
		w.buffer = append(w.buffer, rest[:n]...)
		if rest = rest[n:]; len(w.buffer) == w.o.PartSize {
			if err := w.send(); err != nil {
				return 0, err
			}
		}
	}
	return len(p), nil
}

// send sends the buffer as the next part.
func (w *writer) send() (err error) {
	if w.parts == nil {
		if w.parts, err = w.begin(w.ctx, w.key, w.write); err != nil {
			w.parts = nil
			return err
		}
	}
	if err := w.parts.part(w.ctx, w.buffer); err != nil {
		return err
	}
	w.buffer = w.buffer[:0]
	return nil
}

// Write implements checkpoint.BlobWriter.
func (w *writer) Write(p []byte) (int, error) {
	if err := w.ctx.Err(); err != nil {
		return 0, err
	}
	if w.done {
		return 0, fmt.Errorf("%s: written after Commit or Abort", w.name(w.key))
	}
	return w.blocks.Write(p)
}

// Commit implements checkpoint.BlobWriter.
func (w *writer) Commit() (checkpoint.BlobRef, error) {
	if w.done {
		return checkpoint.BlobRef{}, fmt.Errorf("%s: committed twice, or after Abort", w.name(w.key))
	}
	ref, err := w.blocks.Finish()
	if err == nil {
		err = w.ctx.Err()
	}
	if err == nil {
		err = w.finish()
	}
	if err != nil {
		w.Abort()
		return checkpoint.BlobRef{}, err
	}
	w.done, w.buffer = true, nil
	return ref, nil
}

func (w *writer) finish() error {
	if w.parts == nil {
		_, err := w.put(w.ctx, w.key, w.buffer, w.write)
		return err
	}
	if len(w.buffer) > 0 {
		if err := w.send(); err != nil {
			return err
		}
	}
	return w.parts.complete(w.ctx)
}

// Abort implements checkpoint.BlobWriter. What it cannot remove is left for Sweep; so
// is an object whose put has failed by a lost answer.
func (w *writer) Abort() {
	if w.done {
		return
	}
	w.done, w.buffer = true, nil
	if w.parts != nil {
		// The blob's context may be why it is given up. Each attempt is limited in time.
		_ = w.abort(context.WithoutCancel(w.ctx), w.key, w.parts.id)
	}
}
