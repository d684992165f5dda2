package main

import (
	"bytes"
	"errors"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// checked is a package with its types.
type checked struct {
	set   *token.FileSet
	files []*ast.File
	info  *types.Info
}

// check reads a package. Its imports are read from what the compiler has written.
func check(found *goPackage) (*checked, error) {
	out, err := exec.Command("go", "list", "-export", "-deps", "-f", "{{.ImportPath}}={{.Export}}",
		found.ImportPath).Output()
	if err != nil {
		return nil, err
	}
	exports := map[string]string{}
	for line := range strings.Lines(string(out)) {
		path, file, _ := strings.Cut(strings.TrimSpace(line), "=")
		exports[path] = file
	}
	c := &checked{set: token.NewFileSet(), info: &types.Info{Types: map[ast.Expr]types.TypeAndValue{}}}
	for _, name := range found.GoFiles {
		file, err := parser.ParseFile(c.set, filepath.Join(found.Dir, name), nil, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		c.files = append(c.files, file)
	}
	lookup := func(path string) (io.ReadCloser, error) {
		if exports[path] == "" {
			return nil, errors.New("no such package: " + path)
		}
		return os.Open(exports[path])
	}
	config := types.Config{Importer: importer.ForCompiler(c.set, "gc", lookup)}
	_, err = config.Check(found.ImportPath, c.set, c.files, c.info)
	return c, err
}

// editor makes the mutants of one file: each is text that is put before and behind a
// part of it, or in place of an operator.
type editor struct {
	*checked
	file    *ast.File
	text    []byte
	place   string          // the file's path from the module's root
	without map[string]bool // FILE:LINE that get no mutants
	next    int             // the number of the last mutant
	mutants []*mutant
	edits   []edit
}

// edit puts text in place of [from, to). Of edits at one place those behind a part come
// first, the innermost of them before the others; those before a part come last, the
// innermost of them behind the others.
type edit struct {
	from, to int
	order    int
	text     string
}

// mutant numbers a mutant, unless its line gets none.
func (e *editor) mutant(at token.Pos, change string) (id int, ok bool) {
	position := e.set.Position(at)
	line := fmt.Sprintf("%s:%d", filepath.Base(position.Filename), position.Line)
	if e.without[line] {
		return 0, false
	}
	e.next++
	e.mutants = append(e.mutants, &mutant{id: e.next,
		place: fmt.Sprintf("%s:%d:%d", e.place, position.Line, position.Column), file: e.place,
		source: e.line(position.Offset), change: change})
	return e.next, true
}

// line is the line of source at an offset.
func (e *editor) line(at int) string {
	from := bytes.LastIndexByte(e.text[:at], '\n') + 1
	line, _, _ := strings.Cut(string(e.text[from:]), "\n")
	return strings.TrimSpace(line)
}

func (e *editor) offset(at token.Pos) int { return e.set.Position(at).Offset }

// around puts text before and behind a node. It is called for outer nodes first.
func (e *editor) around(n ast.Node, before, behind string) {
	at := len(e.edits) + 1
	e.edits = append(e.edits, edit{e.offset(n.Pos()), e.offset(n.Pos()), at, before},
		edit{e.offset(n.End()), e.offset(n.End()), -at, behind})
}

func (e *editor) apply() []byte {
	slices.SortStableFunc(e.edits, func(a, b edit) int {
		if a.from != b.from {
			return a.from - b.from
		}
		return a.order - b.order
	})
	var out bytes.Buffer
	at := 0
	for _, one := range e.edits {
		out.Write(e.text[at:one.from])
		out.WriteString(one.text)
		at = one.to
	}
	out.Write(e.text[at:])
	return out.Bytes()
}

// walk makes the mutants of what functions do: constants and types stay.
func (e *editor) walk() {
	for _, declared := range e.file.Decls {
		if f, ok := declared.(*ast.FuncDecl); ok && f.Body != nil {
			ast.Inspect(f.Body, e.visit)
		}
	}
}

func (e *editor) visit(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.GenDecl:
		return n.Tok == token.VAR
	case *ast.BlockStmt:
		e.statements(n.List)
	case *ast.CaseClause:
		e.statements(n.Body)
	case *ast.CommClause:
		e.statements(n.Body)
	case *ast.IfStmt:
		e.condition(n.Cond)
	case *ast.ForStmt:
		if n.Cond != nil {
			e.condition(n.Cond)
		}
	case *ast.BinaryExpr:
		e.operator(n)
	case *ast.BasicLit:
		e.number(n)
	case *ast.CallExpr:
		return !e.ofPackage(n, "strconv") // the numbers are bases and sizes
	case *ast.ReturnStmt:
		return !e.fails(n) // what is returned beside an error is not looked at
	}
	return true
}

// ofPackage reports whether a call is one of a package's functions.
func (e *editor) ofPackage(call *ast.CallExpr, name string) bool {
	selector, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return false
	}
	left, ok := selector.X.(*ast.Ident)
	return ok && left.Name == name
}

