package overtake_test

import (
	"fmt"
	"go/ast"
	"go/types"
	"strings"
	"testing"
)

// roles is the design's closed list of reasons for a goroutine, and how each ends.
var roles = map[string]string{
	"task":            "runs a subtask; joined by its worker",
	"I/O loop":        "drives all connections of a worker; joined by Stack.Close",
	"fallback driver": "does the same, with a reader and a writer for each connection, where the loop cannot",
	"fallback reader": "reads one connection; ends when it is closed",
	"fallback writer": "writes one connection; ends when it is closed",
	"acceptor":        "listens, dials or shakes hands; ends when all peers are met or the time is up",
	"coordinator":     "supervises a job's attempt, triggers and completes checkpoints; joined by Handle.Wait",
	"copy":            "waits for a process that the job has started; joined by the coordinator",
	"snapshot writer": "writes a snapshot while its subtask goes on; joined by the subtask",
	"tidier":          "gives idle memory back at an interval; joined by its worker",
	"sampler":         "reads counters at an interval; joined by whoever started it",
	"poller":          "waits for a blocking source, one value at a time; joined by the source's Close",
	"callback":        "one call when a time is up or a context ends; stopped before its owner returns",
}

// goroutines lists every place in the library that starts a goroutine: a go
// statement, a Go method (sync.WaitGroup, errgroup) or AfterFunc. One line is one
// place: the function that starts it, and what it starts (the callee of a literal
// that only calls, else "func"). Programs, benchmarks and tests are free.
var goroutines = []struct {
	folder, in, starts string
	role               string
}{
	{".", "Job.Start", "h.run", "coordinator"},
	{".", "worker.run", "w.coordinator.run", "coordinator"},
	{"internal/task", "Task.upload", "func", "snapshot writer"},
	{".", "copies.stop", "func", "callback"},
	{".", "copies.watch", "func", "copy"},
	{".", "worker.run", "func", "task"},
	{".", "worker.run", "w.cancelled", "callback"},
	{".", "worker.run", "w.freeIdle", "tidier"},
	{"connectors/memory", "channelReader.wait", "func", "poller"},
	{"connectors/generate", "source.Open", "r.wake", "callback"},
	{"netstack", "Stack.Close", "s.Abort", "callback"},
	{"netstack", "Stack.startClocks", "s.driver.post", "callback"},
	{"netstack", "Stack.accept", "func", "acceptor"},
	{"netstack", "Stack.connect", "s.dial", "acceptor"},
	{"netstack", "Stack.listen", "s.accept", "acceptor"},
	{"netstack", "goroutines.start", "d.read", "fallback reader"},
	{"netstack", "goroutines.start", "d.write", "fallback writer"},
	{"netstack", "goroutines.start", "g.run", "fallback driver"},
	{"netstack", "loop.start", "l.run", "I/O loop"},
}

// place is where a goroutine is started.
type place struct{ folder, in, starts string }

func (p place) String() string { return fmt.Sprintf("{%q, %q, %q, ROLE}", p.folder, p.in, p.starts) }

func TestGoroutinesAreAClosedList(t *testing.T) {
	listed := map[place]int{}
	for _, g := range goroutines {
		if roles[g.role] == "" {
			t.Errorf("%s in %s: %q is none of the roles", g.in, g.folder, g.role)
		}
		listed[place{g.folder, g.in, g.starts}]++
	}
	library := tree(t, func(f *sourceFile) bool {
		return !f.test && !program(f.folder) && !under(f.folder, "bench")
	})
	report(t, goroutineFindings(library, listed))
}

