package s3store

import (
	"context"
	"io"
)

// reader reads an object by requests for a part each, so that one which fails or
// hangs is repeated without the others. It belongs to one goroutine.
type reader struct {
	*bucket
	ctx    context.Context
	key    string
	size   int64  // bytes that the object should have
	offset int64  // bytes fetched
	chunk  []byte // what is left of the last part
	end    bool   // nothing follows the last part
}

// fetch gets the next part. It asks for a byte more than the object should have, to
// notice that it has more.
func (r *reader) fetch() error {
	if err := r.ctx.Err(); err != nil {
		return err
	}
	limit := max(1, min(int64(r.o.PartSize), r.size-r.offset+1))
	data, err := r.get(r.ctx, r.key, r.offset, limit)
	if err != nil {
		return err
	}
	r.chunk, r.offset, r.end = data, r.offset+int64(len(data)), int64(len(data)) < limit
	return nil
}

// Read implements io.Reader.
func (r *reader) Read(p []byte) (int, error) {
	for len(r.chunk) == 0 {
		if r.end {
			return 0, io.EOF
		}
		if err := r.fetch(); err != nil {
			return 0, err
		}
	}
	n := copy(p, r.chunk)
	r.chunk = r.chunk[n:]
	return n, nil
}
