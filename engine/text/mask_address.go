package text

// This file masks the secrets of addresses.

import "strings"

// maskLogins masks the passwords of the addresses in a text.
func maskLogins(s string) string {
	if !strings.Contains(s, ":") {
		return s
	}
	var clean strings.Builder
	for s != "" {
		end := strings.IndexAny(s, " \t\r\n\"`<>")
		if end < 0 {
			end = len(s)
		}
		clean.WriteString(maskWord(s[:end]))
		next := end
		for next < len(s) && strings.IndexByte(" \t\r\n\"`<>", s[next]) >= 0 {
			next++
		}
		clean.WriteString(s[end:next])
		s = s[next:]
	}
	return clean.String()
}

// maskWord masks the passwords in a text without blanks.
func maskWord(s string) string {
	if !strings.Contains(s, "://") {
		return maskWithoutScheme(s)
	}
	var clean strings.Builder
	for s != "" {
		scheme, rest, _ := cutScheme(s)
		end := len(rest) // where the next address begins
		if before, _, more := strings.Cut(rest, "://"); more {
			end = len(before) - schemeLen(before)
		}
		clean.WriteString(s[:len(s)-len(rest)])
		clean.WriteString(maskLogin(scheme, rest[:end]))
		s = rest[end:]
	}
	return clean.String()
}

// cutScheme cuts s behind its first "://", and returns the scheme before that.
func cutScheme(s string) (scheme, rest string, ok bool) {
	before, rest, ok := strings.Cut(s, "://")
	return strings.ToLower(before[len(before)-schemeLen(before):]), rest, ok
}

// schemeLen is the length of the scheme that s ends with (RFC 3986, section 3.1).
func schemeLen(s string) int {
	for i := len(s); i > 0; i-- {
		if c := s[i-1]; !isAlphanumeric(c) && c != '+' && c != '-' && c != '.' {
			return len(s) - i
		}
	}
	return len(s)
}

// maskLogin masks the password in what follows scheme://. A slash, '?' or '#' in a
// password should have been escaped; it looks like a host and a port then, which is
// not a number.
func maskLogin(scheme, s string) string {
	end := strings.IndexAny(s, "/?#")
	if end < 0 {
		end = len(s)
	}
	at := strings.LastIndexByte(s[:end], '@')
	if at < 0 && (badPort(s[:end]) || strings.HasPrefix(scheme, "redis") && end > 0) {
		at = strings.LastIndexByte(s, '@')
	}
	if at >= 0 {
		return maskUser(scheme, s[:at]) + s[at:]
	}
	if user, _, _ := strings.Cut(s[:end], ":"); badPort(s[:end]) { // user:password without a host
		return user + ":" + Mask + s[end:]
	}
	return s
}

// maskUser masks a login. A user without a password is a token for HTTP, and a slip for Redis.
func maskUser(scheme, login string) string {
	user, password, colon := strings.Cut(login, ":")
	http := strings.Contains(scheme, "http")
	token := http || strings.HasPrefix(scheme, "redis")
	switch {
	case login == "[user:password": // of a message that says what is valid
		return login
	case user != "" && token && !colon:
		return Mask
	case user != "" && http && (password == "" || password == "x-oauth-basic"):
		return Mask + ":" + password
	case password == "":
		return login
	}
	return user + ":" + Mask
}

// badPort reports whether an authority has a port that cannot be one, nor stand for
// one: $PORT, {port}.
func badPort(authority string) bool {
	_, port, ok := strings.Cut(authority, ":")
	if !ok || strings.HasPrefix(authority, "[") {
		return false
	}
	rest := strings.TrimLeft(port, "0123456789")
	switch {
	case rest == "", len(rest) < len(port) && strings.IndexByte(":;,.)|&}]'\\", rest[0]) >= 0:
		return false
	case rest[0] == '{', rest[0] == '%':
		return false
	case rest[0] == '$':
		return strings.Trim(rest, "${}()'\\.,;:ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") != ""
	}
	return !strings.EqualFold(strings.TrimRight(rest, ".,;:)]'\\["), "port")
}

