package text

// This file masks secrets in what is shown, recorded or logged.
//
//	Masked         a text, or a word alone: a reason, an error, a line
//	MaskedArgs     the words of a command
//	MaskedAddress  a word that is known to be an address: of a target, of a store
//
// A secret is found by what stands around it (the password of an address, the value
// of a name) or by its own shape. Where in doubt it is masked: a text that shows too
// little can be looked up, a secret in a log cannot be taken back.

import "strings"

// Mask stands for a secret.
const Mask = "xxxxx"

// Masked returns s with its secrets replaced by Mask: the passwords of addresses, the
// values of names that hold password, token or the like (NAME=value, --name value,
// "name: value"), what follows Bearer and Basic, and words with the shape of a token.
func Masked(s string) string {
	return maskTokens(maskSchemes(maskNamed(maskLogins(s))))
}

// MaskedArgs returns the words of a command with their secrets masked. Words without
// a secret are argv itself.
func MaskedArgs(argv []string) []string {
	shown := argv
	for i, word := range argv {
		clean := maskArg(argv, i)
		if clean == word {
			continue
		}
		if &shown[0] == &argv[0] {
			shown = append([]string(nil), argv...)
		}
		shown[i] = clean
	}
	return shown
}

// maskArg masks a word of a command: all of it behind a flag whose name says that a
// secret follows, and all of a value behind such a name; a script (sh -c) is a text.
func maskArg(argv []string, i int) string {
	word := argv[i]
	script := false
	if i > 0 {
		before := argv[i-1]
		if word != "" && isSecretFlag(before) && !looksLikeFlag(word) {
			return Mask
		}
		script = len(before) > 1 && before[0] == '-' && before[1] != '-' && before[len(before)-1] == 'c'
	}
	if at := assignment(word); !script && at > 0 && at < len(word) {
		return word[:at] + Mask
	}
	return Masked(word)
}

// assignment returns where the value begins in a word that is NAME=value or
// "Name: value" with the name of a secret, 0 for any other word.
func assignment(word string) int {
	end := 0
	for end < len(word) && isNameByte(word[end]) {
		end++
	}
	if end == len(word) || !namesSecret(word[:end]) {
		return 0
	}
	switch {
	case word[end] == '=':
		return end + 1
	case word[end] == ':' && headerColon(word, 0, end):
		return skipBlanks(word, end+1)
	}
	return 0
}

// isSecretFlag reports whether a word is a flag whose value is the next word, and a
// secret.
func isSecretFlag(word string) bool {
	return len(word) > 2 && word[0] == '-' && word != notSecret && namesSecret(word) &&
		strings.IndexFunc(word, func(r rune) bool { return r >= 0x80 || !isNameByte(byte(r)) }) < 0
}

// looksLikeFlag reports whether a word is a flag and no value: -x, --name, --name=x.
func looksLikeFlag(word string) bool {
	if strings.HasPrefix(word, "--") {
		return len(word) > 2 && isLetter(word[2])
	}
	return len(word) == 2 && word[0] == '-' && isLetter(word[1])
}

// notSecret is a flag of this program: a guard that is named after its bucket.
const notSecret = "--tokens"

// secretNames are what the name of a secret holds, in small letters. A name of two
// words may be written with -, _, a blank or nothing between them.
var (
	secretNames = []string{"password", "passwd", "passphrase", "secret", "token", "credential", "authorization", "cookie"}
	keyNames    = []string{"api", "access", "private"} // followed by "key"
)

