package s3store

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/overtake-stream/overtake/checkpoint"
)

const (
	blobsPrefix     = "blobs/"
	blobSuffix      = ".blob"
	manifestsPrefix = "manifests/"
)

// blobs is the part of a store that all processes share.
type blobs struct {
	*bucket
	codec    *checkpoint.Codec
	instance uint64        // tells writes of processes apart
	writes   atomic.Uint64 // tells those of this process apart
}

// OpenBlobs returns a view of a store to read and write blobs and to read manifests,
// for the workers that are not the coordinator. It makes no request.
func OpenBlobs(client *s3.Client, o Options) (checkpoint.Blobs, error) { return openBlobs(client, o) }

func openBlobs(client *s3.Client, o Options) (*blobs, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	codec, err := checkpoint.NewCodec(checkpoint.Options{Compress: o.Compress, BlockSize: o.BlockSize})
	if err != nil {
		return nil, err
	}
	return &blobs{bucket: &bucket{client, o.withDefaults()}, codec: codec, instance: rand.Uint64()}, nil
}

// nextWrite returns a number that no other write has.
func (b *blobs) nextWrite() string {
	return strconv.FormatUint(b.instance, 16) + "-" + strconv.FormatUint(b.writes.Add(1), 10)
}

func blobKey(name checkpoint.BlobName) string { return blobsPrefix + name.String() + blobSuffix }
func manifestKey(id checkpoint.ID) string     { return manifestsPrefix + checkpoint.ManifestName(id) }
func parseBlobKey(rest string) (checkpoint.BlobName, bool) {
	base, ok := strings.CutSuffix(rest, blobSuffix)
	if !ok {
		return checkpoint.BlobName{}, false
	}
	return checkpoint.ParseBlobName(base)
}

// Create implements checkpoint.Blobs. A name that is taken is noticed at Commit.
func (b *blobs) Create(ctx context.Context, name checkpoint.BlobName) (checkpoint.BlobWriter, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	w := &writer{blobs: b, ctx: ctx, key: blobKey(name), write: b.nextWrite()}
	w.blocks = b.codec.Writer(sink{w}, name)
	return w, nil
}

// Open implements checkpoint.Blobs.
func (b *blobs) Open(ctx context.Context, ref checkpoint.BlobRef) (io.ReadCloser, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	chunks := &reader{bucket: b.bucket, ctx: ctx, key: blobKey(ref.Name), size: ref.Stored}
	if err := chunks.fetch(); err != nil {
		return nil, err
	}
	return io.NopCloser(b.codec.Reader(chunks, ref, b.name(chunks.key))), nil
}

// void is in the place of a manifest that must not come any more.
const void = "void\n"

// Manifest implements checkpoint.Blobs.
func (b *blobs) Manifest(ctx context.Context, id checkpoint.ID) (*checkpoint.Manifest, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	key := manifestKey(id)
	data, err := b.get(ctx, key, 0, checkpoint.MaxManifest+1)
	if err != nil {
		return nil, err
	}
	if string(data) == void {
		return nil, fmt.Errorf("%s, whose publication was given up: %w", b.name(key), checkpoint.ErrNotFound)
	}
	m, err := checkpoint.DecodeManifest(b.name(key), data)
	if err == nil && m.ID != id {
		return nil, &checkpoint.CorruptError{File: b.name(key), Reason: fmt.Sprintf("it is the manifest of %d", m.ID)}
	}
	return m, err
}