// fails reports whether a statement returns a variable of type error, or what makes one,
// as the last of several values.
func (e *editor) fails(s *ast.ReturnStmt) bool {
	if len(s.Results) < 2 {
		return false
	}
	last := s.Results[len(s.Results)-1]
	what := e.info.Types[last]
	return !what.IsNil() && what.Type != nil && types.Identical(what.Type, types.Universe.Lookup("error").Type())
}

// statements leaves out each that is a call, an assignment or a step.
func (e *editor) statements(list []ast.Stmt) {
	for _, s := range list {
		switch s := s.(type) {
		case *ast.AssignStmt:
			if s.Tok == token.DEFINE {
				continue
			}
		case *ast.ExprStmt, *ast.IncDecStmt, *ast.DeferStmt, *ast.GoStmt, *ast.SendStmt:
		case *ast.BranchStmt:
			if s.Label != nil || s.Tok == token.FALLTHROUGH {
				continue
			}
		default:
			continue
		}
		if id, ok := e.mutant(s.Pos(), "left out: "+e.first(s)); ok {
			e.around(s, fmt.Sprintf("if !mutantIs(%d) { ", id), " }")
		}
	}
}

// first is the first line of a node.
func (e *editor) first(n ast.Node) string {
	line, _, more := strings.Cut(string(e.text[e.offset(n.Pos()):e.offset(n.End())]), "\n")
	if more {
		line += "..."
	}
	return line
}

// condition is turned round, unless its operator is.
func (e *editor) condition(cond ast.Expr) {
	if b, ok := ast.Unparen(cond).(*ast.BinaryExpr); ok && (b.Op == token.EQL || b.Op == token.NEQ) ||
		e.info.Types[cond].Value != nil {
		return
	}
	if id, ok := e.mutant(cond.Pos(), "not: "+e.first(cond)); ok {
		e.around(cond, "(", fmt.Sprintf(") != mutantIs(%d)", id))
	}
}

// operators are what an operator becomes, and the function that has both.
var operators = map[token.Token]struct {
	becomes  token.Token
	function string
}{
	token.LSS: {token.LEQ, "mutantLess"}, token.LEQ: {token.LSS, "mutantLessOrEqual"},
	token.GTR: {token.GEQ, "mutantGreater"}, token.GEQ: {token.GTR, "mutantGreaterOrEqual"},
	token.ADD: {token.SUB, "mutantAdd"}, token.SUB: {token.ADD, "mutantSubtract"},
	token.MUL: {token.QUO, "mutantMultiply"}, token.QUO: {token.MUL, "mutantDivide"},
	token.LAND: {token.LOR, "mutantAnd"}, token.LOR: {token.LAND, "mutantOr"},
}

func (e *editor) operator(n *ast.BinaryExpr) {
	what := e.info.Types[n]
	if what.Value != nil || what.Type == nil {
		return
	}
	if n.Op == token.EQL || n.Op == token.NEQ {
		if id, ok := e.mutant(n.OpPos, "not: "+e.first(n)); ok {
			e.around(n, "((", fmt.Sprintf(") != mutantIs(%d))", id))
		}
		return
	}
	op, known := operators[n.Op]
	operand, _ := e.info.Types[n.X].Type.Underlying().(*types.Basic)
	if !known || operand == nil || operand.Info()&(types.IsNumeric|types.IsBoolean) == 0 {
		return
	}
	id, ok := e.mutant(n.OpPos, n.Op.String()+" is "+op.becomes.String())
	if !ok {
		return
	}
	between, behind := ",", ")"
	if operand.Info()&types.IsBoolean != 0 {
		between, behind = ", func() bool { return (", ") })" // the right side may begin on a line of its own
	}
	e.around(n, fmt.Sprintf("%s(%d, ", op.function, id), behind)
	at := e.offset(n.OpPos)
	e.edits = append(e.edits, edit{at, at + len(n.Op.String()), 0, between})
}

