package probe

// This file masks secrets in a target, since its text goes to logs: a password
// before the host, the values of a query, the values of headers.

import "strings"

// mask stands for what is not shown.
const mask = "xxxxx"

// Masked returns the target s as it may be shown. Of an exec: target, the
// addresses in its command are masked.
func Masked(s string) string {
	if _, ok := cutPrefixFold(s, "exec:"); ok {
		return maskedCommand(s)
	}
	return maskedAddress(s)
}

// maskedCommand masks every word of a command that is an address.
func maskedCommand(s string) string {
	var b strings.Builder
	for {
		i := strings.Index(s, "://")
		if i < 0 {
			b.WriteString(s)
			return b.String()
		}
		start := i - len(schemeBefore(s[:i]))
		end := len(s)
		if n := strings.IndexAny(s[i:], " \t\r\n\"'`<>|()"); n >= 0 {
			end = i + n
		}
		b.WriteString(s[:start])
		b.WriteString(maskedAddress(s[start:end]))
		s = s[end:]
	}
}

// schemeBefore returns the scheme that s ends with (RFC 3986, section 3.1).
func schemeBefore(s string) string {
	for i := len(s); i > 0; i-- {
		if c := s[i-1]; !isAlphanumeric(c) && c != '+' && c != '-' && c != '.' {
			return s[i:]
		}
	}
	return s
}

// maskedAddress masks the password and the values of the query and of #header.
func maskedAddress(s string) string {
	s = maskedPassword(s)
	address, fragment, hasFragment := strings.Cut(s, "#")
	s = maskedQuery(address)
	if hasFragment {
		s += "#" + maskedOptions(fragment)
	}
	return s
}

// maskedPassword masks a password before the host. A slash, '?' or '#' in it
// should have been escaped: then it looks like the host and a port.
func maskedPassword(s string) string {
	scheme, rest, ok := strings.Cut(s, "://")
	if !ok || strings.ContainsAny(scheme, ": ") {
		return s
	}
	at := userEnd(rest)
	if at < 0 {
		return s
	}
	user, _, ok := strings.Cut(rest[:at], ":")
	if !ok {
		return s
	}
	return scheme + "://" + user + ":" + mask + rest[at:]
}

// userEnd returns where the '@' behind user:password stands, -1 if there is none.
func userEnd(s string) int {
	end := authorityEnd(s)
	if at := strings.LastIndexByte(s[:end], '@'); at >= 0 {
		return at
	}
	if badlyEscaped(s[:end]) {
		return strings.LastIndexByte(s, '@')
	}
	return -1
}

// badlyEscaped reports whether an authority looks like the beginning of
// user:password: what should be the port is not a number.
func badlyEscaped(authority string) bool {
	_, port, ok := strings.Cut(authority, ":")
	return ok && !strings.HasPrefix(authority, "[") && strings.Trim(port, "0123456789") != ""
}

// authorityEnd returns where user, host and port end.
func authorityEnd(s string) int {
	if end := strings.IndexAny(s, "/?#"); end >= 0 {
		return end
	}
	return len(s)
}

// maskedQuery masks every value behind the first '?'.
func maskedQuery(s string) string {
	before, query, ok := strings.Cut(s, "?")
	if !ok {
		return s
	}
	fields := strings.FieldsFunc(query, func(r rune) bool { return r == '&' || r == ';' })
	for i, field := range fields {
		if name, value, ok := strings.Cut(field, "="); ok && value != "" {
			fields[i] = name + "=" + mask
		}
	}
	return before + "?" + strings.Join(fields, "&")
}

// maskedOptions masks the values of #header.
func maskedOptions(s string) string {
	options := strings.Split(s, "&")
	for i, option := range options {
		if value, ok := strings.CutPrefix(option, "header="); ok {
			if name, _, ok := strings.Cut(value, ":"); ok {
				options[i] = "header=" + name + ": " + mask
			}
		}
	}
	return strings.Join(options, "&")
}
