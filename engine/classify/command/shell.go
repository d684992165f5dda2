package command

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// shellCommand returns the simple command of sh -c, without assignments before it, exec and
// redirections. It is nil for any other script, a script file and interactive shells.
func shellCommand(args []string) []string {
	command := false
	for len(args) > 0 && len(args[0]) > 1 && strings.IndexByte("-+", args[0][0]) >= 0 {
		flag := args[0]
		args = args[1:]
		if flag == "--" {
			break
		}
		if strings.HasPrefix(flag, "--") {
			continue // --norc and the like
		}
		command = command || flag[0] == '-' && strings.Contains(flag, "c")
		if strings.HasSuffix(strings.ToLower(flag), "o") && len(args) > 0 {
			args = args[1:] // -o pipefail, -euo pipefail
		}
	}
	if !command || len(args) == 0 {
		return nil
	}
	words := splitSimple(args[0])
	for len(words) > 0 && (words[0] == "exec" || words[0] == "command") {
		words = skipAssignments(words[1:])
	}
	if len(words) > 0 && slices.Contains(builtins, words[0]) {
		return nil
	}
	return words
}

// builtins are the commands of a shell whose failure is the script's.
var builtins = []string{"eval", ".", "source", "exit", "return", "trap", "set", "cd"}

// maxScript is the longest script that is parsed. The parser needs a time that is quadratic in
// the depth of brackets.
const maxScript = 16 << 10

// splitSimple returns the words of a script that is one simple command (POSIX Shell Command
// Language, 2.9.1), without redirections, and with parameters as they are written. It is nil
// for any other script, and for one that runs another command to make a word.
func splitSimple(script string) (words []string) {
	if len(script) > maxScript {
		return nil
	}
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(script), "")
	if err != nil || len(file.Stmts) != 1 {
		return nil
	}
	statement := file.Stmts[0]
	call, simple := statement.Cmd.(*syntax.CallExpr)
	hasDocument := slices.ContainsFunc(statement.Redirs, func(r *syntax.Redirect) bool { return r.Hdoc != nil })
	if !simple || statement.Background || statement.Negated || hasDocument || substitutes(statement) {
		return nil
	}
	for _, word := range call.Args {
		var b strings.Builder
		if !appendParts(&b, script, word.Parts, false) {
			return nil
		}
		words = append(words, b.String())
	}
	return words
}

// substitutes reports whether the statement runs a command for its output or as a file.
func substitutes(statement *syntax.Stmt) (found bool) {
	syntax.Walk(statement, func(node syntax.Node) bool {
		switch node.(type) {
		case *syntax.CmdSubst, *syntax.ProcSubst:
			found = true
		}
		return !found
	})
	return found
}

// appendParts writes the parts of a word without their quotes. It returns false for a part
// whose text only the shell knows, but for a parameter, which is kept as it is written.
func appendParts(b *strings.Builder, script string, parts []syntax.WordPart, quoted bool) bool {
	for _, part := range parts {
		switch part := part.(type) {
		case *syntax.Lit:
			b.WriteString(unescaped(part.Value, quoted))
		case *syntax.SglQuoted:
			b.WriteString(part.Value)
		case *syntax.DblQuoted:
			if !appendParts(b, script, part.Parts, true) {
				return false
			}
		case *syntax.ParamExp:
			b.WriteString(script[part.Pos().Offset():part.End().Offset()])
		default:
			return false
		}
	}
	return true
}

// unescaped drops the backslashes that quote a character (POSIX Shell Command Language,
// 2.2.1 and 2.2.3).
func unescaped(literal string, quoted bool) string {
	var b strings.Builder
	for i := 0; i < len(literal); i++ {
		if literal[i] == '\\' && i+1 < len(literal) && (!quoted || strings.IndexByte("$`\"\\", literal[i+1]) >= 0) {
			i++
		}
		b.WriteByte(literal[i])
	}
	return b.String()
}
