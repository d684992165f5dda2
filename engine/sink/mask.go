package sink

// This file keeps passwords out of logs.

import "strings"

// masked is argv with the password of each scheme://user:password@host shown as
// xxxxx. What holds none is returned as it is.
func masked(argv []string) []string {
	for i, word := range argv {
		if clean := mask(word); clean != word {
			copied := append([]string(nil), argv...)
			for j := i; j < len(copied); j++ {
				copied[j] = mask(copied[j])
			}
			return copied
		}
	}
	return argv
}

// mask hides the passwords in a word: what stands between the first colon and
// the last @ of an authority (RFC 3986, section 3.2).
func mask(word string) string {
	var clean strings.Builder
	rest := word
	for {
		i := strings.Index(rest, "://")
		if i < 0 {
			break
		}
		i += len("://")
		end := strings.IndexAny(rest[i:], "/?# \t\r\n\"'`<>|;,")
		if end < 0 {
			end = len(rest) - i
		}
		authority := rest[i : i+end]
		clean.WriteString(rest[:i])
		if at := strings.LastIndexByte(authority, '@'); at >= 0 {
			if user, password, ok := strings.Cut(authority[:at], ":"); ok && password != "" {
				authority = user + ":xxxxx" + authority[at:]
			}
		}
		clean.WriteString(authority)
		rest = rest[i+end:]
	}
	if clean.Len() == 0 {
		return word
	}
	return clean.String() + rest
}
