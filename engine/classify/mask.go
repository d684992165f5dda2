package classify

// This file hides addresses and absolute paths from the rules for any command:
// what is in them says where something failed, not why. In
//
//	request to https://login.test/oauth/token failed, reason: EAI_AGAIN
//
// neither a login nor a token has failed. A name in quotes behind a word, as in
// "unknown variable 'timeout'", is hidden too.

import (
	"cmp"
	"strings"
)

// masked returns the text with the letters of addresses, absolute paths and quoted
// names replaced by x, byte for byte. Digits, the dots and slashes, and a file's suffix
// are left.
func masked(text string) string {
	var b []byte
	for i := 0; i < len(text); {
		hide, next := hidden(text, i)
		if hide > i && b == nil {
			b = []byte(text)
		}
		for j := i; j < hide; j++ {
			if isLetter(text[j]) {
				b[j] = 'x'
			}
		}
		i = max(i+1, next)
	}
	return cmp.Or(string(b), text)
}

// hidden returns where the text ends that is hidden from i on, 0 for none, and where the
// search goes on.
func hidden(text string, i int) (hide, next int) {
	if text[i] != '/' || i > 0 && strings.IndexByte(" \t\n\"'`=([<,:.~", text[i-1]) < 0 {
		hide = quotedName(text, i)
		return hide, hide + 1
	}
	end, name := i, i
	address := strings.HasPrefix(text[i:], "//")
	for ; end < len(text); end++ {
		port := address && text[end] == ':' && end+1 < len(text) && text[end+1] > ' '
		if endsPath(text[end]) && !port {
			break
		}
		if text[end] == '/' {
			name = end
		}
	}
	if dot := strings.IndexByte(text[name:end], '.'); dot > 0 && !address {
		return name + dot, end
	}
	return end, end
}

// quotedName returns where a name ends whose opening quote stands at i, behind a
// word and a blank: small letters, digits, "_", "-" and ".". It is 0 for none.
func quotedName(text string, i int) int {
	if i < 2 || i+1 >= len(text) || !strings.ContainsRune("'\"`", rune(text[i])) {
		return 0
	}
	if text[i-1] != ' ' || !isLetter(text[i-2]) || text[i+1] < 'a' || 'z' < text[i+1] {
		return 0
	}
	end := len(text) - len(strings.TrimLeft(text[i+1:], alphanumerics+"_-."))
	if end < len(text) && (text[end] == text[i] || text[end] == '\'') {
		return end
	}
	return 0
}

const alphanumerics = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"

// endsPath reports whether a path or an address ends before the byte.
func endsPath(c byte) bool {
	return c <= ' ' || strings.IndexByte("\"'`<>()[]{},;|:", c) >= 0
}

func isLetter(c byte) bool { return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' }
