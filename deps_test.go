package overtake_test

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/token"
	"path"
	"strings"
	"testing"
)

// A layer is a row of the import order. A folder stands for itself alone;
// "folder/..." stands for all folders below it that have no row of their own.
type layer struct {
	folder   string
	modules  []string // what it may import from outside the module and the standard library
	stdOnly  bool     // it imports nothing of the module either
	testOnly bool     // only tests import it
	only     []string // only packages of these folders import it
	tests    []string // folders further down that its tests may import
}

// layers is the import order: a package imports only packages of rows above its
// own (and of its own row, if that stands for several).
//
// To add a package, give it the lowest row that its importers allow. To add a
// dependency, add it to the row of the one package that wraps it.
var layers = []layer{
	{folder: "internal/invariant", stdOnly: true},
	{folder: "internal/atomicfile", stdOnly: true},
	{folder: "bufferpool", modules: []string{"golang.org/x/sys/unix", "github.com/valyala/bytebufferpool"}},
	{folder: "perf", stdOnly: true},       // the data plane imports it
	{folder: "perf/probe", stdOnly: true}, // and this one
	{folder: "perf/ebpf", modules: []string{"github.com/cilium/ebpf", "github.com/google/pprof/profile", "golang.org/x/sys/unix"}, only: []string{"cmd", "perf/view"}, tests: []string{"netstack"}},
	{folder: "perf/profile", modules: []string{"github.com/pkg/profile"}, only: []string{"cmd"}},
	{folder: "perf/prometheus", modules: []string{"github.com/prometheus/client_golang"}, tests: []string{".", "checkpoint", "connectors"}},
	{folder: "perf/serve", modules: []string{"github.com/prometheus/client_golang"}, tests: []string{".", "checkpoint", "connectors"}},
	{folder: "perf/top", modules: []string{"charm.land/bubbletea/v2", "charm.land/lipgloss/v2"}, only: []string{"cmd"}},
	{folder: "perf/..."},
	{folder: "perf/view", only: []string{"cmd"}},
	{folder: "netstack/credit"},
	{folder: "netstack/offset"},
	{folder: "netstack/record"},
	{folder: "netstack", modules: []string{"golang.org/x/sys/unix"}},
	{folder: "statecow", modules: []string{"golang.org/x/sys/unix", "github.com/zeebo/xxh3"}},
	{folder: "statecow/statetest", testOnly: true},
	{folder: "statecow/...", modules: []string{"github.com/cockroachdb/pebble/v2", "github.com/zeebo/xxh3"}},
	{folder: "checkpoint/protocol"},
	{folder: "checkpoint", modules: []string{"github.com/cockroachdb/pebble/v2", "github.com/klauspost/compress", "github.com/zeebo/xxh3", "golang.org/x/sys/unix"}, tests: []string{".", "internal/jobtest"}},
	{folder: "checkpoint/storetest", testOnly: true},
	{folder: "checkpoint/s3store", modules: []string{"github.com/aws/aws-sdk-go-v2", "github.com/aws/smithy-go"}, tests: []string{".", "internal/jobtest"}},
	{folder: "checkpoint/...", modules: []string{"github.com/cockroachdb/pebble/v2", "golang.org/x/sys/unix"}},
	{folder: "unaligned"},
	{folder: "unaligned/..."},
	{folder: "internal/watermark", stdOnly: true},
	{folder: "operators", modules: []string{"github.com/zeebo/xxh3", "google.golang.org/protobuf"}, tests: []string{"connectors"}},
	{folder: "operators/..."},
	{folder: "internal/task", tests: []string{"connectors"}},
	{folder: "internal/recovery"},
	{folder: "internal/sim", testOnly: true},
	{folder: ".", tests: []string{"connectors"}},
	{folder: "connectors/..."}, // one that needs more is a module of its own
	{folder: "internal/jobtest", testOnly: true},
	{folder: "bench/pressure"},
	{folder: "bench", modules: []string{"golang.org/x/sys/unix"}, tests: []string{"bench/operators"}},
	{folder: "bench/...", modules: []string{"golang.org/x/sys/unix", "github.com/benbjohnson/immutable", "github.com/tidwall/btree"}},
	{folder: "cmd/...", modules: []string{"charm.land/bubbletea/v2", "github.com/alecthomas/kong", "github.com/lmittmann/tint", "golang.org/x/sys/unix"}},
	{folder: "examples/..."},
	{folder: "docs/..."},
	{folder: "deploy/..."},
}

// testModules may be imported by all tests, and by packages that only tests import.
var testModules = []string{
	"github.com/cockroachdb/datadriven",
	"github.com/google/go-cmp/cmp",
	"go.uber.org/goleak",
	"pgregory.net/rapid",
}

// A ban says what the non-test files of some packages do without.
type ban struct {
	files       []string // "dir/..." is all files below dir, "..." is all; else a path.Match pattern
	except      []string
	imports     []string // standard packages, with those below them
	concurrency bool     // go, chan, select, <-
	words       []string // in any spelling, comments included
	why         string
}

