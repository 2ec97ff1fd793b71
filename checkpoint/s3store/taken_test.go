package s3store_test

import (
	"errors"
	"net/http"
	"testing"

	"github.com/overtake-stream/overtake/checkpoint"
	"github.com/overtake-stream/overtake/checkpoint/storetest"
)

// TestTaken loses the first request for a name that somebody else has: it must not be
// taken for one's own.
func TestTaken(t *testing.T) {
	for _, size := range []int{100, 50_000} {
		f, client, s := prepare(t, options(), nil)
		other := mustOpen(t, client, options())
		theirs := storetest.MustWrite(t, other, storetest.Name(5, 0), size)
		storetest.MustPublish(t, other, storetest.Manifest(5, []checkpoint.BlobRef{theirs}))
		for _, kind := range []fault{unavailable, refused, lostAnswer} {
			lost := false
			f.fail(func(_ int, r *http.Request) fault {
				decides := r.Header.Get("If-None-Match") == "*"
				if lost || !decides {
					return none
				}
				lost = true
				return kind
			})
			if _, err := storetest.Write(t.Context(), s, storetest.Name(5, 0), storetest.Bytes(9, size)); !errors.Is(err, checkpoint.ErrExists) {
				t.Errorf("fault %d: a blob of %d bytes over another's: %v", kind, size, err)
			}
			lost = false
			if err := s.Publish(t.Context(), storetest.Manifest(5)); !errors.Is(err, checkpoint.ErrExists) {
				t.Errorf("fault %d: a manifest over another's: %v", kind, err)
			}
		}
		f.fail(nil)
		if err := other.Verify(t.Context(), 5); err != nil {
			t.Error(err)
		}
		if _, uploads := f.keys(); len(uploads) > 0 {
			t.Errorf("uploads are left: %q", uploads)
		}
	}
}
