package process

// This file writes the command line of a batch file. CreateProcess runs one through cmd.exe,
// which reads the line by other rules than a program does: & | < > ^ and %NAME% in a word
// would be a command or a variable (CVE-2024-24576).

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
)

// isBatch reports whether Windows runs a file through cmd.exe. It ignores dots and blanks
// at the end of a name.
func isBatch(path string) bool {
	switch strings.ToLower(filepath.Ext(strings.TrimRight(path, ". "))) {
	case ".bat", ".cmd":
		return true
	}
	return false
}

// unquoted are the ASCII characters that cmd.exe leaves alone without quotes.
const unquoted = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789#$*+-./:?@\\_"

// batchLine is the command line of cmd.exe that runs a batch file with these words, or an
// error if cmd.exe would read one of them otherwise. Extensions are on, since emptied needs
// them, delayed expansion (!NAME!) and AutoRun are off. /s and the outer quotes, which it
// takes off, leave the rest as it is (cmd /?).
func batchLine(script string, words []string) (string, error) {
	if strings.ContainsAny(script, "\"\x00\r\n") {
		return "", fmt.Errorf("%q: cmd.exe cannot be given this name of a batch file", script)
	}
	var line strings.Builder
	line.WriteString(`cmd.exe /e:on /v:off /d /s /c ""` + emptied(script) + `"`)
	for _, word := range words {
		quoted, err := batchWord(word)
		if err != nil {
			return "", fmt.Errorf("%q: a batch file cannot be given this word: %w", word, err)
		}
		line.WriteString(" " + quoted)
	}
	return line.String() + `"`, nil
}

var errLineEnd = errors.New("cmd.exe reads it to the end of its line only")

// batchWord quotes a word. Within quotes a quote is doubled, which both cmd.exe and the C
// runtime read as one; backslashes before a quote are doubled for the C runtime.
func batchWord(word string) (string, error) {
	if strings.ContainsAny(word, "\x00\r\n") {
		return "", errLineEnd
	}
	bare := word != "" && word[len(word)-1] != '\\' && strings.IndexFunc(word, func(r rune) bool {
		return r < 0xa0 && !strings.ContainsRune(unquoted, r)
	}) < 0
	if bare {
		return word, nil
	}
	var b strings.Builder
	b.WriteByte('"')
	backslashes := 0
	for _, r := range word {
		switch r {
		case '\\':
			backslashes++
		case '"':
			b.WriteString(strings.Repeat(`\`, backslashes) + `"`)
			backslashes = 0
		default:
			backslashes = 0
		}
		b.WriteRune(r)
	}
	b.WriteString(strings.Repeat(`\`, backslashes) + `"`)
	return emptied(b.String()), nil
}

// emptied keeps cmd.exe from reading %NAME%, which quotes do not: behind a percent sign that
// stands for itself follows the part of length 0 of a variable that is always set.
func emptied(s string) string { return strings.ReplaceAll(s, "%", "%%cd:~,%") }
