package overtake_test

import (
	"fmt"
	"go/ast"
	"go/build/constraint"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// The tests on the source tree read it with go/parser alone: whatever the build
// tags and the platform, and without compiling anything.

const modulePath = "github.com/overtake-stream/overtake"

// A sourceFile is one Go file of the tree.
type sourceFile struct {
	path      string // slash-separated, from the root of the tree
	folder    string // its directory; "." is the root
	module    string // folder of the nearest go.mod; "." unless a module of its own
	test      bool   // a _test.go file
	generated bool
	src       []byte
	fset      *token.FileSet
	ast       *ast.File
}

// readTree parses the tree once for all tests.
var readTree = sync.OnceValues(func() ([]*sourceFile, error) {
	var files []*sourceFile
	modules := map[string]string{}
	err := filepath.WalkDir(".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name = filepath.ToSlash(name)
		if d.IsDir() {
			if skipped(name) {
				return fs.SkipDir
			}
			modules[name] = moduleOf(name, modules)
			return nil
		}
		if path.Ext(name) != ".go" || strings.HasPrefix(d.Name(), "_") || strings.HasPrefix(d.Name(), ".") {
			return nil
		}
		src, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		f, err := parseFile(name, src)
		if err != nil || ignored(f.ast) {
			return err
		}
		f.module = modules[f.folder]
		files = append(files, f)
		return nil
	})
	return files, err
})

// skipped reports the directories that the go tool does not look into either.
func skipped(dir string) bool {
	base := path.Base(dir)
	return dir != "." && (base[0] == '.' || base[0] == '_' || base == "testdata" || base == "vendor")
}

func moduleOf(dir string, modules map[string]string) string {
	if _, err := os.Stat(path.Join(dir, "go.mod")); err == nil {
		return dir
	}
	return modules[path.Dir(dir)]
}

func parseFile(name string, src []byte) (*sourceFile, error) {
	fset := token.NewFileSet()
	parsed, err := parser.ParseFile(fset, name, src, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	return &sourceFile{
		path:      name,
		folder:    path.Dir(name),
		module:    ".",
		test:      strings.HasSuffix(name, "_test.go"),
		generated: ast.IsGenerated(parsed),
		src:       src,
		fset:      fset,
		ast:       parsed,
	}, nil
}

// ignored reports a program kept beside a package under "//go:build ignore".
func ignored(f *ast.File) bool {
	for _, group := range f.Comments {
		if group.Pos() > f.Package {
			return false
		}
		for _, c := range group.List {
			if x, err := constraint.Parse(c.Text); err == nil && x.String() == "ignore" {
				return true
			}
		}
	}
	return false
}

// tree returns the files of the tree that keep accepts.
func tree(t *testing.T, keep func(*sourceFile) bool) []*sourceFile {
	t.Helper()
	all, err := readTree()
	if err != nil {
		t.Fatal(err)
	}
	if len(all) == 0 {
		t.Fatal("no Go files below the working directory")
	}
	var kept []*sourceFile
	for _, f := range all {
		if keep(f) {
			kept = append(kept, f)
		}
	}
	return kept
}

// mustParse makes a file for a test of the tests.
func mustParse(t *testing.T, name, src string) *sourceFile {
	t.Helper()
	f, err := parseFile(name, []byte(src))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// at formats a finding at a node, as compilers do.
func (f *sourceFile) at(n ast.Node, format string, args ...any) string {
	return fmt.Sprintf("%s:%d: %s", f.path, f.fset.Position(n.Pos()).Line, fmt.Sprintf(format, args...))
}

// importName is what the file calls the imported package, "" if it does not
// import it.
func (f *sourceFile) importName(pkg string) string {
	for _, spec := range f.ast.Imports {
		if importPath(spec) != pkg {
			continue
		}
		if spec.Name != nil {
			return spec.Name.Name
		}
		return path.Base(pkg)
	}
	return ""
}

func importPath(spec *ast.ImportSpec) string {
	p, err := strconv.Unquote(spec.Path.Value)
	if err != nil {
		return spec.Path.Value // the parser has accepted it: cannot happen
	}
	return p
}

// selects reports that e is pkg.NAME for the imported package pkg, and the name.
func (f *sourceFile) selects(e ast.Expr, pkg string) (string, bool) {
	sel, ok := e.(*ast.SelectorExpr)
	if !ok {
		return "", false
	}
	x, ok := sel.X.(*ast.Ident)
	if !ok || x.Name != f.importName(pkg) {
		return "", false
	}
	return sel.Sel.Name, true
}

// under reports whether folder is dir or below it.
func under(folder, dir string) bool {
	return folder == dir || strings.HasPrefix(folder, dir+"/")
}

// program reports folders that are programs' and not the library's: their code
// may start goroutines, read flags, print and exit.
func program(folder string) bool {
	return under(folder, "cmd") || under(folder, "examples") || under(folder, "deploy") || under(folder, "docs")
}

func report(t *testing.T, findings []string) {
	t.Helper()
	for _, f := range findings {
		t.Error(f)
	}
}
