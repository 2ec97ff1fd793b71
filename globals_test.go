package overtake_test

import (
	"go/ast"
	"go/token"
)

// findGlobals finds package variables that hold state: of a type made to be
// changed, or assigned to by a function of the same file or another (by name:
// files are parsed, not type-checked).
func findGlobals(f *sourceFile) []string {
	var findings []string
	for _, decl := range f.ast.Decls {
		d, ok := decl.(*ast.GenDecl)
		if !ok || d.Tok != token.VAR {
			continue
		}
		for _, spec := range d.Specs {
			s := spec.(*ast.ValueSpec)
			if what := f.mutable(s); what != "" {
				findings = append(findings, f.at(s, "package variable %s is %s: make it a field of what owns it", s.Names[0].Name, what))
			}
		}
	}
	for _, d := range functions(f) {
		findings = append(findings, f.globalWrites(d)...)
	}
	return findings
}

// mutable says what state a variable holds by its type or value, "" if none shows.
func (f *sourceFile) mutable(s *ast.ValueSpec) string {
	exprs := s.Values
	if s.Type != nil {
		exprs = append([]ast.Expr{s.Type}, exprs...)
	}
	for _, e := range exprs {
		if u, ok := e.(*ast.UnaryExpr); ok {
			e = u.X
		}
		if lit, ok := e.(*ast.CompositeLit); ok {
			e = lit.Type
		}
		if x, ok := e.(*ast.IndexExpr); ok { // atomic.Pointer[T]
			e = x.X
		}
		for _, pkg := range []string{"sync", "sync/atomic"} {
			if name, ok := f.selects(e, pkg); ok {
				return pkg + "." + name
			}
		}
		switch e := e.(type) {
		case *ast.ChanType:
			return "a channel"
		case *ast.CallExpr:
			if fun, ok := e.Fun.(*ast.Ident); ok && (fun.Name == "make" || fun.Name == "new") {
				return "made to be filled"
			}
		}
	}
	return ""
}

// globalWrites finds assignments of d to names that neither d nor a function
// around it declares: package variables.
func (f *sourceFile) globalWrites(d *ast.FuncDecl) []string {
	if d.Body == nil {
		return nil
	}
	local := declared(d)
	var findings []string
	check := func(n ast.Node, e ast.Expr) {
		if x := root(e); x != nil && x.Name != "_" && !local[x.Name] {
			findings = append(findings, f.at(n, "%s assigns to the package variable %s", funcName(d), x.Name))
		}
	}
	ast.Inspect(d.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			for _, lhs := range n.Lhs {
				check(n, lhs)
			}
		case *ast.IncDecStmt:
			check(n, n.X)
		}
		return true
	})
	return findings
}

// declared is every name that a function declares, at any depth.
func declared(d *ast.FuncDecl) map[string]bool {
	names := map[string]bool{}
	ast.Inspect(d, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Field: // parameters, results, receiver
			add(names, n.Names...)
		case *ast.ValueSpec:
			add(names, n.Names...)
		case *ast.AssignStmt:
			if n.Tok == token.DEFINE {
				addExprs(names, n.Lhs...)
			}
		case *ast.RangeStmt:
			if n.Tok == token.DEFINE {
				addExprs(names, n.Key, n.Value)
			}
		}
		return true
	})
	return names
}

func add(names map[string]bool, ids ...*ast.Ident) {
	for _, id := range ids {
		names[id.Name] = true
	}
}

func addExprs(names map[string]bool, exprs ...ast.Expr) {
	for _, e := range exprs {
		if id, ok := e.(*ast.Ident); ok {
			names[id.Name] = true
		}
	}
}

// root is the variable that an assignment to e changes, nil if that cannot be
// seen: "x" of x, x.f and x[i], but nothing for *p and f().x.
func root(e ast.Expr) *ast.Ident {
	for {
		switch x := e.(type) {
		case *ast.Ident:
			return x
		case *ast.SelectorExpr:
			e = x.X
		case *ast.IndexExpr:
			e = x.X
		case *ast.ParenExpr:
			e = x.X
		default:
			return nil
		}
	}
}