// secretName returns the length of the name of a secret at the beginning of s, else 0.
func secretName(s string) int {
	switch s[0] | 0x20 {
	case 'p', 's', 't', 'c', 'a':
	default:
		return 0
	}
	for _, name := range secretNames {
		if hasPrefixFold(s, name) {
			return len(name)
		}
	}
	for _, name := range keyNames {
		if !hasPrefixFold(s, name) {
			continue
		}
		n := len(name)
		if n < len(s) && strings.IndexByte("-_ ", s[n]) >= 0 {
			n++
		}
		if hasPrefixFold(s[n:], "key") {
			return n + len("key")
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

// maskEach returns s with Mask in place of each secret. secretAt returns where one begins
// and ends that is found at a place of s, of which done bytes are masked or passed; an
// end that is not behind the beginning is where the search goes on.
func maskEach(s string, secretAt func(i, done int) (from, to int)) string {
	var clean strings.Builder
	done := 0 // of s is in clean
	for i := 0; i < len(s); {
		from, to := secretAt(i, done)
		if from < to {
			clean.WriteString(s[done:from])
			clean.WriteString(Mask)
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
	quotes := quoteState{text: s}
	return maskEach(s, func(i, done int) (from, to int) {
		n := secretName(s[i:])
		if n == 0 {
			return i, i
		}
		begin, end := i, i+n
		for begin > done && isNameByte(s[begin-1]) {
			begin--
		}
		for end < len(s) && isNameByte(s[end]) {
			end++
		}
		v := named{text: s, begin: begin, end: end, quoted: quotes.openAt(begin)}
		if from, to = v.value(); from >= to {
			return end, end
		}
		return from, to
	})
}

// quoteState knows whether a place of a line is between double quotes.
type quoteState struct {
	text string
	at   int
	open bool
}

// openAt must be asked in ascending order.
func (q *quoteState) openAt(place int) bool {
	for ; q.at < place; q.at++ {
		switch q.text[q.at] {
		case '"':
			q.open = q.open != (q.at == 0 || q.text[q.at-1] != '\\')
		case '\n':
			q.open = false
		}
	}
	return q.open
}

// named is the name of a secret in a text.
type named struct {
	text       string
	begin, end int
	quoted     bool // it stands between double quotes
}

// value returns where the value of the name begins and ends; they are equal where it
// has none.
func (n *named) value() (from, to int) {
	s, name := n.text, n.text[n.begin:n.end]
	i := n.end
	for i < len(s) && strings.IndexByte(`]"'\`, s[i]) >= 0 {
		i++
	}
	closed := i > n.end // as in "name": value
	j := skipBlanks(s, i)
	switch {
	case j == len(s):
		return 0, 0
	case s[j] == '=':
		from = j + 1
		if from < len(s) && s[from] == '=' {
			return 0, 0 // a comparison
		}
		if from < len(s) && s[from] == '>' {
			from++
		}
		if j > i || from > j+1 { // NAME= at the end of a word has no value
			from = skipBlanks(s, from)
		}
		return n.extent(from, false)
	case i == j && s[i] == ':' && (closed || headerColon(s, n.begin, n.end)):
		from = skipBlanks(s, i+1)
		return n.extent(from, !closed && n.isHeader())
	case i == j || closed || name[0] != '-' || name == notSecret:
		return 0, 0
	}
	from, to = n.extent(j, false)
	if looksLikeFlag(s[from:to]) {
		return 0, 0
	}
	return from, to
}

// isHeader reports whether the value is the rest of the line: that of a header.
func (n *named) isHeader() bool {
	for i := n.begin; i < n.end; i++ {
		if hasPrefixFold(n.text[i:], "authorization") || hasPrefixFold(n.text[i:], "cookie") {
			return true
		}
	}
	before := strings.TrimRight(n.text[:n.begin], " \t<>*")
	return before == "" || strings.IndexByte("\n\"'=", before[len(before)-1]) >= 0
}

// extent returns where a value ends that begins at from.
func (n *named) extent(from int, line bool) (int, int) {
	s := n.text
	if from == len(s) {
		return from, from
	}
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
	to := len(s)
	if n := strings.IndexAny(s[from:], ends); n >= 0 {
		to = from + n
	}
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

// headerColon reports whether the colon at end parts a name from its value. It does
// not behind a path (token.go:12, /run/secret: not found), and in "::".
func headerColon(s string, begin, end int) bool {
	name := s[begin:end]
	switch {
	case strings.HasPrefix(s[end+1:], ":"), strings.Contains(name, "."), name == "tokens", name == notSecret:
		return false
	case begin > 0 && (s[begin-1] == '/' || s[begin-1] == '\\'):
		return false
	}
	return true
}

// maskSchemes masks what follows the schemes Bearer and Basic of HTTP.
func maskSchemes(s string) string {
	return maskEach(s, func(i, _ int) (from, to int) {
		if s[i]|0x20 != 'b' || i > 0 && isNameByte(s[i-1]) {
			return i, i
		}
		for _, scheme := range []string{"bearer", "basic"} {
			from := skipBlanks(s, i+len(scheme))
			if !hasPrefixFold(s[i:], scheme) || from == i+len(scheme) {
				continue
			}
			to := from + run(s[from:], "._~+/=-")
			if value := s[from:to]; isCredential(value) || scheme == "bearer" && !followsBearer(value) {
				return from, to
			}
		}
		return i, i
	})
}

// isCredential reports whether a word looks like base64 and not like a word of a
// language.
func isCredential(word string) bool {
	return len(word) >= 4 && strings.ContainsAny(word[1:], "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789=+")
}

// followsBearer reports whether a word is what texts about the scheme go on with.
func followsBearer(word string) bool {
	switch strings.ToLower(strings.TrimRight(word, ".")) {
	case "", "=", "-", "token", "tokens", "auth", "authentication", "authorization", "realm", "realm=", "error", "scheme",
		"credential", "credentials", "header", "is", "was", "not", "and", "or", "in", "for", "of":
		return true
	}
	return false
}

// tokenShapes are how the tokens of services begin.
var tokenShapes = []string{
	"ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_", "glpat-", "gldt-", "glrt-", "glcbt-", "glptt-", "xoxa-", "xoxb-", "xoxe-", "xoxo-", "xoxp-", "xoxr-", "xoxs-",
	"xapp-", "AKIA", "ASIA", "AIza", "ya29.", "sk-", "sk_live_", "sk_test_", "rk_live_", "rk_test_", "whsec_", "npm_", "hf_", "pypi-", "dckr_pat_", "dop_v1_", "shpat_", "SG.", "eyJ",
}

// leastToken is how long a token is at least behind its shape.
const leastToken = 3

// maskTokens masks words with the shape of a token.
func maskTokens(s string) string {
	return maskEach(s, func(i, _ int) (from, to int) {
		if i > 0 && isNameByte(s[i-1]) && s[i-1] != '.' {
			return i, i
		}
		return i, i + tokenAt(s[i:])
	})
}

// tokenAt returns the length of the token at the beginning of s, else 0.
func tokenAt(s string) int {
	for _, shape := range tokenShapes {
		rest, ok := strings.CutPrefix(s, shape)
		if !ok {
			continue
		}
		n := run(rest, "_.-")
		for n > 0 && rest[n-1] == '.' {
			n-- // of a sentence
		}
		if n < leastToken {
			return 0
		}
		plain := strings.Trim(rest[:n], "abcdefghijklmnopqrstuvwxyz_") == ""
		if shape[len(shape)-1] == '_' && plain && (strings.Contains(rest[:n], "_") || strings.HasPrefix(rest[n:], "=")) {
			return 0 // a name, as npm_config_registry is
		}
		return len(shape) + n
	}
	return 0
}

// run returns how many letters, digits and bytes of more s begins with.
func run(s, more string) int {
	for i := range len(s) {
		if !isAlphanumeric(s[i]) && strings.IndexByte(more, s[i]) < 0 {
			return i
		}
	}
	return len(s)
}

func skipBlanks(s string, i int) int {
	for i < len(s) && (s[i] == ' ' || s[i] == '\t') {
		i++
	}
	return min(i, len(s))
}

func isNameByte(b byte) bool {
	return isAlphanumeric(b) || b == '_' || b == '-' || b == '.'
}

func isLetter(b byte) bool { return 'a' <= b|0x20 && b|0x20 <= 'z' }

func isAlphanumeric(b byte) bool { return isLetter(b) || '0' <= b && b <= '9' }

func hasPrefixFold(s, prefix string) bool {
	return len(s) >= len(prefix) && strings.EqualFold(s[:len(prefix)], prefix)
}
