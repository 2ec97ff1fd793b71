package overtake_test

import (
	"fmt"
	"go/ast"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const (
	maxFileLines = 400
	maxFuncLines = 70
)

// long lists the files (by path) and functions (by "folder: name") that may
// exceed the limits, each with the reason.
var long = map[string]string{}

// A rule is a habit of the code that can be checked file by file.
type rule struct {
	name    string
	applies func(*sourceFile) bool
	find    func(*sourceFile) []string
}

var rules = []rule{
	{"length", code, findLong},
	{"init", code, findInit},
	{"globals", library, findGlobals},
	{"process", library, findProcess},
	{"atomics", written, findUntypedAtomics},
	{"unsafe", written, findUnsafe},
	{"comments", library, findUndocumented},
	{"words", written, findWords},
}

func written(f *sourceFile) bool { return !f.generated }
func code(f *sourceFile) bool    { return !f.generated && !f.test }
func library(f *sourceFile) bool { return code(f) && !program(f.folder) }

func TestStyle(t *testing.T) {
	for _, r := range rules {
		t.Run(r.name, func(t *testing.T) {
			for _, f := range tree(t, r.applies) {
				report(t, r.find(f))
			}
		})
	}
}

func TestEachPackageHasOneComment(t *testing.T) {
	report(t, packageCommentFindings(tree(t, code)))
}

func packageCommentFindings(files []*sourceFile) []string {
	var findings []string
	first := map[string]string{} // folder: file with the comment, "" while none has been seen
	for _, f := range files {
		if first[f.folder] == "" {
			first[f.folder] = ""
		}
		if f.ast.Doc == nil {
			continue
		}
		if other := first[f.folder]; other != "" {
			findings = append(findings, fmt.Sprintf("%s: a second package comment: %s has one", f.path, other))
		}
		first[f.folder] = f.path
		want := "Package " + f.ast.Name.Name + " "
		if f.ast.Name.Name != "main" && !strings.HasPrefix(f.ast.Doc.Text(), want) {
			findings = append(findings, fmt.Sprintf("%s: the package comment must begin with %q", f.path, want))
		}
	}
	for _, folder := range slices.Sorted(maps.Keys(first)) {
		if first[folder] == "" {
			findings = append(findings, fmt.Sprintf("%s: no package comment: add a doc.go with invariants, ownership and goroutines", folder))
		}
	}
	return findings
}

func findLong(f *sourceFile) []string {
	var findings []string
	if n := f.fset.File(f.ast.Pos()).LineCount() - 1; n > maxFileLines && long[f.path] == "" {
		findings = append(findings, fmt.Sprintf("%s: %d lines, more than %d: split it by its nouns", f.path, n, maxFileLines))
	}
	for _, d := range functions(f) {
		from, to := f.fset.Position(d.Pos()).Line, f.fset.Position(d.End()).Line
		if n := to - from + 1; n > maxFuncLines && long[f.folder+": "+funcName(d)] == "" {
			findings = append(findings, f.at(d, "%s has %d lines, more than %d", funcName(d), n, maxFuncLines))
		}
	}
	return findings
}

func functions(f *sourceFile) []*ast.FuncDecl {
	var all []*ast.FuncDecl
	for _, decl := range f.ast.Decls {
		if d, ok := decl.(*ast.FuncDecl); ok {
			all = append(all, d)
		}
	}
	return all
}

func findInit(f *sourceFile) []string {
	var findings []string
	for _, d := range functions(f) {
		if funcName(d) == "init" {
			findings = append(findings, f.at(d, "func init: do it in a constructor"))
		}
	}
	return findings
}

// findProcess finds what only a program may do: exit, and write where the host
// has not said to.
func findProcess(f *sourceFile) []string {
	var findings []string
	ast.Inspect(f.ast, func(n ast.Node) bool {
		e, ok := n.(ast.Expr)
		if !ok {
			return true
		}
		if name, ok := f.selects(e, "os"); ok && name == "Exit" {
			findings = append(findings, f.at(n, "os.Exit: return an error"))
		}
		if name, ok := f.selects(e, "fmt"); ok && strings.HasPrefix(name, "Print") {
			findings = append(findings, f.at(n, "fmt.%s: write to an io.Writer that is given", name))
		}
		if name, ok := f.selects(e, "log"); ok {
			findings = append(findings, f.at(n, "log.%s: use the *slog.Logger of the options", name))
		}
		if name, ok := f.selects(e, "log/slog"); ok && slogGlobals[name] {
			findings = append(findings, f.at(n, "slog.%s is global: use the *slog.Logger of the options", name))
		}
		return true
	})
	return findings
}

// slogGlobals are the names in log/slog that mean the default logger.
var slogGlobals = map[string]bool{
	"Default": true, "SetDefault": true, "SetLogLoggerLevel": true, "With": true, "Log": true, "LogAttrs": true,
	"Debug": true, "Info": true, "Warn": true, "Error": true,
	"DebugContext": true, "InfoContext": true, "WarnContext": true, "ErrorContext": true,
}

var untypedAtomic = regexp.MustCompile(`^(Add|And|CompareAndSwap|Load|Or|Store|Swap)(Int32|Int64|Uint32|Uint64|Uintptr|Pointer)$`)

func findUntypedAtomics(f *sourceFile) []string {
	var findings []string
	ast.Inspect(f.ast, func(n ast.Node) bool {
		if e, ok := n.(ast.Expr); ok {
			if name, ok := f.selects(e, "sync/atomic"); ok && untypedAtomic.MatchString(name) {
				findings = append(findings, f.at(n, "atomic.%s: use a typed atomic, such as atomic.Int64", name))
			}
		}
		return true
	})
	return findings
}

var (
	unsafeName = regexp.MustCompile(`_unsafe(_[a-z0-9]+)*\.go$`)
	directive  = regexp.MustCompile(`^//go:(linkname|cgo_)`)
)

// findUnsafe finds unsafe outside the files named for it, files so named without
// need, cgo and linkname.
func findUnsafe(f *sourceFile) []string {
	var findings []string
	named, imported := unsafeName.MatchString(path.Base(f.path)), false
	for _, spec := range f.ast.Imports {
		switch importPath(spec) {
		case "unsafe":
			imported = true
			if !named {
				findings = append(findings, f.at(spec, `imports "unsafe", so its name must say so: x_unsafe.go, x_unsafe_linux.go`))
			}
		case "C":
			findings = append(findings, f.at(spec, "cgo: the module is pure Go"))
		}
	}
	if named && !imported {
		findings = append(findings, f.path+`: named _unsafe, but does not import "unsafe"`)
	}
	for _, group := range f.ast.Comments {
		for _, c := range group.List {
			if directive.MatchString(c.Text) {
				findings = append(findings, f.at(c, "%s: only what the standard library exports", c.Text))
			}
		}
	}
	return findings
}

// findUndocumented finds exported names without a comment. In a group of
// constants, variables or aliases, the group's comment or one at the line will do.
func findUndocumented(f *sourceFile) []string {
	if f.ast.Name.Name == "main" {
		return nil
	}
	var findings []string
	missing := func(n ast.Node, name string) {
		findings = append(findings, f.at(n, "%s is exported and has no comment", name))
	}
	for _, decl := range f.ast.Decls {
		switch d := decl.(type) {
		case *ast.FuncDecl:
			if d.Doc == nil && d.Name.IsExported() && (d.Recv == nil || ast.IsExported(receiver(d)) && !errorMethods[d.Name.Name]) {
				missing(d, funcName(d))
			}
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				if name := undocumented(d, spec); name != "" {
					missing(spec, name)
				}
			}
		}
	}
	return findings
}

