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
// Bearer and Basic, words with the shape of a token, and mysql -pPASSWORD.
func Masked(s string) string {
	return maskEach(maskEach(maskEach(maskNamed(maskLogins(s)), credentialAt), tokenAt), optionAt)
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
	word, before := argv[i], ""
	if i > 0 {
		before = argv[i-1]
	}
	isFlag := len(before) > 2 && before[0] == '-' && before != notSecret && namesSecret(before) && strings.Trim(before, nameBytes) == ""
	if isFlag && word != "" && !looksLikeFlag(word) {
		return Mask
	}
	if len(word) > 2 && word[:2] == "-p" && takesPassword(argv[:i]) {
		return "-p" + Mask
	}
	script := len(before) > 1 && before[0] == '-' && before[1] != '-' && before[len(before)-1] == 'c'
	value := 0 // where that of NAME=value or "Name: value" begins
	switch name := run(word, nameBytes); {
	case script || name == len(word) || !namesSecret(word[:name]):
	case word[name] == '=':
		value = name + 1
	case word[name] == ':' && headerColon(word, 0, name):
		value = skipBlanks(word, name+1)
	}
	if 0 < value && value < len(word) {
		return word[:value] + Mask
	}
	return Masked(word)
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

// secretNames are parts of the names of secrets, in lower case.
var secretNames = []string{
	"password", "passwd", "passphrase", "secret", "token", "credential", "authorization", "cookie",
	"apikey", "api-key", "api_key", "api key", "accesskey", "access-key", "access_key", "access key", "privatekey", "private-key", "private_key", "private key",
}

// secretName returns the length of such a part at the beginning of s, 0 for none.
func secretName(s string) int {
	if isIn("pstca", s[0]|0x20) {
		for _, name := range secretNames {
			if hasPrefixFold(s, name) {
				return len(name)
			}
		}
	}
	return 0
}

func namesSecret(s string) bool {
	for i := range len(s) {
		if secretName(s[i:]) > 0 {
			return true
		}
	}
	return false
}

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
	passed := 0            // what a name can not begin before
	at, quoted := 0, false // whether the place is between double quotes on its line
	return maskEach(s, func(s string, i int) (from, to int) {
		n := secretName(s[i:])
		if n == 0 {
			return i, i
		}
		v := named{text: s, begin: i, end: i + n}
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

// named is the name of a secret in a text.
type named struct {
	text       string
	begin, end int
	quoted     bool // it stands between double quotes
}

// value returns where the value of the name begins and ends, the same place for none.
func (n *named) value() (from, to int) {
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
var fileErrors = []string{"not found", "cannot be executed", "its interpreter ", "is a directory", "no such file or directory", "permission denied"}

// isHeader reports whether the value is that of a header: the rest of the line.
func (n *named) isHeader() bool {
	name := strings.ToLower(n.text[n.begin:n.end])
	before := strings.TrimRight(n.text[:n.begin], " \t<>*")
	return strings.Contains(name, "authorization") || strings.Contains(name, "cookie") || before == "" || isIn("\n\"'=", before[len(before)-1])
}

// extent returns the begin and end of a value at from.
func (n *named) extent(from int, line bool) (int, int) {
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
	return !strings.HasPrefix(s[end+1:], ":") && !strings.Contains(name, ".") && name != "tokens" && name != notSecret &&
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
		if value := s[from:to]; from > i+len(scheme) && (isCredential(value) || scheme == "bearer" && !slices.Contains(afterBearer, strings.ToLower(strings.TrimRight(value, ".")))) {
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

// tokenShapes are how the tokens of services begin.
var tokenShapes = []string{
	"ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_", "glpat-", "gldt-", "glrt-", "glcbt-", "glptt-", "xoxa-", "xoxb-", "xoxe-", "xoxo-", "xoxp-", "xoxr-", "xoxs-",
	"xapp-", "AKIA", "ASIA", "AIza", "ya29.", "sk-", "sk_live_", "sk_test_", "rk_live_", "rk_test_", "whsec_", "npm_", "hf_", "pypi-", "dckr_pat_", "dop_v1_", "shpat_", "SG.", "eyJ",
}

// tokenAt finds a word with the shape of a token.
func tokenAt(s string, i int) (from, to int) {
	if i > 0 && s[i-1] != '.' && isIn(nameBytes, s[i-1]) {
		return i, i
	}
	at := slices.IndexFunc(tokenShapes, func(shape string) bool { return strings.HasPrefix(s[i:], shape) })
	if at < 0 {
		return i, i
	}
	shape := tokenShapes[at]
	rest := s[i+len(shape):]
	word := strings.TrimRight(rest[:run(rest, nameBytes)], ".") // without the end of a sentence
	plain := strings.Trim(word, "abcdefghijklmnopqrstuvwxyz_") == ""
	isName := shape[len(shape)-1] == '_' && plain && (strings.Contains(word, "_") || strings.HasPrefix(rest[len(word):], "=")) // npm_config_registry
	if len(word) < 3 || isName {
		return i, i
	}
	return i, i + len(shape) + len(word)
}

// lookBack is how many bytes before -pPASSWORD may have the command.
const lookBack = 256

// optionAt finds the password of -pPASSWORD in a command.
func optionAt(s string, i int) (from, to int) {
	if !strings.HasPrefix(s[i:], "-p") || i == 0 || !isIn(" \t", s[i-1]) {
		return i, i
	}
	command := s[max(0, i-lookBack):i]
	if !takesPassword(strings.Fields(command[strings.LastIndexAny(command, ";|&\n")+1:])) {
		return i, i
	}
	n := named{text: s, begin: i}
	return n.extent(i+2, false)
}

// takesPassword reports whether one of the words is a command that takes a password as
// -pPASSWORD.
func takesPassword(words []string) bool {
	return slices.ContainsFunc(words, func(word string) bool {
		name := word[strings.LastIndexAny(word, `/\`)+1:]
		return strings.HasPrefix(name, "mysql") || strings.HasPrefix(name, "mariadb") || name == "sshpass"
	})
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
