package address

import (
	"strings"
	"testing"
)

func TestHostPort(t *testing.T) {
	t.Parallel()
	for in, want := range map[string][2]string{
		"db": {"db", ""}, "db:80": {"db", "80"}, "a_b.c.:1": {"a_b.c.", "1"}, "[::1]": {"::1", ""},
		"[::1]:65535":      {"::1", "65535"},
		"[fe80::1%25lo]:1": {"fe80::1%lo", "1"}, "127.0.0.1:1": {"127.0.0.1", "1"},
	} {
		if host, port, err := HostPort(in); host != want[0] || port != want[1] || err != nil {
			t.Errorf("HostPort(%q) = %q, %q, %v", in, host, port, err)
		}
	}
	for _, in := range []string{"", ":80", "db:", "db:0", "db:65536", "db:S3CRET", "::1", "[::1", "[::1]x", "[db]",
		"a..b", "1.2.3", "a b", "ü", strings.Repeat("a", 64)} {
		if host, port, err := HostPort(in); err == nil || strings.Contains(err.Error(), "S3CRET") {
			t.Errorf("HostPort(%q) = %q, %q, %v", in, host, port, err)
		}
	}
}

func TestSplitUser(t *testing.T) {
	t.Parallel()
	for in, want := range map[string][3]string{
		"h/p?q": {"", "h", "/p?q"}, "u:p@h:1/x@y": {"u:p", "h:1", "/x@y"}, "u:p@q@h": {"u:p@q", "h", ""},
	} {
		user, authority, path, err := SplitUser(in)
		if user != want[0] || authority != want[1] || path != want[2] || err != nil {
			t.Errorf("SplitUser(%q) = %q, %q, %q, %v", in, user, authority, path, err)
		}
	}
	for _, in := range []string{"@h", "u:S3CRET/x@h", "u:S3CRET#@h"} {
		if _, _, _, err := SplitUser(in); err == nil || strings.Contains(err.Error(), "S3CRET") {
			t.Errorf("SplitUser(%q): %v", in, err)
		}
	}
}

func TestUnescape(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{"": "", "a%20b": "a b", "%41%e4%00": "A\xe4\x00", "+": "+"} {
		if got, err := Unescape(in); got != want || err != nil {
			t.Errorf("Unescape(%q) = %q, %v", in, got, err)
		}
	}
	for _, in := range []string{"%", "%4", "%zz", "a%", "%+1"} {
		if got, err := Unescape(in); err == nil {
			t.Errorf("Unescape(%q) = %q", in, got)
		}
	}
}

func FuzzAddress(f *testing.F) {
	f.Add("u:p@[::1]:80/x")
	f.Fuzz(func(t *testing.T, s string) {
		if _, authority, _, err := SplitUser(s); err == nil {
			if host, port, err := HostPort(authority); err == nil &&
				(CheckHost(host) != nil && !strings.Contains(host, ":") || port != "" && CheckPort(port) != nil) {
				t.Errorf("HostPort(%q) = %q, %q", authority, host, port)
			}
		}
		_, _ = Unescape(s)
	})
}
