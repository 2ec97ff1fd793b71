// Command wordcount counts words inside an HTTP service: POST text to /, GET the
// counts from /.
package main

import (
	"bufio"
	"context"
	"fmt"
	"log"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"sync"

	"github.com/overtake-stream/overtake"
	"github.com/overtake-stream/overtake/connectors/memory"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	s := &service{lines: make(chan string, 100)}
	server := &http.Server{Addr: "127.0.0.1:8080", Handler: s}
	context.AfterFunc(ctx, func() { _ = server.Close(); close(s.lines) })
	go func() { log.Print(server.ListenAndServe()) }()
	if err := s.job().Run(context.Background()); err != nil { // ends when lines is closed
		log.Fatal(err)
	}
}

type service struct {
	lines  chan string
	counts sync.Map // word -> int64
}

func (s *service) job() *overtake.Job {
	job := overtake.NewJob("wordcount", overtake.Options{})
	lines := overtake.From(job, memory.Channel(s.lines))
	words := overtake.FlatMap(lines, func(line string, out overtake.Collector[string]) {
		for word := range strings.FieldsSeq(line) {
			out.Collect(word)
		}
	})
	counts := overtake.Count(overtake.KeyBy(words, func(w string) string { return w }), overtake.WithUID("count"))
	overtake.To(counts, memory.Func(func(c overtake.Pair[string, int64]) error {
		s.counts.Store(strings.Clone(c.Key), c.Value) // c.Key is a view into a buffer
		return nil
	}))
	return job
}

func (s *service) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodPost {
		for in := bufio.NewScanner(r.Body); in.Scan(); {
			s.lines <- in.Text() // waits when the job is backpressured
		}
		return
	}
	s.counts.Range(func(word, n any) bool {
		fmt.Fprintln(w, word, n)
		return true
	})
}