// number is one more, if it is not a part of a constant's declaration.
func (e *editor) number(n *ast.BasicLit) {
	what := e.info.Types[n]
	if n.Kind != token.INT && n.Kind != token.FLOAT || what.Type == nil {
		return
	}
	basic, _ := what.Type.Underlying().(*types.Basic)
	if basic == nil || basic.Info()&(types.IsInteger|types.IsFloat) == 0 || basic.Info()&types.IsUntyped != 0 {
		return
	}
	named := types.TypeString(what.Type, func(p *types.Package) string {
		for _, i := range e.file.Imports {
			if strings.Trim(i.Path.Value, `"`) == p.Path() && i.Name != nil {
				return i.Name.Name
			}
		}
		if p.Name() == e.file.Name.Name {
			return ""
		}
		return p.Name()
	})
	if id, ok := e.mutant(n.Pos(), n.Value+" + 1"); ok {
		e.around(n, fmt.Sprintf("mutantNumber[%s](%d, ", named, id), ")")
	}
}

// switchSource is added to the mutated package: its name, the file that says which
// mutant is real, the file for those that are passed, and their number. It calls the system
// itself: package os opens further files (epoll_create(2)), which a test with few would see.
const switchSource = `package %s

import (
	"strconv"
	"sync/atomic"
	"syscall"
)

const mutantReached = %[3]q

var mutantNow = func() int {
	file, err := syscall.Open(%[2]q, syscall.O_RDONLY|syscall.O_CLOEXEC, 0)
	if err != nil {
		return 0
	}
	defer syscall.Close(file)
	text := make([]byte, 20)
	n, _ := syscall.Read(file, text)
	id, _ := strconv.Atoi(string(text[:max(n, 0)]))
	return id
}()

var mutantSeen [%[4]d]atomic.Bool

func mutantIs(id int) bool {
	if mutantNow == 0 && !mutantSeen[id].Swap(true) {
		const flags = syscall.O_CREAT | syscall.O_APPEND | syscall.O_WRONLY | syscall.O_CLOEXEC
		if file, err := syscall.Open(mutantReached, flags, 0o600); err == nil {
			_, _ = syscall.Write(file, []byte(strconv.Itoa(id)+"\n"))
			syscall.Close(file)
		}
	}
	return mutantNow == id
}

type mutantNumeric interface {
	~int | ~int8 | ~int16 | ~int32 | ~int64 | ~uint | ~uint8 | ~uint16 | ~uint32 | ~uint64 | ~uintptr |
		~float32 | ~float64
}

func mutantNumber[T mutantNumeric](id int, v T) T {
	if mutantIs(id) {
		return v + 1
	}
	return v
}

func mutantLess[T mutantNumeric](id int, a, b T) bool           { return a < b || mutantIs(id) && a == b }
func mutantLessOrEqual[T mutantNumeric](id int, a, b T) bool    { return a < b || a == b && !mutantIs(id) }
func mutantGreater[T mutantNumeric](id int, a, b T) bool        { return a > b || mutantIs(id) && a == b }
func mutantGreaterOrEqual[T mutantNumeric](id int, a, b T) bool { return a > b || a == b && !mutantIs(id) }

func mutantAdd[T mutantNumeric](id int, a, b T) T {
	if mutantIs(id) {
		return a - b
	}
	return a + b
}

func mutantSubtract[T mutantNumeric](id int, a, b T) T {
	if mutantIs(id) {
		return a + b
	}
	return a - b
}

func mutantMultiply[T mutantNumeric](id int, a, b T) T {
	if mutantIs(id) {
		return a / b
	}
	return a * b
}

func mutantDivide[T mutantNumeric](id int, a, b T) T {
	if mutantIs(id) {
		return a * b
	}
	return a / b
}

func mutantAnd(id int, a bool, b func() bool) bool {
	if mutantIs(id) {
		return a || b()
	}
	return a && b()
}

func mutantOr(id int, a bool, b func() bool) bool {
	if mutantIs(id) {
		return a && b()
	}
	return a || b()
}

var _ = []any{mutantNumber[int], mutantLess[int], mutantLessOrEqual[int], mutantGreater[int],
	mutantGreaterOrEqual[int], mutantAdd[int], mutantSubtract[int], mutantMultiply[int],
	mutantDivide[int], mutantAnd, mutantOr}
`
