package s3store_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/xml"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/overtake-stream/overtake/checkpoint/s3store"
)

// fault is what happens to a request.
type fault int

const (
	none         fault = iota
	unavailable        // 503, without effect
	refused            // the connection is cut, without effect
	lostAnswer         // it has its effect, and the connection is cut
	slow               // it has its effect, and is not answered in time
	cutShort           // its answer is cut in the middle
	slowDown           // 200 with an error in it, as completing an upload may have
	faultsNumber       // how many there are
)

// fake speaks as much of S3 as the store needs, strictly, and keeps it in memory.
type fake struct {
	t       *testing.T
	page    int // objects in a listing
	mu      sync.Mutex
	objects map[string]object
	uploads map[string]map[int][]byte // by key and ID
	next    int
	calls   []string
	inject  func(call int, r *http.Request) fault
}

type object struct {
	data []byte
	meta http.Header
}

const fakeBucket = "checkpoints"

// newFake starts a server, which ends with the test.
func newFake(t *testing.T) (*fake, *s3.Client) {
	f := &fake{t: t, page: 4, objects: map[string]object{}, uploads: map[string]map[int][]byte{}}
	server := httptest.NewServer(f)
	transport := &http.Transport{}
	t.Cleanup(func() {
		transport.CloseIdleConnections()
		server.CloseClientConnections()
		server.Close()
	})
	return f, s3.New(s3.Options{
		Region: "us-east-1", BaseEndpoint: aws.String(server.URL), UsePathStyle: true,
		HTTPClient: &http.Client{Transport: transport},
		Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
			return aws.Credentials{AccessKeyID: "fake", SecretAccessKey: "fake"}, nil
		}),
	})
}

// options are those of a store on the fake: small parts and short waits.
func options() s3store.Options {
	return s3store.Options{
		Bucket: fakeBucket, Prefix: "jobs/orders", PartSize: 20_000, BlockSize: 1000,
		Attempts: 6, Timeout: 5 * time.Second, Backoff: time.Microsecond,
	}
}

// fail sets what happens to requests from now on, nil for nothing.
func (f *fake) fail(inject func(call int, r *http.Request) fault) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.inject, f.calls = inject, nil
}

// keys returns the keys of all objects and uploads.
func (f *fake) keys() (objects, uploads []string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Sorted(maps.Keys(f.objects)), slices.Sorted(maps.Keys(f.uploads))
}

// change changes an object's bytes.
func (f *fake) change(key string, edit func([]byte) []byte) {
	f.mu.Lock()
	defer f.mu.Unlock()
	o := f.objects[key]
	o.data = edit(bytes.Clone(o.data))
	f.objects[key] = o
}

// answer is a response before it is sent.
type answer struct {
	status int
	header http.Header
	body   []byte
}

func failed(status int, code string) answer {
	return answer{status: status, body: []byte("<Error><Code>" + code + "</Code><Message>" + code + "</Message></Error>")}
}

// ServeHTTP implements http.Handler.
func (f *fake) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := readBody(r)
	if err != nil {
		return // the client has gone
	}
	f.mu.Lock()
	f.calls = append(f.calls, r.Method+" "+r.URL.Path)
	what := none
	if f.inject != nil {
		what = f.inject(len(f.calls), r)
	}
	var a answer
	if what == none || what == lostAnswer || what == slow || what == cutShort {
		a = f.handle(r, body)
	}
	f.mu.Unlock()
	switch what {
	case unavailable:
		a = failed(http.StatusServiceUnavailable, "SlowDown")
	case slowDown:
		a = failed(http.StatusOK, "InternalError")
		if r.Method != http.MethodPost || !r.URL.Query().Has("uploadId") {
			a.status = http.StatusInternalServerError
		}
	case refused, lostAnswer:
		panic(http.ErrAbortHandler)
	case slow:
		<-r.Context().Done()
		return
	}
	for k, v := range a.header {
		w.Header()[k] = v
	}
	w.Header().Set("Content-Length", strconv.Itoa(len(a.body)))
	w.WriteHeader(a.status)
	if r.Method == http.MethodHead {
		return
	}
	if what == cutShort {
		_, _ = w.Write(a.body[:len(a.body)/2])
		panic(http.ErrAbortHandler)
	}
	_, _ = w.Write(a.body)
}

// readBody reads a request's body, also one sent in signed chunks.
func readBody(r *http.Request) ([]byte, error) {
	if !strings.Contains(r.Header.Get("Content-Encoding"), "aws-chunked") {
		return io.ReadAll(r.Body)
	}
	in, out := bufio.NewReader(r.Body), []byte{}
	for {
		line, err := in.ReadString('\n')
		if err != nil {
			return nil, err
		}
		size, _, _ := strings.Cut(strings.TrimSpace(line), ";")
		n, err := strconv.ParseInt(size, 16, 64)
		if err != nil {
			return nil, err
		}
		if n == 0 {
			_, err := io.Copy(io.Discard, in)
			return out, err
		}
		chunk := make([]byte, n+2)
		if _, err := io.ReadFull(in, chunk); err != nil {
			return nil, err
		}
		out = append(out, chunk[:n]...)
	}
}

