package message

// This file keeps passwords out of what is told.

import "strings"

// Masked hides the passwords of addresses (scheme://user:password@host) in a
// text: what stands between the first colon and the last @ of an authority (RFC 3986, section 3.2).
func Masked(text string) string {
	var clean strings.Builder
	rest := text
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
		return text
	}
	return clean.String() + rest
}