// errorMethods need no comment: package errors says what they do.
var errorMethods = map[string]bool{"Error": true, "Unwrap": true, "Is": true, "As": true}

// undocumented returns the first exported name of spec that has no comment.
func undocumented(d *ast.GenDecl, spec ast.Spec) string {
	single := d.Doc != nil && !d.Lparen.IsValid()
	switch s := spec.(type) {
	case *ast.TypeSpec:
		grouped := s.Assign.IsValid() && d.Doc != nil // aliases are presented together
		if s.Name.IsExported() && s.Doc == nil && s.Comment == nil && !single && !grouped {
			return s.Name.Name
		}
	case *ast.ValueSpec:
		if s.Doc != nil || s.Comment != nil || d.Doc != nil {
			return ""
		}
		for _, name := range s.Names {
			if name.IsExported() {
				return name.Name
			}
		}
	}
	return ""
}

// forbidden are words of work that is not done; in pieces, since this file is
// searched too.
var forbidden = regexp.MustCompile(`\b(TO` + `DO|FIX` + `ME|XX` + `X|HA` + `CK)\b|(?i:\bnot (yet )?imple` + `mented\b)`)

func findWords(f *sourceFile) []string {
	var findings []string
	for i, line := range strings.Split(string(f.src), "\n") {
		if word := forbidden.FindString(line); word != "" {
			findings = append(findings, fmt.Sprintf("%s:%d: says %q: finish it, or state what is so", f.path, i+1, word))
		}
	}
	return findings
}