// goroutineFindings compares the places in the files with those listed.
func goroutineFindings(files []*sourceFile, listed map[place]int) []string {
	var findings []string
	for _, f := range files {
		f.eachStart(func(p place, n ast.Node) {
			listed[p]--
			if listed[p] < 0 {
				findings = append(findings, f.at(n, "starts a goroutine that is not listed. Does the task loop, the I/O loop or the "+
					"caller's goroutine do? If not, say in doc.go who joins it, and add %v to goroutines (goroutines_test.go)", p))
			}
		})
	}
	for p, left := range listed {
		if left > 0 {
			findings = append(findings, fmt.Sprintf("goroutines_test.go: %v is listed but not in the code: delete the line", p))
		}
	}
	return findings
}

// eachStart calls visit for every place in f that starts a goroutine.
func (f *sourceFile) eachStart(visit func(place, ast.Node)) {
	for _, decl := range f.ast.Decls {
		in := "package"
		if d, ok := decl.(*ast.FuncDecl); ok {
			in = funcName(d)
		}
		ast.Inspect(decl, func(n ast.Node) bool {
			if started := startedBy(n); started != nil {
				visit(place{f.folder, in, describe(started)}, n)
			}
			return true
		})
	}
}

// startedBy returns what n starts on a goroutine of its own, nil if nothing.
func startedBy(n ast.Node) ast.Expr {
	switch n := n.(type) {
	case *ast.GoStmt:
		return n.Call.Fun
	case *ast.CallExpr:
		sel, ok := n.Fun.(*ast.SelectorExpr)
		if !ok || len(n.Args) == 0 {
			return nil
		}
		if sel.Sel.Name == "AfterFunc" || sel.Sel.Name == "Go" || sel.Sel.Name == "TryGo" {
			return n.Args[len(n.Args)-1]
		}
	}
	return nil
}

// describe names a started function: the callee of a literal that only calls.
func describe(e ast.Expr) string {
	lit, ok := e.(*ast.FuncLit)
	if !ok {
		return types.ExprString(e)
	}
	if len(lit.Body.List) == 1 {
		if s, ok := lit.Body.List[0].(*ast.ExprStmt); ok {
			if call, ok := s.X.(*ast.CallExpr); ok {
				return types.ExprString(call.Fun)
			}
		}
	}
	return "func"
}

// funcName is "f" or "T.f", whether or not the receiver is a pointer or generic.
func funcName(d *ast.FuncDecl) string {
	if d.Recv == nil || len(d.Recv.List) == 0 {
		return d.Name.Name
	}
	return receiver(d) + "." + d.Name.Name
}

func receiver(d *ast.FuncDecl) string {
	e := d.Recv.List[0].Type
	for {
		switch x := e.(type) {
		case *ast.StarExpr:
			e = x.X
		case *ast.IndexExpr:
			e = x.X
		case *ast.IndexListExpr:
			e = x.X
		case *ast.ParenExpr:
			e = x.X
		default:
			return types.ExprString(e)
		}
	}
}

func TestGoroutineListRefuses(t *testing.T) {
	src := `package x
func (r *reader[T]) wait() {
	go func() { <-r.c; r.wake() }()
	wg.Go(func() { r.dial(1) })
	time.AfterFunc(d, r.stop)
	context.AfterFunc(ctx, r.stop)
	go r.run()
	plain.Call(r.run)
}
`
	all := func() map[place]int {
		return map[place]int{
			{"x", "reader.wait", "func"}:   1,
			{"x", "reader.wait", "r.dial"}: 1,
			{"x", "reader.wait", "r.stop"}: 2,
			{"x", "reader.wait", "r.run"}:  1,
		}
	}
	files := []*sourceFile{mustParse(t, "x/x.go", src)}
	expect(t, goroutineFindings(files, all()), "")
	for p := range all() {
		fewer, more := all(), all()
		fewer[p]--
		expect(t, goroutineFindings(files, fewer), "not listed")
		more[p]++
		expect(t, goroutineFindings(files, more), "delete the line")
	}
	if got := goroutineFindings(files, map[place]int{}); len(got) != 5 || !strings.Contains(got[0], `{"x", "reader.wait", "func"`) {
		t.Fatalf("found %q", got)
	}
}
