package s3store

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"time"

	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"github.com/overtake-stream/overtake/checkpoint"
)

// errTaken says that the condition of a put has failed: there is such an object.
var errTaken = errors.New("there is an object of this name")

// retry makes a request until it succeeds, is refused, or all attempts have failed.
// lost says that a failed attempt may have had its effect all the same.
func (b *bucket) retry(ctx context.Context, op, key string, request func(context.Context) error) (lost bool, err error) {
	wait := b.o.Backoff
	for attempt := 1; ; attempt++ {
		try, cancel := context.WithTimeout(ctx, b.o.Timeout)
		err = request(try)
		cancel()
		if err == nil {
			return lost, nil
		}
		if ctx.Err() != nil {
			return true, ctx.Err()
		}
		again := passing(err)
		lost = lost || again
		if !again || attempt >= b.o.Attempts {
			return lost, b.failed(op, key, err)
		}
		// The jitter keeps subtasks that failed together from coming back together.
		pause(ctx, wait/2+rand.N(wait/2+1))
		wait = min(2*wait, 64*b.o.Backoff)
	}
}

// pause waits for a while, or until ctx ends.
func pause(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

// status returns the HTTP status of an answer, 0 if there was none.
func status(err error) int {
	var answer *smithyhttp.ResponseError
	if errors.As(err, &answer) {
		return answer.HTTPStatusCode()
	}
	return 0
}

func code(err error) string {
	var api smithy.APIError
	if errors.As(err, &api) {
		return api.ErrorCode()
	}
	return ""
}

// passing says whether a failure may be gone at the next attempt. Whatever the server
// has not understood or has refused is not.
func passing(err error) bool {
	switch s := status(err); {
	case s == http.StatusConflict: // two conditional writes at once
		return true
	case s == http.StatusTooManyRequests, s == http.StatusRequestTimeout, s >= 500, code(err) == "RequestTimeout":
		return true
	case s >= 300: // refused; 2xx with an error in it may come right
		return false
	}
	return true
}

// failed returns the error that callers see.
func (b *bucket) failed(op, key string, err error) error {
	file := b.name(key)
	advice := "the object store does not answer: check it and the network; older checkpoints are intact"
	switch s := status(err); s {
	case http.StatusNotFound:
		if code(err) != "NoSuchBucket" && code(err) != "NoSuchUpload" {
			return fmt.Errorf("%s: %w", file, checkpoint.ErrNotFound)
		}
		advice = "create the bucket, or correct its name"
	case http.StatusPreconditionFailed:
		return fmt.Errorf("%s: %w", file, errTaken)
	case http.StatusForbidden, http.StatusUnauthorized:
		advice = "let the client's credentials read, write, list and delete there; older checkpoints are intact"
	case 0:
	default:
		if s < 500 {
			advice = "the object store refuses the request: check that it supports conditional writes and multipart uploads"
		}
	}
	return &checkpoint.IOError{Op: op, File: file, Advice: advice, Err: err}
}
