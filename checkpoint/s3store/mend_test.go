package s3store_test

import (
	"bytes"
	"errors"
	"net/http"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/overtake-stream/overtake/checkpoint"
	"github.com/overtake-stream/overtake/checkpoint/storetest"
)

// A store that does not know whether it has published is mended by one request: the checkpoint is
// there, or it never comes, even if its own request was only late.
func TestDoubtIsSettled(t *testing.T) {
	for name, c := range map[string]struct {
		kind fault
		want checkpoint.ID
	}{"arrived": {lostAnswer, 2}, "did not": {refused, 1}} {
		t.Run(name, func(t *testing.T) {
			ctx, o := t.Context(), options()
			o.Attempts = 1
			f, client, s := prepare(t, o, nil)
			m := storetest.Manifest(2, []checkpoint.BlobRef{storetest.MustWrite(t, s, storetest.Name(2, 0), 100)})
			f.fail(func(_ int, r *http.Request) fault {
				if r.Method == http.MethodPut {
					return c.kind
				}
				return none
			})
			var doubt *checkpoint.DoubtError
			if err := s.Publish(ctx, m); !errors.As(err, &doubt) {
				t.Fatalf("got %v, want a DoubtError", err)
			}
			var broken *checkpoint.BrokenError
			if err := s.Drop(ctx, 1); !errors.As(err, &broken) {
				t.Fatalf("got %v, want a BrokenError", err)
			}
			mend := s.(checkpoint.Mender).Mend
			f.fail(func(int, *http.Request) fault { return unavailable })
			if err := mend(ctx); err == nil {
				t.Fatal("it was mended without an answer")
			}
			f.fail(nil)
			for range 2 { // the second finds nothing to do
				if err := mend(ctx); err != nil {
					t.Fatal(err)
				}
			}
			arrivesLate(t, client, m)
			if err := s.Publish(ctx, m); !errors.Is(err, checkpoint.ErrExists) {
				t.Errorf("its number was used again: %v", err)
			}
			for _, s := range []checkpoint.Store{s, mustOpen(t, client, o)} {
				if _, err := s.Sweep(ctx, func(checkpoint.BlobName) bool { return false }); err != nil {
					t.Error(err)
				}
				if latest, skipped, err := s.Latest(ctx); err != nil || latest.ID != c.want {
					t.Errorf("latest %v, %v, %v, want %d", latest, skipped, err, c.want)
				}
				if all, err := s.List(ctx); err != nil || len(all) != 2 || (all[0].Damaged == nil) != (c.want == 2) {
					t.Errorf("got %+v, %v", all, err)
				}
			}
		})
	}
}

// arrivesLate makes the request that publishes m as if it had been on its way until now.
func arrivesLate(t *testing.T, client *s3.Client, m *checkpoint.Manifest) {
	t.Helper()
	data, err := checkpoint.EncodeManifest(m)
	if err != nil {
		t.Fatal(err)
	}
	_, err = client.PutObject(t.Context(), &s3.PutObjectInput{
		Bucket: aws.String(fakeBucket), Key: aws.String("jobs/orders/manifests/" + checkpoint.ManifestName(m.ID)),
		Body: bytes.NewReader(data), ContentLength: aws.Int64(int64(len(data))), IfNoneMatch: aws.String("*"),
	})
	if err == nil {
		t.Error("a late request has published")
	}
}
