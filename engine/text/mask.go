package text

// This file masks secrets in what is shown, recorded or logged: Masked in a text,
// MaskedArgs in the words of a command, MaskedAddress in an address.
//
// A secret is found by its context (the password of an address, the value of a name) or by
// its own shape. In doubt it is masked.

import (
	"slices"
	"strings"
)

// Mask stands for a secret.
const Mask = "xxxxx"

const (
	letters       = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
	digits        = "0123456789"
	alphanumerics = letters + digits
	nameBytes     = alphanumerics + "_-."
)

// Masked returns s with Mask in place of secrets: passwords of addresses, values of names
// such as password and token (NAME=value, --name value, "name: value"), credentials behind
// Bearer and Basic, words with the shape of a token, private keys, and what is a secret in
// the flags of a known command.
func Masked(s string) string { return masked(s, false) }

// MaskedCommand is Masked for a text that is a command.
func MaskedCommand(s string) string { return masked(s, true) }

func masked(s string, command bool) string {
	s = maskNamed(maskLogins(maskKeys(s)))
	for _, secretAt := range []func(string, int) (int, int){
		endingAt(command), credentialAt, shapeAt, optionAt, netrcAt,
	} {
		s = maskEach(s, secretAt)
	}
	return s
}

// MaskedArgs returns the words of a command with their secrets masked: argv itself if
// there are none.
func MaskedArgs(argv []string) []string {
	shown := argv
	for i, word := range argv {
		clean := maskArg(argv, i)
		if clean == word {
			continue
		}
		if &shown[0] == &argv[0] {
			shown = slices.Clone(argv)
		}
		shown[i] = clean
	}
	return shown
}

// maskArg masks a word of a command: all of it behind a flag with the name of a secret, and
// the value in NAME=value. A script (sh -c) is a text.
func maskArg(argv []string, i int) string {
	word := argv[i]
	before := ""
	if i > 0 {
		before = argv[i-1]
	}
	if flagSecret(before) && word != "" && !looksLikeFlag(word) && !isPlain("", word) {
		return Mask
	}
	if from, to := wordOption(argv[:i], word); from < to {
		return word[:from] + Mask + word[to:]
	}
	if before == "password" && i >= 3 && (argv[i-3] == "login" || argv[i-3] == "machine") { // netrc
		return Mask
	}
	script := len(before) > 1 && before[0] == '-' && before[1] != '-' && before[len(before)-1] == 'c'
	name := run(word, nameBytes)
	if !script && 0 < name && name < len(word) {
		if value := valueOfArg(word, name); 0 < value && value < len(word) {
			return word[:value] + Mask
		}
	}
	return MaskedCommand(word)
}

// valueOfArg returns where the secret of NAME=value or "Name: value" begins, 0 for none.
func valueOfArg(word string, name int) (value int) {
	switch {
	case word[name] == '=':
		value = name + 1
	case word[name] == ':' && headerColon(word, 0, name):
		value = skipBlanks(word, name+1)
	default:
		return 0
	}
	named := word[:name]
	ends := endsSecret
	if named[0] == '-' {
		ends = flagSecret
	}
	if namesSecret(named) || ends(named) && !isPlain(named, word[value:]) {
		return value
	}
	return 0
}

// looksLikeFlag reports whether a word is a flag: -x, --name, --name=x.
func looksLikeFlag(word string) bool {
	if name, long := strings.CutPrefix(word, "--"); long {
		return name != "" && isIn(letters, name[0])
	}
	return len(word) == 2 && word[0] == '-' && isIn(letters, word[1])
}

// notSecret is a flag of this program, of a token bucket.
const notSecret = "--tokens"

// maskEach returns s with Mask in place of each secret. secretAt returns where the secret
// that is found at a place of s begins and ends; if there is none, to is where the search
// continues.
func maskEach(s string, secretAt func(s string, i int) (from, to int)) string {
	var clean strings.Builder
	done := 0 // of s is in clean
	for i := 0; i < len(s); {
		from, to := secretAt(s, i)
		if from < to {
			clean.WriteString(s[done:from] + Mask)
			done = to
		}
		i = max(to, i+1)
	}
	if done == 0 {
		return s
	}
	return clean.String() + s[done:]
}

// maskNamed masks the values of names.
func maskNamed(s string) string {
	passed := 0     // what a name can not begin before
	at := 0         // up to where double quotes were looked for
	quoted := false // whether that place is between double quotes on its line
	return maskEach(s, func(s string, i int) (from, to int) {
		n := secretName(s[i:])
		if n == 0 {
			return i, i
		}
		v := namedSecret{text: s, begin: i, end: i + n}
		v.end += run(s[v.end:], nameBytes)
		for v.begin > passed && isIn(nameBytes, s[v.begin-1]) {
			v.begin--
		}
		for ; at < v.begin; at++ {
			switch s[at] {
			case '"':
				quoted = quoted != (at == 0 || s[at-1] != '\\')
			case '\n':
				quoted = false
			}
		}
		v.quoted = quoted
		if from, to = v.value(); from >= to {
			return v.end, v.end
		}
		// Behind a scheme, the credential is the value.
		for word := from; slices.Contains(schemes, strings.ToLower(s[word:to])) && to < len(s) && isIn(" \t", s[to]); {
			next, end := v.extent(skipBlanks(s, to), false)
			if namesSecret(s[next:end]) || strings.Contains(strings.TrimRight(s[next:end], "="), "=") {
				break // a name of its own, not the credential
			}
			word, to = next, end
		}
		passed = to
		return from, to
	})
}

// namedSecret is the name of a secret in a text.
type namedSecret struct {
	text       string
	begin, end int
	quoted     bool // it stands between double quotes
}

