package files

import (
	"bufio"
	"fmt"
	"io"

	"github.com/overtake-stream/overtake/operators"
)

// Print is a sink that writes each record to w as fmt.Fprintln would, in one subtask
// on the first worker. It flushes when there is nothing to do, and does not close w.
func Print[T any](w io.Writer) operators.Sink[T] { return printer[T]{w: w} }

type printer[T any] struct{ w io.Writer }

// Single implements operators.SingleSink.
func (printer[T]) Single() {}

// Open implements operators.Sink.
func (p printer[T]) Open(*operators.Context) (operators.Writer[T], error) {
	return &printWriter[T]{out: bufio.NewWriter(p.w)}, nil
}

type printWriter[T any] struct{ out *bufio.Writer }

// Write implements operators.Writer.
func (w *printWriter[T]) Write(v T) error {
	_, err := fmt.Fprintln(w.out, v)
	return printError(err)
}

// Flush implements operators.Writer.
func (w *printWriter[T]) Flush() error { return printError(w.out.Flush()) }

// Close implements operators.Writer.
func (w *printWriter[T]) Close(bool) error { return w.Flush() }

func printError(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("files: printing: %w", err)
}