var bans = []ban{
	{
		files:       []string{"netstack/credit/*.go", "netstack/offset/*.go", "checkpoint/protocol/*.go", "unaligned/machine*.go"},
		imports:     []string{"time", "os", "net", "sync", "context", "math/rand", "crypto/rand", "hash/maphash", "runtime", "log"},
		concurrency: true,
		why:         "it is a pure machine: events in, actions out; whoever runs it has the clock, the I/O and the goroutines",
	},
	{
		files:       []string{"operators/..."},
		imports:     []string{"sync", "os", "net"},
		concurrency: true,
		why:         "operators have a single owner, the subtask's goroutine",
	},
	{
		files:   []string{"unaligned/..."},
		imports: []string{"os", "net"},
		why:     "captured buffers go to a writer that is given",
	},
	{
		files: []string{"netstack/..."},
		words: []string{"checkpoint"},
		why:   "the exchange moves opaque bytes and ordered or priority events",
	},
	{
		files:   []string{"..."},
		except:  []string{"cmd/...", "examples/...", "docs/...", "deploy/..."},
		imports: []string{"flag", "os/signal"},
		why:     "flags and signals are the program's, not the library's",
	},
}

func TestImportsFollowTheLayers(t *testing.T) {
	for _, f := range tree(t, func(f *sourceFile) bool { return true }) {
		report(t, importFindings(f))
	}
}

func TestPackagesKeepToTheirBans(t *testing.T) {
	for _, f := range tree(t, func(f *sourceFile) bool { return !f.test }) {
		for _, b := range bans {
			report(t, b.findings(f))
		}
	}
}

// layerOf returns the row of a folder, -1 if it has none.
func layerOf(folder string) int {
	best, length := -1, -1
	for i, l := range layers {
		dir, below := strings.CutSuffix(l.folder, "/...")
		switch {
		case !below && folder == dir:
			return i
		case below && folder != dir && under(folder, dir) && len(dir) > length:
			best, length = i, len(dir)
		}
	}
	return best
}

func importFindings(f *sourceFile) []string {
	row := layerOf(f.folder)
	if row < 0 {
		return []string{fmt.Sprintf("%s: folder %q has no row in layers: give it one (deps_test.go)", f.path, f.folder)}
	}
	var findings []string
	for _, spec := range f.ast.Imports {
		if why := refusal(f, row, importPath(spec)); why != "" {
			findings = append(findings, f.at(spec, "%s imports %q: %s", f.folder, importPath(spec), why))
		}
	}
	return findings
}

// refusal says why a file of a row must not import pkg, "" if it may.
func refusal(f *sourceFile, row int, pkg string) string {
	switch {
	case under(pkg, modulePath):
		return innerRefusal(f, row, strings.TrimPrefix(strings.TrimPrefix(pkg, modulePath), "/"))
	case !strings.Contains(strings.Split(pkg, "/")[0], "."): // the standard library
		return ""
	case f.module != ".": // its own go.mod is the list
		return ""
	case anyUnder(pkg, layers[row].modules), (f.test || layers[row].testOnly) && anyUnder(pkg, testModules):
		return ""
	case anyUnder(pkg, testModules):
		return "this module is for tests only"
	}
	return fmt.Sprintf("not among the modules allowed to %q: use the package that wraps it, or add it to the row in layers and say why in the commit", layers[row].folder)
}

func innerRefusal(f *sourceFile, row int, folder string) string {
	if folder == "" {
		folder = "."
	}
	from, target := layers[row], layerOf(folder)
	switch {
	case target < 0:
		return "it has no row in layers (deps_test.go)"
	case f.test && (folder == f.folder || layers[target].testOnly || anyUnder(folder, from.tests)):
		return ""
	case layers[target].testOnly && !from.testOnly:
		return "it is for tests only"
	case from.stdOnly:
		return "this package imports the standard library only"
	case len(layers[target].only) > 0 && !anyUnder(f.folder, layers[target].only):
		return fmt.Sprintf("only packages in %q may", layers[target].only)
	case target > row:
		return "a package imports only packages of rows above its own: see layers in deps_test.go"
	}
	return ""
}

func anyUnder(p string, dirs []string) bool {
	for _, dir := range dirs {
		if under(p, dir) {
			return true
		}
	}
	return false
}

func (b ban) findings(f *sourceFile) []string {
	if !anyMatch(b.files, f) || anyMatch(b.except, f) {
		return nil
	}
	var findings []string
	for _, spec := range f.ast.Imports {
		if anyUnder(importPath(spec), b.imports) {
			findings = append(findings, f.at(spec, "imports %q, but %s", importPath(spec), b.why))
		}
	}
	if b.concurrency {
		findings = append(findings, concurrency(f, b.why)...)
	}
	for _, word := range b.words {
		before, _, found := bytes.Cut(bytes.ToLower(f.src), []byte(word))
		if found {
			findings = append(findings, fmt.Sprintf("%s:%d: says %q, but %s", f.path, 1+bytes.Count(before, []byte("\n")), word, b.why))
		}
	}
	return findings
}

func anyMatch(patterns []string, f *sourceFile) bool {
	for _, p := range patterns {
		dir, below := strings.CutSuffix(p, "...")
		if below && strings.HasPrefix(f.path, dir) {
			return true
		}
		if ok, _ := path.Match(p, f.path); ok {
			return true
		}
	}
	return false
}

func concurrency(f *sourceFile, why string) []string {
	var findings []string
	ast.Inspect(f.ast, func(n ast.Node) bool {
		var what string
		switch n := n.(type) {
		case *ast.GoStmt:
			what = "go statement"
		case *ast.ChanType:
			what = "channel"
		case *ast.SendStmt:
			what = "send"
		case *ast.SelectStmt:
			what = "select"
		case *ast.UnaryExpr:
			if n.Op == token.ARROW {
				what = "receive"
			}
		}
		if what != "" {
			findings = append(findings, f.at(n, "%s, but %s", what, why))
		}
		return true
	})
	return findings
}
