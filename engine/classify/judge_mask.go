package classify

// This file hides addresses, hosts and paths from the rules for any command: what
// stands in them says where something failed, not why. In
//
//	request to https://login.test/oauth/token failed, reason: EAI_AGAIN
//
// neither a login nor a token has failed. The shape is left: the scheme, the
// dots and slashes, the port, a file's suffix and the line behind it, by which
// rules tell an address from a place in a source file.

import "strings"

// masked returns the text with the letters and digits of addresses and paths
// replaced by x, byte for byte.
func masked(text string) string {
	var b []byte
	last := 0 // where the last word ended
	for i := 0; i < len(text); i++ {
		if text[i] != '/' && text[i] != '.' {
			continue
		}
		start, end := i, i+1
		for start > last && !ends(text[start-1]) {
			start--
		}
		for end < len(text) && !ends(text[end]) {
			end++
		}
		if from, to := place(text[start:end]); from < to {
			if b == nil {
				b = []byte(text)
			}
			hide(b[start+from : start+to])
		}
		last, i = end, end-1
	}
	if b == nil {
		return text
	}
	return string(b)
}

// ends reports whether a word ends before the byte.
func ends(c byte) bool {
	switch c {
	case '"', '\'', '`', '<', '>', '(', ')', '[', ']', '{', '}', ',', ';', '|':
		return true
	}
	return c <= ' '
}

// place returns which part of a word is an address or a path; nothing if from
// is to.
func place(word string) (from, to int) {
	slash := strings.IndexByte(word, '/')
	if slash < 0 {
		if suffix := suffixAt(word, 0); suffix > 0 && strings.HasPrefix(afterSuffix(word[suffix:]), ":") {
			return 0, suffix // retry.c:12:
		}
		return hostIn(word)
	}
	if slash > 0 && slash+1 < len(word) && word[slash-1] == ':' { // https://host/path, host:/path
		from = slash
		if word[slash+1] == '/' {
			return from, len(word)
		}
	} else if k := strings.IndexByte(word[:slash], '='); k >= 0 { // file=/path
		from = k + 1
	}
	suffix := suffixAt(word, from)
	start := word[from:]
	if suffix == 0 && !strings.HasPrefix(start, "/") && !strings.HasPrefix(start, "./") && !strings.HasPrefix(start, "../") && !strings.HasPrefix(start, "~/") {
		return 0, 0 // read/write, HTTP/1.1
	}
	if suffix > 0 {
		return from, suffix
	}
	if k := strings.IndexByte(start, ':'); k >= 0 {
		return from, from + k
	}
	return from, len(word)
}

// hostIn returns where in a word the name of a host stands, such as in
// user@login.corp.test:22; nothing if from is to.
func hostIn(word string) (from, to int) {
	for from < len(word) {
		n := strings.IndexAny(word[from:], ":@=")
		if n < 0 {
			n = len(word) - from
		}
		if isHost(strings.TrimRight(word[from:from+n], ".!?")) {
			return from, from + n
		}
		from += n + 1
	}
	return 0, 0
}

// isHost reports whether s has the shape of a host's full name: three labels or
// more, none with a capital or an underscore, which tells it from the name of a
// class, and the last one of letters.
func isHost(s string) bool {
	last := strings.LastIndexByte(s, '.')
	if strings.Count(s, ".") < 2 || len(s)-last < 3 {
		return false
	}
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c != '.' && c != '-' && !('a' <= c && c <= 'z') && (!isDigit(c) || i > last) {
			return false
		}
	}
	return !strings.Contains(s, "..")
}

// suffixAt returns where the suffix of the file that the word names from there
// on begins, 0 where it has none: one to five letters and digits after the last
// dot, the first one a letter, and then the word's end or a line's number.
func suffixAt(word string, from int) int {
	name, _, _ := strings.Cut(word[from:], ":")
	dot := strings.LastIndexByte(strings.TrimRight(name, "."), '.')
	if dot <= 0 || dot+1 >= len(name) || !isLetter(name[dot+1]) {
		return 0
	}
	if rest := afterSuffix(name[dot+1:]); len(name)-dot-1-len(rest) > 5 || strings.Trim(rest, ".") != "" {
		return 0
	}
	return from + dot + 1
}

// afterSuffix returns what follows the letters and digits.
func afterSuffix(s string) string {
	return strings.TrimLeftFunc(s, func(r rune) bool { return r < 0x80 && (isLetter(byte(r)) || isDigit(byte(r))) })
}

// hide replaces letters and digits, but for those of a port.
func hide(b []byte) {
	for i := 0; i < len(b); i++ {
		if b[i] == ':' {
			for i+1 < len(b) && isDigit(b[i+1]) {
				i++
			}
		} else if isLetter(b[i]) || isDigit(b[i]) {
			b[i] = 'x'
		}
	}
}

func isLetter(c byte) bool { return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' }

func isDigit(c byte) bool { return '0' <= c && c <= '9' }
