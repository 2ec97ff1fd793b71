package s3store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/overtake-stream/overtake/checkpoint"
)

// writeKey is the metadata that tells by which write an object came to be.
const writeKey = "overtake-write"

// bucket makes the requests that a store needs, each until it has an outcome. Keys
// are without the prefix.
type bucket struct {
	client *s3.Client
	o      Options
}

// once turns off the client's own repetition: retry does it, and knows what was lost.
func once(o *s3.Options) { o.Retryer = aws.NopRetryer{} }

func (b *bucket) key(key string) string {
	if b.o.Prefix == "" {
		return key
	}
	return b.o.Prefix + "/" + key
}

func (b *bucket) name(key string) string { return "s3://" + b.o.Bucket + "/" + b.key(key) }

// put creates an object, durably. If there is one of the key, it is checkpoint.ErrExists.
// lost says that it may be there in spite of an error.
func (b *bucket) put(ctx context.Context, key string, data []byte, write string) (lost bool, err error) {
	lost, err = b.retry(ctx, "put", key, func(ctx context.Context) error {
		_, err := b.client.PutObject(ctx, &s3.PutObjectInput{
			Bucket: &b.o.Bucket, Key: aws.String(b.key(key)),
			Body: bytes.NewReader(data), ContentLength: aws.Int64(int64(len(data))),
			IfNoneMatch: aws.String("*"),
			Metadata:    map[string]string{writeKey: write},
		}, once)
		return err
	})
	if errors.Is(err, errTaken) {
		return b.mine(ctx, key, write, lost)
	}
	return lost, err
}

// mine decides about a name that is taken: if an attempt was lost, it may have been
// the one that took it.
func (b *bucket) mine(ctx context.Context, key, write string, lost bool) (bool, error) {
	taken := fmt.Errorf("%s: %w", b.name(key), checkpoint.ErrExists)
	if !lost {
		return false, taken
	}
	var by string
	_, err := b.retry(ctx, "head", key, func(ctx context.Context) error {
		out, err := b.client.HeadObject(ctx, &s3.HeadObjectInput{Bucket: &b.o.Bucket, Key: aws.String(b.key(key))}, once)
		if err == nil {
			by = out.Metadata[writeKey]
		}
		return err
	})
	switch {
	case err != nil:
		return true, err
	case by != write:
		return false, taken
	}
	return false, nil
}

// get returns bytes of an object from offset, at most limit; less only at its end.
func (b *bucket) get(ctx context.Context, key string, offset, limit int64) (data []byte, err error) {
	_, err = b.retry(ctx, "read", key, func(ctx context.Context) error {
		out, err := b.client.GetObject(ctx, &s3.GetObjectInput{
			Bucket: &b.o.Bucket, Key: aws.String(b.key(key)),
			Range: aws.String("bytes=" + strconv.FormatInt(offset, 10) + "-" + strconv.FormatInt(offset+limit-1, 10)),
		}, once)
		if code(err) == "InvalidRange" { // there is nothing at the offset
			data = nil
			return nil
		}
		if err != nil {
			return err
		}
		data, err = io.ReadAll(io.LimitReader(out.Body, limit))
		return errors.Join(err, out.Body.Close())
	})
	return data, err
}

// list returns the sizes of all objects whose keys begin with prefix, by the rest of
// their keys.
func (b *bucket) list(ctx context.Context, prefix string) (map[string]int64, error) {
	all := map[string]int64{}
	full := b.key(prefix)
	var from *string
	for {
		var out *s3.ListObjectsV2Output
		_, err := b.retry(ctx, "list", prefix, func(ctx context.Context) (err error) {
			out, err = b.client.ListObjectsV2(ctx, &s3.ListObjectsV2Input{Bucket: &b.o.Bucket, Prefix: &full, ContinuationToken: from}, once)
			return err
		})
		if err != nil {
			return nil, err
		}
		for _, object := range out.Contents {
			if key := aws.ToString(object.Key); len(key) >= len(full) {
				all[key[len(full):]] = aws.ToInt64(object.Size)
			}
		}
		if from = out.NextContinuationToken; !aws.ToBool(out.IsTruncated) || from == nil {
			return all, nil
		}
	}
}

// remove removes an object. That it is not there is fine.
func (b *bucket) remove(ctx context.Context, key string) error {
	_, err := b.retry(ctx, "remove", key, func(ctx context.Context) error {
		_, err := b.client.DeleteObject(ctx, &s3.DeleteObjectInput{Bucket: &b.o.Bucket, Key: aws.String(b.key(key))}, once)
		return err
	})
	if errors.Is(err, checkpoint.ErrNotFound) {
		return nil
	}
	return err
}
