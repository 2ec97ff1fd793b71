package files_test

import (
	"bytes"
	"errors"
	"testing"

	"github.com/overtake-stream/overtake/connectors/files"
	"github.com/overtake-stream/overtake/operators"
)

func TestPrintShowsWhenTheJobHasNothingToDo(t *testing.T) {
	var out bytes.Buffer
	w, err := files.Print[texts](&out).Open(&operators.Context{Parallelism: 1})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Write(texts{"a", "b"}); err != nil || out.Len() != 0 {
		t.Fatalf("%q %v before Flush", out.String(), err)
	}
	if err := w.Flush(); err != nil || out.String() != "{a b}\n" {
		t.Fatalf("%q %v", out.String(), err)
	}
	if err := errors.Join(w.Write(texts{}), w.Close(false)); err != nil || out.String() != "{a b}\n{ }\n" {
		t.Fatalf("%q %v", out.String(), err)
	}
}

var errClosed = errors.New("closed")

type closedPipe struct{}

func (closedPipe) Write([]byte) (int, error) { return 0, errClosed }

func TestPrintReportsErrors(t *testing.T) {
	if err := put(files.Print[int](closedPipe{}), true, 1); !errors.Is(err, errClosed) {
		t.Fatalf("error %v, want %v", err, errClosed)
	}
}
