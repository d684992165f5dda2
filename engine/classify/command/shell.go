package command

import (
	"slices"
	"strings"
)

// shellCommand returns the simple command of sh -c, nil for any other script, a script
// file and interactive shells.
func shellCommand(args []string) []string {
	command := false
	for len(args) > 0 {
		flag := args[0]
		if len(flag) < 2 || flag[0] != '-' && flag[0] != '+' {
			break
		}
		args = args[1:]
		if flag == "--" {
			break
		}
		if strings.HasPrefix(flag, "--") {
			continue // --norc and the like
		}
		command = command || flag[0] == '-' && strings.Contains(flag, "c")
		if last := flag[len(flag)-1]; (last == 'o' || last == 'O') && len(args) > 0 {
			args = args[1:] // -o pipefail, -euo pipefail
		}
	}
	if !command || len(args) == 0 {
		return nil
	}
	return simpleCommand(args[0])
}

// simpleCommand returns the words of a script that is one simple command, without
// assignments before it, exec and redirections.
func simpleCommand(script string) []string {
	words, ok := splitSimple(script)
	if !ok {
		return nil
	}
	for len(words) > 0 && (assigns(words[0]) || words[0] == "exec" || words[0] == "command") {
		words = words[1:]
	}
	if len(words) == 0 || slices.Contains(shellWords, words[0]) {
		return nil
	}
	return words
}

// shellWords begin a compound command, or name a builtin whose failure is the script's.
var shellWords = []string{
	"if", "for", "while", "until", "case", "select", "function", "{", "}", "!", "[[", "((",
	"eval", ".", "source", "exit", "return", "trap", "set", "cd", "export", "time", "coproc", "then", "do",
}

// splitSimple splits one simple command into words as a POSIX shell does; ok is false for
// anything else. It drops redirections, and does not expand parameters.
func splitSimple(line string) (words []string, ok bool) {
	s := splitter{line: strings.TrimSpace(line)}
	for s.i < len(s.line) {
		if !s.step() {
			return nil, false
		}
	}
	s.endWord()
	return s.words, len(s.words) > 0
}

// splitter is the state of splitting one command line.
type splitter struct {
	line  string
	i     int
	words []string
	word  strings.Builder
	open  bool // a word has begun, maybe an empty quoted one
	skip  bool // the next word is the target of a redirection
}

func (s *splitter) endWord() {
	if s.open && !s.skip {
		s.words = append(s.words, s.word.String())
	}
	if s.open {
		s.skip = false
	}
	s.word.Reset()
	s.open = false
}

func (s *splitter) add(text string) {
	s.word.WriteString(text)
	s.open = true
}

// step reads a character or a quoted piece, and returns false if the line is not one
// simple command.
func (s *splitter) step() bool {
	c, rest := s.line[s.i], s.line[s.i+1:]
	s.i++
	switch c {
	case ' ', '\t':
		s.endWord()
	case '|', '&', ';', '\n', '(', ')', '`':
		return false
	case '\'':
		end := strings.IndexByte(rest, '\'')
		if end < 0 {
			return false
		}
		s.add(rest[:end])
		s.i += end + 1
	case '"':
		return s.doubleQuoted(rest)
	case '\\':
		if rest == "" {
			return false
		}
		s.i++
		if rest[0] != '\n' {
			s.add(rest[:1])
		}
	case '>', '<':
		return s.redirection(rest)
	case '$':
		s.add("$")
		return !strings.HasPrefix(rest, "(")
	case '#':
		if !s.open { // a comment
			_, after, more := strings.Cut(rest, "\n")
			s.i = len(s.line)
			return !more || strings.TrimSpace(after) == ""
		}
		s.add("#")
	default:
		s.add(s.line[s.i-1 : s.i])
	}
	return true
}

// doubleQuoted reads to the closing quote (POSIX Shell Command Language, 2.2.3).
func (s *splitter) doubleQuoted(rest string) bool {
	s.open = true
	for j := 0; j < len(rest); j++ {
		switch c := rest[j]; {
		case c == '"':
			s.i += j + 1
			return true
		case c == '`', c == '$' && strings.HasPrefix(rest[j+1:], "("):
			return false
		case c == '\\' && j+1 < len(rest) && strings.IndexByte("$`\"\\", rest[j+1]) >= 0:
			j++
			s.word.WriteByte(rest[j])
		default:
			s.word.WriteByte(c)
		}
	}
	return false
}

// redirection drops an operator and the file descriptor before it, and marks the word
// after it. It refuses here-documents and process substitutions.
func (s *splitter) redirection(rest string) bool {
	if strings.HasPrefix(rest, "(") || s.line[s.i-1] == '<' && strings.HasPrefix(rest, "<") {
		return false
	}
	if s.open && strings.Trim(s.word.String(), "0123456789") == "" {
		s.word.Reset()
		s.open = false
	}
	s.endWord()
	s.i += len(rest) - len(strings.TrimLeft(rest, ">&|"))
	s.skip = true
	return true
}
