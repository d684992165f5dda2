package classify

// This file hides addresses and absolute paths from the rules for any command:
// what is in them says where something failed, not why. In
//
//	request to https://login.test/oauth/token failed, reason: EAI_AGAIN
//
// neither a login nor a token has failed.

import "strings"

// masked returns the text with the letters of addresses and absolute paths
// replaced by x, byte for byte. Digits, the dots and slashes, and a file's suffix
// are left.
func masked(text string) string {
	var b []byte
	for i := 0; i < len(text); i++ {
		if text[i] != '/' || i > 0 && !strings.ContainsRune(" \t\n\"'`=([<,:.~", rune(text[i-1])) {
			continue
		}
		end := i
		address := i+1 < len(text) && text[i+1] == '/'
		for end < len(text) && (!endsPath(text[end]) || address && text[end] == ':' && end+1 < len(text) && text[end+1] > ' ') {
			end++
		}
		last := i + strings.LastIndexByte(text[i:end], '/')
		if dot := strings.IndexByte(text[last:end], '.'); dot > 0 && !address {
			last += dot
		} else {
			last = end
		}
		if b == nil {
			b = []byte(text)
		}
		for k := i; k < last; k++ {
			if isLetter(b[k]) {
				b[k] = 'x'
			}
		}
		i = max(i, end-1)
	}
	if b == nil {
		return text
	}
	return string(b)
}

// endsPath reports whether a path or an address ends before the byte.
func endsPath(c byte) bool {
	return c <= ' ' || strings.IndexByte("\"'`<>()[]{},;|:", c) >= 0
}

func isLetter(c byte) bool { return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' }