// value returns where the value of the name begins and ends, the same place for none.
func (n *namedSecret) value() (from, to int) {
	s := n.text
	i := n.end + run(s[n.end:], `]"'\`)
	closed := i > n.end // as in "name": value
	j := skipBlanks(s, i)
	rest := s[j:]
	switch {
	case rest == "" || strings.HasPrefix(rest, "=="): // a comparison
		return 0, 0
	case strings.HasPrefix(rest, "=>"):
		return n.extent(skipBlanks(s, j+2), false)
	case rest[0] == '=' && j == i: // NAME= at the end of a word has no value
		return n.extent(j+1, false)
	case rest[0] == '=':
		return n.extent(skipBlanks(s, j+1), false)
	case rest[0] == ':' && j == i && (closed || headerColon(s, n.begin, n.end)):
		from = skipBlanks(s, i+1)
		if slices.ContainsFunc(fileErrors, func(why string) bool { return strings.HasPrefix(s[from:], why) }) {
			return 0, 0
		}
		return n.extent(from, !closed && n.isHeader())
	case i == j || closed || s[n.begin] != '-' || s[n.begin:n.end] == notSecret:
		return 0, 0
	}
	if from, to = n.extent(j, false); looksLikeFlag(s[from:to]) {
		return 0, 0
	}
	return from, to
}

// fileErrors follow the name of a file or command, as in "get-token": not found; they
// are no values.
var fileErrors = []string{
	"not found", "cannot be executed", "its interpreter ", "is a directory",
	"no such file or directory", "permission denied",
}

// isHeader reports whether the value is that of a header: the rest of the line.
func (n *namedSecret) isHeader() bool {
	name := strings.ToLower(n.text[n.begin:n.end])
	before := strings.TrimRight(n.text[:n.begin], " \t<>*")
	return strings.Contains(name, "authorization") || strings.Contains(name, "cookie") || before == "" ||
		isIn("\n\"'=", before[len(before)-1])
}

// extent returns the begin and end of a value at from.
func (n *namedSecret) extent(from int, line bool) (int, int) {
	s := n.text
	for _, quote := range []string{`\"`, `"`, `'`} {
		if inside, ok := strings.CutPrefix(s[from:], quote); ok && !(line && n.quoted) {
			from += len(quote)
			return from, from + quotedEnd(inside, quote)
		}
	}
	ends := " \t\r\n\"'`"
	opening := byte(0)
	if n.begin > 0 {
		opening = s[n.begin-1]
	}
	switch {
	case line && (n.quoted || opening == '"'):
		ends = "\r\n\""
	case line && opening == '\'':
		ends = "\r\n'"
	case line:
		ends = "\r\n"
	case opening == '?' || opening == '&':
		ends += "&;#"
	}
	to := from + until(s[from:], ends)
	for to > from && to < len(s) && s[to] == '"' && s[to-1] == '\\' {
		to-- // of an escaped quote
	}
	return from, to
}

// quotedEnd returns where a text behind an opening quote ends.
func quotedEnd(s, quote string) int {
	for i := 0; i < len(s); i++ {
		switch {
		case strings.HasPrefix(s[i:], quote):
			return i
		case s[i] == '\\' && quote == `"`:
			i++
		}
	}
	return len(s)
}

// headerColon reports whether the colon at end separates a name from its value, unlike
// that behind a path (token.go:12, /run/secret: not found), and "::".
func headerColon(s string, begin, end int) bool {
	name := s[begin:end]
	return !strings.HasPrefix(s[end+1:], ":") && !strings.Contains(name, ".") && name != "tokens" &&
		name != notSecret &&
		(begin == 0 || !isIn(`/\`, s[begin-1]))
}

// schemes are those of HTTP that a credential follows.
var schemes = []string{"bearer", "basic"}

// credentialAt finds a credential behind a scheme.
func credentialAt(s string, i int) (from, to int) {
	if s[i]|0x20 != 'b' || i > 0 && isIn(nameBytes, s[i-1]) {
		return i, i
	}
	for _, scheme := range schemes {
		if !hasPrefixFold(s[i:], scheme) {
			continue
		}
		from = skipBlanks(s, i+len(scheme))
		to = from + run(s[from:], alphanumerics+"._~+/=-")
		if value := s[from:to]; from > i+len(scheme) &&
			(isCredential(value) ||
				scheme == "bearer" && !slices.Contains(afterBearer, strings.ToLower(strings.TrimRight(value, ".")))) {
			return from, to
		}
	}
	return i, i
}

// isCredential reports whether a word looks like base64 and not like English.
func isCredential(word string) bool {
	return len(word) >= 4 && strings.ContainsAny(word[1:], "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789=+")
}

// afterBearer are words that follow the scheme's name in English.
var afterBearer = []string{
	"", "=", "-", "token", "tokens", "auth", "authentication", "authorization", "realm", "realm=", "error", "scheme",
	"credential", "credentials", "header", "is", "was", "not", "and", "or", "in", "for", "of",
}

// run returns the number of bytes at the beginning of s that are in the set.
func run(s, set string) int { return len(s) - len(strings.TrimLeft(s, set)) }

// until returns the place of the first byte of s in the set, or the length of s.
func until(s, set string) int {
	if i := strings.IndexAny(s, set); i >= 0 {
		return i
	}
	return len(s)
}

func skipBlanks(s string, i int) int { return i + run(s[i:], " \t") }

func isIn(set string, b byte) bool { return strings.IndexByte(set, b) >= 0 }

func hasPrefixFold(s, prefix string) bool {
	return len(s) >= len(prefix) && strings.EqualFold(s[:len(prefix)], prefix)
}
