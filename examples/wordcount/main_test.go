package main

import (
	"context"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
)

func TestTheServiceServesItsCounts(t *testing.T) {
	s := &service{lines: make(chan string)}
	h, err := s.job().Start(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	s.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodPost, "/", strings.NewReader("to be or\nnot to be\n")))
	close(s.lines)
	if err := h.Wait(); err != nil {
		t.Fatal(err)
	}
	w := httptest.NewRecorder()
	s.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/", nil))
	got := strings.Split(strings.TrimSpace(w.Body.String()), "\n")
	slices.Sort(got)
	if want := []string{"be 2", "not 1", "or 1", "to 2"}; !slices.Equal(got, want) {
		t.Fatalf("counts %q, want %q", got, want)
	}
}
