package text

// This file finds secrets by their shape, and by the flags and words of known commands.

import (
	"slices"
	"strings"
)

// shapeAt finds a word with the shape of a token, and the secret of a known address.
func shapeAt(s string, i int) (from, to int) {
	for _, shape := range knownShapes()[s[i]] {
		if !strings.HasPrefix(s[i:], shape.prefix) {
			continue
		}
		begin := i + len(shape.prefix)
		inside := i > 0 && isIn(nameBytes, s[i-1]) && isIn(alphanumerics, s[i])
		switch {
		case shape.url && (!inside || s[i-1] == '.'):
			return begin, begin + until(s[begin:], " \t\r\n\"'`<>?#")
		case shape.url || inside && s[i-1] != '.':
			continue
		}
		if end := begin + tokenLength(shape, s[begin:]); end > begin {
			return i, end
		}
	}
	return i, i
}

// tokenLength is how much of what follows the beginning of a token belongs to it, 0 for an
// ordinary word.
func tokenLength(shape shape, rest string) int {
	word := strings.TrimRight(rest[:run(rest, nameBytes)], ".") // without the end of a sentence
	plain := strings.Trim(word, "abcdefghijklmnopqrstuvwxyz_-.") == ""
	named := strings.HasSuffix(shape.prefix, "_") && strings.Trim(word, "abcdefghijklmnopqrstuvwxyz_") == "" &&
		(strings.Contains(word, "_") || strings.HasPrefix(rest[len(word):], "=")) // npm_config_registry
	if len(word) < 3 || named || shape.digit && plain {
		return 0
	}
	return len(word)
}

// endingAt finds the value of a name that ends as that of a secret does: NAME=value, and in
// a command the value behind a flag or a header.
func endingAt(command bool) func(s string, i int) (from, to int) {
	return func(s string, i int) (from, to int) {
		if !isIn("=: \t", s[i]) || i == 0 || !command && s[i] != '=' {
			return i, i
		}
		begin := i
		for begin > 0 && isIn(nameBytes, s[begin-1]) {
			begin--
		}
		if name := s[begin:i]; name != "" && valueFollows(s, begin, i, command) {
			v := namedSecret{text: s, begin: begin, end: i}
			if from, to = v.value(); from < to && s[from:to] != Mask && !isPlain(name, s[from:to]) &&
				!isCount(command, name, s[from:to]) {
				return from, to
			}
		}
		return i, i
	}
}

// valueFollows reports whether the name at begin is that of a secret, whose value follows
// at i.
func valueFollows(s string, begin, i int, command bool) bool {
	name, flag := s[begin:i], s[begin] == '-'
	switch {
	case flag:
		return command && s[i] != ':' && flagSecret(name)
	case s[i] != '=':
		return s[i] == ':' && endsSecret(name)
	case begin > 0 && isIn("?&", s[begin-1]) && knownNames().is(queryKind, strings.ToLower(name)):
		return true
	}
	return endsSecret(name)
}

// isCount reports whether a value is a number as in "PASS=12 FAIL=3" or "?code=404".
func isCount(command bool, name, value string) bool {
	return !command && strings.Trim(value, digits) == "" && (name == "PASS" || strings.EqualFold(name, "code"))
}

// maskKeys masks the private keys of PEM and OpenSSH.
func maskKeys(s string) string {
	const begin, end = "-----BEGIN ", "-----END "
	if !strings.Contains(s, begin) {
		return s
	}
	var clean strings.Builder
	for {
		before, rest, found := strings.Cut(s, begin)
		clean.WriteString(before)
		if !found {
			return clean.String()
		}
		kind, body, closed := strings.Cut(rest, "-----")
		clean.WriteString(begin + kind)
		if !closed {
			return clean.String()
		}
		clean.WriteString("-----")
		s = body
		if !strings.Contains(kind, "PRIVATE KEY") || len(kind) > longestEnd {
			continue
		}
		at := strings.Index(body, end)
		if at < 0 {
			at = len(body)
		}
		if strings.TrimSpace(body[:at]) != "" {
			clean.WriteString(Mask)
			s = body[at:]
		}
	}
}

// lookBack is how many bytes before a flag may have its command.
const lookBack = 256

// optionAt finds the secret in a flag of a known command.
func optionAt(s string, i int) (from, to int) {
	if i == 0 || !isIn(" \t", s[i-1]) || isIn(" \t", s[i]) {
		return i, i
	}
	word := s[i : i+until(s[i:], " \t\r\n;|&")]
	if s[i] != '-' && !isOracle(word) {
		return i, i
	}
	command := s[max(0, i-lookBack):i]
	words := strings.Fields(command[strings.LastIndexAny(command, ";|&\n")+1:])
	if s[i] != '-' {
		form, _ := toolOf(words, "")
		from, to = secretOf(form, word)
		return i + from, i + to
	}
	word = word[:until(word, "=\"'")]
	form, length := toolOf(words, word)
	if form == "" {
		return i, i
	}
	at := i + length
	if length == len(word) && at < len(s) && isIn("= \t", s[at]) {
		if form == joined {
			return i, i
		}
		at = skipBlanks(s, at+1)
	}
	n := namedSecret{text: s, begin: i}
	begin, end := n.extent(at, false)
	from, to = secretOf(form, s[begin:end])
	return begin + from, begin + to
}

