package text

// This file masks the secrets of addresses.

import (
	"slices"
	"strings"
)

// maskLogins masks the passwords of the addresses in a text.
func maskLogins(s string) string {
	if !strings.Contains(s, ":") {
		return s
	}
	return eachPart(s, " \t\r\n\"`<>", func(word string) string {
		parts := strings.Split(word, "://")
		if len(parts) == 1 {
			return maskWithoutScheme(word)
		}
		before := parts[0]
		for i, part := range parts[1:] {
			end := len(part) // where the next address begins
			if i+2 < len(parts) {
				end -= len(scheme(part))
			}
			parts[i+1] = maskLogin(scheme(before), part[:end]) + part[end:]
			before = part
		}
		return strings.Join(parts, "://")
	})
}

// eachPart returns s with each of the parts between the separators replaced.
func eachPart(s, separators string, replace func(part string) string) string {
	var clean strings.Builder
	for s != "" {
		end := until(s, separators)
		clean.WriteString(replace(s[:end]))
		next := min(end+1, len(s))
		clean.WriteString(s[end:next])
		s = s[next:]
	}
	return clean.String()
}

// scheme returns the scheme that s ends with (RFC 3986, section 3.1).
func scheme(s string) string { return s[len(strings.TrimRight(s, alphanumerics+"+-.")):] }

// maskLogin masks the password in what follows scheme://. A password with a slash, '?' or
// '#', which should be escaped, looks like a port that is not a number.
func maskLogin(scheme, s string) string {
	scheme = strings.ToLower(scheme)
	authority := s[:until(s, "/?#")]
	at := strings.LastIndexByte(authority, '@')
	if at < 0 && (hasNoLogin(scheme, authority) || isHostPort(authority)) {
		return s
	}
	if at < 0 && (badPort(authority) || strings.HasPrefix(scheme, "redis") && authority != "") {
		at = strings.LastIndexByte(s, '@')
	}
	if at >= 0 {
		return maskUser(scheme, s[:at]) + s[at:]
	}
	if badPort(authority) { // user:password without a host
		user, _, _ := strings.Cut(authority, ":")
		return user + ":" + Mask + s[len(authority):]
	}
	return s
}

// maskUser masks a login. A user without a password is masked for HTTP and FTP, where it
// may be a token, and for Redis.
func maskUser(scheme, login string) string {
	user, password, colon := strings.Cut(login, ":")
	http := strings.Contains(scheme, "http")
	switch {
	case login == "[user:password": // of this program's messages
		return login
	case user != "" && !colon && (http || strings.HasPrefix(scheme, "ftp") || strings.HasPrefix(scheme, "redis")):
		return Mask
	case user != "" && http && (password == "" || password == "x-oauth-basic"):
		return Mask + ":" + password
	case password == "":
		return login
	}
	return user + ":" + Mask
}

// withoutLogin are schemes whose addresses have no login.
var withoutLogin = []string{"tcp", "udp", "tls", "dns", "file"}

// hasNoLogin reports whether what stands before a path is a host and a port by its scheme.
func hasNoLogin(scheme, authority string) bool {
	return slices.Contains(withoutLogin, scheme) && !strings.Contains(authority, "@")
}

// isHostPort reports whether an authority is a host with the name of a port that servers
// are asked for, or an IPv6 address without brackets.
func isHostPort(authority string) bool {
	_, port, _ := strings.Cut(strings.TrimRight(authority, ".,;:)]'\\"), ":")
	colons := strings.Count(authority, ":")
	return port == "http" || port == "https" || colons > 1 && strings.Trim(authority, ":.%"+digits+"abcdefABCDEF") == ""
}

// badPort reports whether an authority has a port that is neither a number nor a
// placeholder such as $PORT or {port}.
func badPort(authority string) bool {
	_, port, ok := strings.Cut(authority, ":")
	if !ok || strings.HasPrefix(authority, "[") {
		return false
	}
	rest := strings.TrimLeft(port, digits)
	switch {
	case rest == "", len(rest) < len(port) && isIn(":;,.)|&}]'\\", rest[0]), rest[0] == '{', rest[0] == '%':
		return false
	case rest[0] == '$':
		return strings.Trim(rest, "${}()'\\.,;:ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") != ""
	}
	return !strings.EqualFold(strings.TrimRight(rest, ".,;:)]'\\["), "port")
}

// notUsers are schemes of addresses that have an @ and no login.
var notUsers = []string{"mailto", "sip", "sips", "acct", "xmpp", "pkg", "npm"}

// maskWithoutScheme masks user:password@host.
func maskWithoutScheme(s string) string {
	at := strings.LastIndexByte(s, '@')
	if at < 0 || at+1 == len(s) || !isIn(alphanumerics+"[", s[at+1]) || strings.HasPrefix(s[at:], "@sha") {
		return s
	}
	user, password, _ := strings.Cut(s[:at], ":")
	if password == "" || password == Mask || strings.ContainsAny(user, "@/") || strings.Contains(password, "/") ||
		slices.Contains(notUsers, strings.ToLower(user)) {
		return s
	}
	return user + ":" + Mask + s[at:]
}

// MaskedAddress returns an address with Mask in place of the login, the values of its
// query, and those of options that may be secret. A target exec:COMMAND is a text.
func MaskedAddress(s string) string {
	if hasPrefixFold(s, "exec:") && !strings.HasPrefix(s[len("exec:"):], "//") {
		return MaskedCommand(s)
	}
	before, rest, ok := strings.Cut(s, "://")
	if ok && scheme(before) == before {
		s = before + "://" + maskLogin(before, rest)
	} else if at := strings.LastIndexByte(s, '@'); at >= 0 {
		user, _, colon := strings.Cut(s[:at], ":")
		s = Mask + s[at:]
		if colon && !strings.Contains(user, "/") {
			s = user + ":" + s
		}
	}
	address, options, hasOptions := strings.Cut(s, "#")
	address, query, hasQuery := strings.Cut(address, "?")
	if hasQuery {
		address += "?" + eachPart(query, "&;", func(field string) string {
			if number, ok := strings.CutPrefix(field, "db="); ok && strings.Trim(number, digits) == "" {
				return field // the number of a database
			}
			return maskField(field)
		})
	}
	if hasOptions {
		address += "#" + eachPart(options, "&", maskOption)
	}
	return maskEach(address, shapeAt)
}

// maskField masks the value of a field, or a field without one.
func maskField(field string) string {
	name, value, named := strings.Cut(field, "=")
	switch {
	case field == "", named && value == "":
		return field
	case !named:
		return Mask
	}
	return name + "=" + Mask
}

// maskOption masks the value of an option of a target. It shows a name without a value.
func maskOption(field string) string {
	name, value, named := strings.Cut(field, "=")
	switch strings.ToLower(name) {
	case "status", "method", "body":
		return field
	case "header":
		if header, _, ok := strings.Cut(value, ":"); ok && strings.Trim(header, nameBytes) == "" {
			return name + "=" + header + ": " + Mask
		}
	}
	if !named && len(name) <= len("insecure")+2 && strings.Trim(name, letters) == "" {
		return field
	}
	return maskField(field)
}
