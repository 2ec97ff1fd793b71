package overtake_test

import (
	"strings"
	"testing"
)

// The rules on imports are worth what they refuse: each is shown to refuse here.

func TestImportRulesRefuse(t *testing.T) {
	for _, c := range []struct {
		name, path, imports, want string
	}{
		{"above", "netstack/x.go", modulePath + "/bufferpool", ""},
		{"below", "bufferpool/x.go", modulePath + "/netstack", "rows above"},
		{"below the root", "operators/x.go", modulePath, "rows above"},
		{"own folder", "connectors/files/x.go", modulePath + "/connectors/memory", ""},
		{"unknown folder", "netstack/x.go", modulePath + "/netstack/misc", "no row"},
		{"from unknown folder", "misc/x.go", "fmt", "no row"},
		{"subfolder", "statecow/pebble/x.go", modulePath + "/statecow", ""},
		{"subfolder's importer", "statecow/x.go", modulePath + "/statecow/pebble", "rows above"},
		{"standard library only", "perf/x.go", modulePath + "/internal/invariant", "standard library only"},
		{"one importer", "bench/x.go", modulePath + "/perf/ebpf", `only packages in ["cmd" "perf/view"]`},
		{"the one importer", "cmd/overtake/x.go", modulePath + "/perf/ebpf", ""},
		{"tests only", "unaligned/x.go", modulePath + "/internal/sim", "tests only"},
		{"by a test", "unaligned/x_test.go", modulePath + "/internal/sim", ""},
		{"test of the package", "netstack/x_test.go", modulePath + "/netstack", ""},
		{"test reaching down", "netstack/x_test.go", modulePath + "/operators", "rows above"},
		{"test allowed to", "x_test.go", modulePath + "/connectors/memory", ""},
		{"the same, no test", "x.go", modulePath + "/connectors/memory", "rows above"},
		{"module", "bufferpool/x.go", "golang.org/x/sys/unix", ""},
		{"module not listed", "operators/x.go", "golang.org/x/sys/unix", "not among the modules"},
		{"sibling module", "bufferpool/x.go", "golang.org/x/sys/unixx", "not among the modules"},
		{"scratch buffers elsewhere", "netstack/x.go", "github.com/valyala/bytebufferpool", "not among the modules"},
		{"pebble elsewhere", "statecow/x.go", "github.com/cockroachdb/pebble/v2", "not among the modules"},
		{"test module", "netstack/x_test.go", "pgregory.net/rapid", ""},
		{"test module in code", "netstack/x.go", "pgregory.net/rapid", "tests only"},
		{"test module in a package for tests", "internal/sim/x.go", "pgregory.net/rapid", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := mustParse(t, c.path, "package x\nimport _ \""+c.imports+"\"\n")
			expect(t, importFindings(f), c.want)
		})
	}
}

func TestModuleOfItsOwnChoosesItsDependencies(t *testing.T) {
	f := mustParse(t, "connectors/kafka/x.go", "package x\nimport _ \"example.org/kafka\"\n")
	expect(t, importFindings(f), "not among the modules")
	f.module = "connectors/kafka"
	expect(t, importFindings(f), "")
}

func TestBansRefuse(t *testing.T) {
	for _, c := range []struct {
		name, path, src, want string
	}{
		{"clock in a pure machine", "netstack/credit/x.go", `import "time"`, "pure machine"},
		{"atomics in a pure machine", "checkpoint/protocol/x.go", `import "sync/atomic"`, "pure machine"},
		{"randomness in a pure machine", "unaligned/machine_in.go", `import "math/rand/v2"`, "pure machine"},
		{"channel in a pure machine", "netstack/credit/x.go", `type c chan int`, "pure machine"},
		{"clock elsewhere", "netstack/x.go", `import "time"`, ""},
		{"lock in operators", "operators/x.go", `import "sync"`, "single owner"},
		{"lock below operators", "operators/window/x.go", `import "sync"`, "single owner"},
		{"goroutine in operators", "operators/x.go", `func f() { go f() }`, "go statement"},
		{"send in operators", "operators/x.go", `func f() { c <- 1 }`, "send"},
		{"receive in operators", "operators/x.go", `func f() { <-c }`, "receive"},
		{"select in operators", "operators/x.go", `func f() { select {} }`, "select"},
		{"arithmetic in operators", "operators/x.go", `func f(a int) int { return -a }`, ""},
		{"file in a capture", "unaligned/capture.go", `import "os"`, "writer that is given"},
		{"word", "netstack/x.go", "// Barrier of a Checkpoint.\nconst c = 1", "opaque bytes"},
		{"word elsewhere", "unaligned/x.go", "// Barrier of a Checkpoint.\nconst c = 1", ""},
		{"flags in the library", "bench/x.go", `import "flag"`, "program's"},
		{"flags in a program", "cmd/overtake/x.go", `import "flag"`, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := mustParse(t, c.path, "package x\n"+c.src+"\n")
			var findings []string
			for _, b := range bans {
				findings = append(findings, b.findings(f)...)
			}
			expect(t, findings, c.want)
		})
	}
}

// expect asserts that there is no finding if want is empty, and otherwise that
// one says want.
func expect(t *testing.T, findings []string, want string) {
	t.Helper()
	if want == "" {
		if len(findings) > 0 {
			t.Fatalf("found %q", findings)
		}
		return
	}
	for _, f := range findings {
		if strings.Contains(f, want) {
			return
		}
	}
	t.Fatalf("found %q, want one that says %q", findings, want)
}
