package checkpoint

import (
	"context"
	"errors"
	"io"
)

// VerifyBlobs reads all blobs of a manifest to their ends and returns the first
// error. A blob that is not there is a *MissingError.
func VerifyBlobs(ctx context.Context, from Blobs, m *Manifest) error {
	seen := map[BlobName]bool{}
	var first error
	m.Blobs(func(ref BlobRef) {
		if first != nil || seen[ref.Name] {
			return
		}
		seen[ref.Name] = true
		first = verifyBlob(ctx, from, m.ID, ref)
	})
	return first
}

func verifyBlob(ctx context.Context, from Blobs, id ID, ref BlobRef) error {
	r, err := from.Open(ctx, ref)
	if errors.Is(err, ErrNotFound) {
		return &MissingError{Checkpoint: id, Blob: ref.Name, File: ref.Name.String(), Want: ref.Stored, Got: -1}
	}
	if err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, r)
	return errors.Join(err, r.Close())
}