func (f *fake) handle(r *http.Request, body []byte) answer {
	bucket, key, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	if bucket != fakeBucket {
		return failed(http.StatusNotFound, "NoSuchBucket")
	}
	q := r.URL.Query()
	switch {
	case r.Method == http.MethodGet && q.Has("uploads"):
		return f.listUploads(q.Get("prefix"))
	case r.Method == http.MethodGet && q.Has("list-type"):
		return f.listObjects(q.Get("prefix"), q.Get("continuation-token"))
	case r.Method == http.MethodPost && q.Has("uploads"):
		f.next++
		id := key + "\x00" + strconv.Itoa(f.next)
		f.uploads[id] = map[int][]byte{0: []byte(r.Header.Get("X-Amz-Meta-Overtake-Write"))}
		return answer{status: 200, body: fmt.Appendf(nil, "<InitiateMultipartUploadResult><UploadId>%d</UploadId></InitiateMultipartUploadResult>", f.next)}
	case q.Has("uploadId"):
		return f.upload(r, key, key+"\x00"+q.Get("uploadId"), body)
	}
	o, there := f.objects[key]
	switch r.Method {
	case http.MethodPut:
		if there && r.Header.Get("If-None-Match") == "*" {
			return failed(http.StatusPreconditionFailed, "PreconditionFailed")
		}
		f.objects[key] = object{body, http.Header{"X-Amz-Meta-Overtake-Write": r.Header["X-Amz-Meta-Overtake-Write"]}}
		return answer{status: 200, header: http.Header{"Etag": {`"1"`}}}
	case http.MethodDelete:
		delete(f.objects, key)
		return answer{status: 204}
	}
	if !there {
		return failed(http.StatusNotFound, "NoSuchKey")
	}
	return ranged(o, r.Header.Get("Range"))
}

func ranged(o object, header string) answer {
	if header == "" {
		return answer{status: 200, header: o.meta, body: o.data}
	}
	var from, to int
	if _, err := fmt.Sscanf(header, "bytes=%d-%d", &from, &to); err != nil || from >= len(o.data) {
		return failed(http.StatusRequestedRangeNotSatisfiable, "InvalidRange")
	}
	return answer{status: 206, header: o.meta, body: o.data[from:min(to+1, len(o.data))]}
}

func (f *fake) upload(r *http.Request, key, id string, body []byte) answer {
	parts, there := f.uploads[id]
	if !there {
		return failed(http.StatusNotFound, "NoSuchUpload")
	}
	switch r.Method {
	case http.MethodPut:
		n, _ := strconv.Atoi(r.URL.Query().Get("partNumber"))
		parts[n] = body
		return answer{status: 200, header: http.Header{"Etag": {fmt.Sprintf(`"%d"`, n)}}}
	case http.MethodDelete:
		delete(f.uploads, id)
		return answer{status: 204}
	}
	var order struct {
		Part []struct{ PartNumber int }
	}
	if err := xml.Unmarshal(body, &order); err != nil || len(order.Part) == 0 {
		return failed(http.StatusBadRequest, "MalformedXML")
	}
	if _, there := f.objects[key]; there && r.Header.Get("If-None-Match") == "*" {
		return failed(http.StatusPreconditionFailed, "PreconditionFailed")
	}
	var data []byte
	for i, p := range order.Part {
		if p.PartNumber != i+1 || parts[i+1] == nil {
			return failed(http.StatusBadRequest, "InvalidPart")
		}
		data = append(data, parts[i+1]...)
	}
	f.objects[key] = object{data, http.Header{"X-Amz-Meta-Overtake-Write": {string(parts[0])}}}
	delete(f.uploads, id)
	return answer{status: 200, body: []byte("<CompleteMultipartUploadResult><Key>k</Key></CompleteMultipartUploadResult>")}
}

func (f *fake) listObjects(prefix, token string) answer {
	var b strings.Builder
	n := 0
	b.WriteString("<ListBucketResult>")
	for _, key := range slices.Sorted(maps.Keys(f.objects)) {
		if !strings.HasPrefix(key, prefix) || key <= token {
			continue
		}
		if n++; n > f.page {
			b.WriteString("<IsTruncated>true</IsTruncated>")
			break
		}
		fmt.Fprintf(&b, "<Contents><Key>%s</Key><Size>%d</Size></Contents>", key, len(f.objects[key].data))
		if n == f.page {
			fmt.Fprintf(&b, "<NextContinuationToken>%s</NextContinuationToken>", key)
		}
	}
	b.WriteString("</ListBucketResult>")
	return answer{status: 200, body: []byte(b.String())}
}

func (f *fake) listUploads(prefix string) answer {
	var b strings.Builder
	b.WriteString("<ListMultipartUploadsResult>")
	for _, id := range slices.Sorted(maps.Keys(f.uploads)) {
		key, number, _ := strings.Cut(id, "\x00")
		if strings.HasPrefix(key, prefix) {
			fmt.Fprintf(&b, "<Upload><Key>%s</Key><UploadId>%s</UploadId></Upload>", key, number)
		}
	}
	b.WriteString("</ListMultipartUploadsResult>")
	return answer{status: 200, body: []byte(b.String())}
}
