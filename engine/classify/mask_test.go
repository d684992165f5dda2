package classify

import "testing"

func TestMasked(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"", ""},
		{"read tcp: i/o timeout, and/or login", "read tcp: i/o timeout, and/or login"},
		{"request to https://login.test/oauth/token failed", "request to https://xxxxx.xxxx/xxxxx/xxxxx failed"},
		{`Get "https://h.test:8443/timeout?login=1": EOF`, `Get "https://x.xxxx:8443/xxxxxxx?xxxxx=1": EOF`},
		{"open /etc/login/token.json: no such file", "open /xxx/xxxxx/xxxxx.json: no such file"},
		{"open '/var/timeout'", "open '/xxx/xxxxxxx'"},
		{"(at ./spec/timeout_spec.rb:12)", "(at ./xxxx/xxxxxxx_xxxx.rb:12)"},
		{"HTTP/1.1 503 from h.test:443", "HTTP/1.1 503 from h.test:443"},
		{"java.net.SocketTimeoutException: x", "java.net.SocketTimeoutException: x"},
		{"--file=/srv/login.txt", "--file=/xxx/xxxxx.txt"},
		{"git@h.test:/srv/login", "git@h.test:/xxx/xxxxx"},
		{"requests.exceptions.ReadTimeout, socket.timeout 1.2.3",
			"requests.exceptions.ReadTimeout, socket.timeout 1.2.3"},
		{"unknown variable 'timeout' in `retry'", "unknown variable 'xxxxxxx' in `xxxxx'"},
		{"failed with 'ETIMEDOUT', code: 'timeout', reason \"timed out\"",
			"failed with 'ETIMEDOUT', code: 'timeout', reason \"timed out\""},
		{"/usr/bin/login: not found", "/xxx/xxx/xxxxx: not found"},
	} {
		if got := masked(c.text); got != c.want {
			t.Errorf("%q:\n got %q\nwant %q", c.text, got, c.want)
		}
	}
}
