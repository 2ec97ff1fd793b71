package s3store

import (
	"bytes"
	"context"
	"errors"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"

	"github.com/overtake-stream/overtake/checkpoint"
)

// multipart is an upload in parts, invisible until it is completed.
type multipart struct {
	bucket *bucket
	key    string
	write  string
	id     string
	parts  []types.CompletedPart
}

// begin starts an upload. If its answer is lost, an upload without parts is left for Sweep.
func (b *bucket) begin(ctx context.Context, key, write string) (*multipart, error) {
	m := &multipart{bucket: b, key: key, write: write}
	_, err := b.retry(ctx, "put", key, func(ctx context.Context) error {
		out, err := b.client.CreateMultipartUpload(ctx, &s3.CreateMultipartUploadInput{
			Bucket: &b.o.Bucket, Key: aws.String(b.key(key)), Metadata: map[string]string{writeKey: write},
		}, once)
		if err == nil {
			m.id = aws.ToString(out.UploadId)
		}
		return err
	})
	return m, err
}

// part sends the next part. Sending it again replaces it.
func (m *multipart) part(ctx context.Context, data []byte) error {
	b, number := m.bucket, int32(len(m.parts)+1)
	_, err := b.retry(ctx, "put", m.key, func(ctx context.Context) error {
		out, err := b.client.UploadPart(ctx, &s3.UploadPartInput{
			Bucket: &b.o.Bucket, Key: aws.String(b.key(m.key)), UploadId: &m.id, PartNumber: &number,
			Body: bytes.NewReader(data), ContentLength: aws.Int64(int64(len(data))),
		}, once)
		if err == nil {
			m.parts = append(m.parts, types.CompletedPart{
				PartNumber: aws.Int32(number), ETag: out.ETag, ChecksumCRC32: out.ChecksumCRC32,
			})
		}
		return err
	})
	return err
}

// complete makes the object visible, durably.
func (m *multipart) complete(ctx context.Context) error {
	b := m.bucket
	lost, err := b.retry(ctx, "put", m.key, func(ctx context.Context) error {
		_, err := b.client.CompleteMultipartUpload(ctx, &s3.CompleteMultipartUploadInput{
			Bucket: &b.o.Bucket, Key: aws.String(b.key(m.key)), UploadId: &m.id,
			MultipartUpload: &types.CompletedMultipartUpload{Parts: m.parts}, IfNoneMatch: aws.String("*"),
		}, once)
		return err
	})
	// If an attempt that was lost has completed it, the next finds the name taken or no upload.
	if errors.Is(err, errTaken) || lost && code(err) == "NoSuchUpload" {
		_, other := b.mine(ctx, m.key, m.write, lost)
		if errors.Is(other, checkpoint.ErrNotFound) {
			return err
		}
		return other
	}
	return err
}

// abort gives up an upload.
func (b *bucket) abort(ctx context.Context, key, id string) error {
	_, err := b.retry(ctx, "remove", key, func(ctx context.Context) error {
		_, err := b.client.AbortMultipartUpload(ctx, &s3.AbortMultipartUploadInput{Bucket: &b.o.Bucket, Key: aws.String(b.key(key)), UploadId: &id}, once)
		return err
	})
	if code(err) == "NoSuchUpload" || errors.Is(err, checkpoint.ErrNotFound) {
		return nil
	}
	return err
}

// upload is one that was begun and has not ended.
type upload struct{ key, id string }

// uploads lists those below a prefix.
func (b *bucket) uploads(ctx context.Context, prefix string) ([]upload, error) {
	var all []upload
	var key, id *string
	for {
		var out *s3.ListMultipartUploadsOutput
		_, err := b.retry(ctx, "list", prefix, func(ctx context.Context) (err error) {
			out, err = b.client.ListMultipartUploads(ctx, &s3.ListMultipartUploadsInput{
				Bucket: &b.o.Bucket, Prefix: aws.String(b.key(prefix)), KeyMarker: key, UploadIdMarker: id,
			}, once)
			return err
		})
		if err != nil {
			return nil, err
		}
		for _, u := range out.Uploads {
			all = append(all, upload{strings.TrimPrefix(aws.ToString(u.Key), b.key("")), aws.ToString(u.UploadId)})
		}
		if key, id = out.NextKeyMarker, out.NextUploadIdMarker; !aws.ToBool(out.IsTruncated) || key == nil {
			return all, nil
		}
	}
}