// wordOption finds the secret in a word of a command, which is, or follows, a flag of a
// known command.
func wordOption(before []string, word string) (from, to int) {
	if len(before) == 0 || word == "" {
		return 0, 0
	}
	if word[0] == '-' {
		if form, length := toolOf(before, word[:until(word, "=")]); form != "" {
			if length < len(word) && word[length] == '=' {
				length++
			}
			from, to = secretOf(form, word[length:])
			return length + from, length + to
		}
	}
	last := len(before) - 1
	if flag := before[last]; len(flag) > 1 && flag[0] == '-' && !looksLikeFlag(word) {
		if form, length := toolOf(before[:last], flag); length == len(flag) && form != joined {
			return secretOf(form, word)
		}
	}
	if isOracle(word) {
		form, _ := toolOf(before, "")
		return secretOf(form, word)
	}
	return 0, 0
}

// The forms of values (secrets/tools.txt).
const (
	joined   = "joined"
	oracle   = "user/"
	anyUser  = "user:?" // of a command that is not known
	userFlag = "-u"
)

// nearWords is how many words at the beginning of a command, and before a flag, may name the
// flag's command: the time to mask a command is linear in its words.
const nearWords = 32

// toolOf returns the form of the value of a flag of the command that the words before it
// name, and how much of the word is the flag. With word "", it is that of a word that is no
// flag.
func toolOf(before []string, word string) (form string, length int) {
	if len(before) > 2*nearWords {
		before = slices.Concat(before[:nearWords], before[len(before)-nearWords:])
	}
	for n, w := range slices.Backward(before) { // the command behind sudo and the like
		for _, t := range knownTools().named(commandName(w)) {
			switch {
			case t.word != "" && !slices.Contains(before[n+1:], t.word):
			case word == "" && t.form == oracle:
				return oracle, 0
			case word != "":
				if length := t.flag(word); length > 0 {
					return t.form, length
				}
			}
		}
	}
	if word == userFlag || word == "--user" || word == "--proxy-user" {
		return anyUser, len(word)
	}
	return "", 0
}

// commandName is the name of a command in the list: without its directory, .exe, and a colon
// behind it.
func commandName(word string) string {
	name := strings.TrimRight(word[strings.LastIndexAny(word, `/\`)+1:], ":")
	if strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789_-") != "" {
		name = strings.TrimSuffix(strings.ToLower(name), ".exe")
	}
	return name
}

// flag returns how much of a word is a flag of the tool, 0 for none: a long flag whole, one
// letter alone, with its value in the word, or behind other letters.
func (t *tool) flag(word string) int {
	for _, flag := range t.flags {
		switch {
		case word == flag:
			return len(flag)
		case len(flag) > 2 || strings.HasPrefix(word, "--"):
		case strings.HasPrefix(word, flag):
			return len(flag)
		case t.form != joined && strings.HasSuffix(word, flag[1:]) && strings.Trim(word[1:], letters) == "" &&
			len(word) <= 6:
			return len(word)
		}
	}
	return 0
}

// isOracle reports whether a word may be a login as user/password@host.
func isOracle(word string) bool {
	slash := strings.IndexByte(word, '/')
	return slash > 0 && !strings.Contains(word, "://") && strings.LastIndexByte(word, '@') > slash+1
}

// secretOf returns the secret in a value of the form.
func secretOf(form, value string) (from, to int) {
	behind := func(separator string) (int, int) {
		if i := strings.Index(value, separator); i >= 0 {
			return i + len(separator), len(value)
		}
		return 0, 0
	}
	switch form {
	case "all", joined:
		return 0, len(value)
	case "user:":
		return behind(":")
	case "user%":
		return behind("%")
	case "user,":
		return behind(",")
	case "pass:":
		if strings.HasPrefix(value, "pass:") {
			return behind(":")
		}
	case "cookie":
		if strings.Contains(value, "=") {
			return 0, len(value)
		}
	case anyUser:
		if _, secret, _ := strings.Cut(value, ":"); strings.Trim(secret, digits) != "" &&
			!strings.Contains(value, "://") {
			return behind(":")
		}
	case oracle:
		if i, at := strings.IndexByte(value, '/'), strings.LastIndexByte(value, '@'); 0 < i && i+1 < at {
			return i + 1, at
		}
	}
	return 0, 0
}

// netrcAt finds the password in the words of a netrc: machine h login u password S.
func netrcAt(s string, i int) (from, to int) {
	const name = "password"
	if s[i] != 'p' || !strings.HasPrefix(s[i:], name) || i == 0 || !isIn(" \t\n", s[i-1]) {
		return i, i
	}
	from = i + len(name) + run(s[i+len(name):], " \t\n")
	if from == i+len(name) || !isNetrc(strings.Fields(s[max(0, i-lookBack):i])) {
		return i, i
	}
	return from, from + until(s[from:], " \t\r\n\"'`")
}

// isNetrc reports whether words end as a netrc does before a password: machine h, or login
// u behind it, or at the beginning of a line.
func isNetrc(words []string) bool {
	n := len(words)
	switch {
	case n < 2 || isIn(",.:;", words[n-1][len(words[n-1])-1]):
		return false
	case words[n-2] == "machine":
		return true
	}
	return words[n-2] == "login" && (n == 2 || n >= 3 && words[n-3] == "default" || n >= 4 && words[n-4] == "machine")
}