// maskWithoutScheme masks user:password@host.
func maskWithoutScheme(s string) string {
	at := strings.LastIndexByte(s, '@')
	if at < 0 || at+1 == len(s) || !isAlphanumeric(s[at+1]) && s[at+1] != '[' || strings.HasPrefix(s[at:], "@sha") {
		return s
	}
	user, password, ok := strings.Cut(s[:at], ":")
	if !ok || password == "" || password == Mask || strings.ContainsAny(user, "@/") || strings.Contains(password, "/") {
		return s
	}
	switch strings.ToLower(user) {
	case "mailto", "sip", "sips", "acct", "xmpp", "pkg", "npm":
		return s
	}
	return user + ":" + Mask + s[at:]
}

// MaskedAddress returns an address with its secrets replaced by Mask: the login, the
// values of its query, and of its options all but those that hold no secret. A target
// exec:COMMAND is masked as a text.
func MaskedAddress(s string) string {
	if hasPrefixFold(s, "exec:") && !strings.HasPrefix(s[len("exec:"):], "//") {
		return Masked(s)
	}
	scheme, rest, ok := cutScheme(s)
	if ok && len(scheme)+len("://")+len(rest) == len(s) {
		rest = s[:len(s)-len(rest)] + maskLogin(scheme, rest)
	} else if rest = s; strings.Contains(s, "@") {
		rest = maskUnknownLogin(s)
	}
	rest, options, hasOptions := strings.Cut(rest, "#")
	rest, query, hasQuery := strings.Cut(rest, "?")
	if hasQuery {
		rest += "?" + maskFields(query, "&;", func(name, value string) string {
			if name == "db" && strings.Trim(value, "0123456789") == "" {
				return value
			}
			return Mask
		})
	}
	if hasOptions {
		rest += "#" + maskFields(options, "&", maskOption)
	}
	return maskTokens(rest)
}

// MaskedValue returns the value of a flag of this program as it may be shown.
func MaskedValue(flag, value string) string {
	switch flag {
	case "wait-for", "wait-gone", "retry-when", "store", "otlp", "statsd":
		return MaskedAddress(value)
	}
	return Masked(value)
}

// maskUnknownLogin masks what stands before the last @ of an address without a
// scheme.
func maskUnknownLogin(s string) string {
	at := strings.LastIndexByte(s, '@')
	if user, _, ok := strings.Cut(s[:at], ":"); ok && !strings.Contains(user, "/") {
		return user + ":" + Mask + s[at:]
	}
	return Mask + s[at:]
}

// maskFields masks the values of fields, and fields that have none.
func maskFields(s, separators string, mask func(name, value string) string) string {
	var clean strings.Builder
	for s != "" {
		end := strings.IndexAny(s, separators)
		if end < 0 {
			end = len(s)
		}
		name, value, hasValue := strings.Cut(s[:end], "=")
		switch {
		case hasValue && value != "":
			clean.WriteString(name + "=" + mask(name, value))
		case hasValue:
			clean.WriteString(name + "=")
		case name != "":
			clean.WriteString(mask("", name))
		}
		if s = s[end:]; s != "" {
			clean.WriteByte(s[0])
			s = s[1:]
		}
	}
	return clean.String()
}

// maskOption masks the value of an option of a target. One without a value is shown
// where it is a name.
func maskOption(name, value string) string {
	switch strings.ToLower(name) {
	case "status", "method", "body":
		return value
	case "header":
		if header, _, ok := strings.Cut(value, ":"); ok && run(header, "-_.") == len(header) {
			return header + ": " + Mask
		}
	case "":
		if len(value) <= len("insecure")+2 && strings.IndexFunc(value, func(r rune) bool { return r >= 0x80 || !isLetter(byte(r)) }) < 0 {
			return value
		}
	}
	return Mask
}
