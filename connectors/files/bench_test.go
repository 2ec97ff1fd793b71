package files_test

import (
	"bufio"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/overtake-stream/overtake/connectors/files"
	"github.com/overtake-stream/overtake/operators"
)

func BenchmarkRead(b *testing.B) {
	const size = 16 << 20
	content := strings.Repeat("a line of a length that is usual in sources\n\tand\n", size/49)
	name := writeFile(b, filepath.Join(b.TempDir(), "input"), content)
	source := func(src operators.Source[string]) func() error {
		return func() error {
			ctx := &operators.Context{Parallelism: 1}
			r, err := src.Open(operators.SourceContext{Context: ctx})
			if err != nil {
				return err
			}
			out := operators.NewOutput(ctx, nothing{})
			for status := operators.More; status != operators.Ended && err == nil; {
				out.Allow(1000)
				status, err = r.Read(out)
			}
			return r.Close()
		}
	}
	for what, read := range map[string]func() error{
		"lines":  source(files.Lines(files.Options{Root: name})),
		"blocks": source(files.Blocks(files.Options{Root: name})),
		"bufio.Scanner": func() error {
			f, err := os.Open(name)
			if err != nil {
				return err
			}
			defer f.Close()
			s := bufio.NewScanner(f)
			s.Buffer(make([]byte, 256<<10), 1<<20)
			total := 0
			for s.Scan() {
				total += len(s.Bytes())
			}
			if total == 0 {
				return io.ErrUnexpectedEOF
			}
			return s.Err()
		},
		"os.File.Read": func() error {
			f, err := os.Open(name)
			if err != nil {
				return err
			}
			defer f.Close()
			_, err = io.CopyBuffer(struct{ io.Writer }{io.Discard}, struct{ io.Reader }{f}, make([]byte, 256<<10))
			return err
		},
	} {
		b.Run(what, func(b *testing.B) {
			b.SetBytes(int64(len(content)))
			for b.Loop() {
				if err := read(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkWrite(b *testing.B) {
	type count struct {
		Key   string
		Value int64
	}
	path := filepath.Join(b.TempDir(), "out")
	for what, sink := range map[string]operators.Sink[count]{
		"tsv": files.TSV[count](path), "csv": files.CSV[count](path), "jsonl": files.JSONLines[count](path),
		"transactional tsv": files.Transactional(b.TempDir(), files.TSV[count]),
		"rows":              files.Rows(path, func(dst []byte, c count) []byte { return append(append(dst, c.Key...), "\t1"...) }),
	} {
		b.Run(what, func(b *testing.B) {
			w, err := sink.Open(&operators.Context{Parallelism: 1})
			if err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				if err := w.Write(count{Key: "customer-12345", Value: 7}); err != nil {
					b.Fatal(err)
				}
			}
			b.StopTimer()
			if err := w.Close(false); err != nil {
				b.Fatal(err)
			}
		})
	}
}

// What a checkpoint costs, with 1 MB written since the last one.
func BenchmarkCheckpoint(b *testing.B) {
	row := strings.Repeat("x", 1023)
	b.Run("position", func(b *testing.B) {
		w := mustResume(b, files.TSV[string](filepath.Join(b.TempDir(), "out")), 1, nil)
		defer mustClose(b, w, false)
		for b.Loop() {
			for range 1024 {
				feed(b, w, row)
			}
			position(b, w)
		}
	})
	b.Run("prepare and commit", func(b *testing.B) {
		w := openTransaction(b, b.TempDir(), 1, 0, 1)
		defer mustClose(b, w, true)
		for b.Loop() {
			for range 1024 {
				feed(b, w, row)
			}
			if err := w.Commit(mustPrepare(b, w)); err != nil {
				b.Fatal(err)
			}
		}
	})
}
