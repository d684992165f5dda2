package probe

import (
	"bytes"
	"strings"
	"testing"

	"github.com/retrysh/retry/engine/address"
)

func TestParseAccepts(t *testing.T) {
	t.Parallel()
	for _, s := range []string{
		"tcp://db:5432",
		"TCP://db:5432",
		"tcp://127.0.0.1:1",
		"tcp://[::1]:65535",
		"tcp://[fe80::1%eth0]:22",
		"tcp://[fe80::1%25eth0]:22",
		"tcp://my_service.internal.:80",
		"tcp://123456789012:80",
		"http://auth:8080/health",
		"http://auth",
		"http://auth?ready",
		"https://user:p%40ss@auth:8443/a%20b?c#status=200-399&body=up%26running",
		"https://[2001:db8::1]/#insecure",
		"http://auth/#status=200-399,404",
		"http://auth/#body=a{1,3}",
		"http://auth/#body=state=(ok|up)",
		"unix:///run/docker.sock",
		"http://db/users/me@db",
		"http://db:80/users/me:x@db",
		"http://[::1]:80/users/me:x@db",
		"file:///tmp/a%20b",
		"file://localhost/tmp/x",
		"file:///",
		"http+unix:///run/docker.sock:/_ping",
		"http+unix:///run/docker.sock:/a:/b#status=200&method=HEAD",
		"http+unix:///run/a%3A/docker.sock",
		"http+unix://localhost/run/docker.sock:/",
		"HTTP+Unix:///run/docker.sock",
		"http://auth/#method=OPTIONS",
		"postgres://db:5432",
		"postgres://db",
		"postgresql://me:p%40ss@[::1]:5432/shop",
		"redis://db:6379/0",
		"mysql://db:3306/shop?",
		"dns://db.internal",
		"dns://localhost",
		"exec:pg_isready -h db",
		"exec: test -e 'a://b' ",
	} {
		target, err := Parse(s)
		if err != nil {
			t.Errorf("Parse(%q): %v", s, err)
			continue
		}
		if got := target.String(); got != strings.NewReplacer("p%40ss", "xxxxx", "?ready", "?xxxxx", "?c#",
			"?xxxxx#").Replace(s) {
			t.Errorf("Parse(%q).String() = %q", s, got)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("a", 64)
	for _, c := range []struct{ in, want string }{
		{"", "valid are tcp://"},
		{"db", `write "tcp://db:PORT"`}, {"8080", `write "tcp://localhost:8080"`}, {"./a", `write "file://$PWD/a"`},
		{"a b", "valid are tcp://"},
		{"db:5432", `write "tcp://db:5432"`},
		{"/run/ready", `write "file:///run/ready"`},
		{"ftp://db", `"ftp" is not a kind of target; valid are tcp://`},
		{"rediss://db", `"rediss" is not a kind of target`},
		{"://db:1", `"" is not a kind`},
		{"tcp://", "host is missing"},
		{"tcp://:80", "host is missing"},
		{"tcp://db", "port is missing"},
		{"tcp://db:", "bad port"},
		{"tcp://db:0", "valid are 1 to 65535"},
		{"tcp://db:65536", "valid are 1 to 65535"},
		{"tcp://db:+80", "valid are 1 to 65535"},
		{"tcp://db:-1", "valid are 1 to 65535"},
		{"tcp://db:http", "valid are 1 to 65535"},
		{"tcp://db:99999999999999999999", "valid are 1 to 65535"},
		{"tcp://db:80/", `nothing goes behind the port, not "/"`},
		{"tcp://db:80#status=200", "nothing goes behind the port"},
		{"tcp://me@db:80", "no user"},
		{"tcp://::1:80", "goes in brackets"},
		{"tcp://[::1:80", "closing bracket"},
		{"tcp://[::1]", "port is missing"},
		{"tcp://[::1]80", "can follow the brackets"},
		{"tcp://[127.0.0.1]:80", "not an IPv6 address"},
		{"tcp://[db]:80", "not an IPv6 address"},
		{"tcp://1.2.3.400:80", "not an IPv4 address"},
		{"tcp://1.2.3:80", "not an IPv4 address"},
		{"tcp://a..b:80", "empty part"},
		{"tcp://a b:80", "' ' cannot be in a name"},
		{"tcp://büro:80", "xn--"},
		{"tcp://" + long + ":80", "63 bytes"},
		{"tcp://" + strings.Repeat("a.", 130) + "b:80", "253 bytes"},
		{"http://", "host is missing"},
		{"http:///path", "host is missing"},
		{"http://db:x/", "bad port"},
		{"http://@db/", "user before the @"},
		{"http://%zz@db/", "bad escape"},
		{"http://db/%zz", "bad escape"},
		{"http://db/%4", "bad escape"},
		{"http://db/a\nb", "control character"},
		{"http://db/#", "unknown option"},
		{"http://db/#top", `unknown option "#top"`},
		{"http://db/#status", "bad #status"},
		{"http://db/#status=", "bad #status"},
		{"http://db/#status=2xx", "bad #status"},
		{"http://db/#status=399-200", "bad #status"},
		{"http://db/#status=200,", "bad #status"},
		{"http://db/#status=100", "valid are codes from 200 to 599"},
		{"http://db/#status=600", "valid are codes from 200 to 599"},
		{"http://db/#status=200&status=201", "given twice"},
		{"http://db/#body=", "expression is missing"},
		{"http://db/#body=(", "missing closing )"},
		{"http://db/#body=100%", "written %25"},
		{"http://db/#body=a&b", "written %26"},
		{"http://db/#insecure", "https:// only"},
		{"https://db/#insecure=1", "takes no value"},
		{"https://db/#insecure&insecure", "given twice"},
		{"http://db/#header", "colon behind its name is missing"},
		{"http://db/#header=", "colon behind its name is missing"},
		{"http://db/#header=X-A", "colon behind its name is missing"},
		{"http://db/#header=: b", "name is missing"},
		{"http://db/#header=X A: b", "not a name of a header"},
		{"http://db/#header=X-A:", "has no value"},
		{"http://db/#header=X-A: \t ", "has no value"},
		{"http://db/#header=X-A: b%0D%0AX-B: c", "control character"},
		{"http://db/#header=X-A: %00", "control character"},
		{"http://db/#header=X-A: b&header=x-a: c", "given twice"},
		{"http://db/#header=Content-Length: 5", "not yours to set"},
		{"http://db/#header=transfer-encoding: chunked", "not yours to set"},
		{"http://me:x@db/#header=Authorization: y", "of the user before the host already"},
		{"http://db/#header=X-A: 1&2", `unknown option "#xxxxx"`},
		{"http://db/#method", "bad #method"},
		{"http://db/#method=", "bad #method"},
		{"http://db/#method=head", "in capitals"},
		{"http://db/#method=GE T", "bad #method"},
		{"http://db/#method=CONNECT", "bad #method"},
		{"http://db/#method=GET&method=HEAD", "given twice"},
		{"http://db/#method=HEAD&body=x", "answer has no body"},
		{"http://db/" + strings.Repeat("a", 1<<20), "an address has at most 16384"},
		{"http://db/#header=X: " + strings.Repeat("a", 1<<20), "an address has at most 16384"},
		{strings.Repeat("a", 1<<20), "an address has at most"},
		{strings.Repeat("a", 1<<10) + "://x", "not a kind of target"},
		{"http://me:a/b@db/", "written %2F"},
		{"http://me:a#b@db/", "written %23"},
		{"http://me:a?b@db/", "written %3F"},
		{"http+unix://", "path is missing"},
		{"http+unix:///", "path is missing"},
		{"http+unix:///:/health", "path is missing"},
		{"http+unix://:/health", "path is missing"},
		{"http+unix://run/x.sock:/", "not an absolute path"},
		{"http+unix://%2Frun%2Fx.sock/", "not an absolute path"},
		{"http+unix:///x.sock:", "path of the request is missing"},
		{"http+unix:///x.sock:/%zz", "bad escape"},
		{"http+unix:///x.sock:/#insecure", "https:// only"},
		{"http+unix:///x.sock:/#color=red", `unknown option "#color"`},
		{"http+unix:///" + strings.Repeat("a", 200) + ":/", "a socket's has at most"},
		{"postgres://", "host is missing"},
		{"postgres://:5432", "host is missing"},
		{"postgres:///db", "host is missing"},
		{"postgres://db:0", "valid are 1 to 65535"},
		{"postgres://db:port", "valid are 1 to 65535"},
		{"postgres://db:5432#status=200", "takes no options"},
		{"postgresql://a:1,b:2/", "goes in brackets"},
		{"postgres://a%00b@db/", "NUL"},
		{"postgres://db/%zz", "bad escape"},
		{"redis://", "host is missing"},
		{"redis://db:65536", "valid are 1 to 65535"},
		{"redis://@db", "user before the @"},
		{"redis://db#x", "redis:// takes no options"},
		{"mysql://", "host is missing"},
		{"mysql://db:-1", "valid are 1 to 65535"},
		{"mysql://db:99999999999999999999", "valid are 1 to 65535"},
		{"mysql://a b", "' ' cannot be in a name"},
		{"mysql://" + strings.Repeat("a", 1<<20), "an address has at most"},
		{"unix://", "path is missing"},
		{"unix:///", "path is missing"},
		{"unix://run/x", "not an absolute path"},
		{"unix:///" + strings.Repeat("a", 200), "a socket's has at most"},
		{"file://", "path is missing"},
		{"file://host/x", "not an absolute path"},
		{"file://./x", "not an absolute path"},
		{"file:///x#insecure", "written %23"},
		{"file:///x?y", "written %3F"},
		{"file:///x%", "bad escape"},
		{"file:///x%00", "NUL"},
		{"dns://", "host is missing"},
		{"dns://db:53", `":" is not part of a name`},
		{"dns://8.8.8.8/db", `"/" is not part of a name`},
		{"exec:", "command is missing"},
		{"exec: \t", "command is missing"},
		{"exec://true", "no // goes before"},
		{"exec:a\x00b", "NUL"},
	} {
		_, err := Parse(c.in)
		if err == nil {
			t.Errorf("Parse(%q) accepted", c.in)
			continue
		}
		if len(err.Error()) > 1000 {
			t.Errorf("Parse(%.20q): an error of %d bytes", c.in, len(err.Error()))
		}
		if !strings.Contains(err.Error(), c.want) || !strings.HasPrefix(err.Error(), "bad target ") {
			t.Errorf("Parse(%q): %v; want %q in it", c.in, err, c.want)
		}
	}
}

func TestRequest(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ in, line, host, port string }{
		{"http://db", "GET / HTTP/1.1", "db", "80"},
		{"https://db", "GET / HTTP/1.1", "db", "443"},
		{"http://db:80/x", "GET /x HTTP/1.1", "db", "80"},
		{"https://db:80/x", "GET /x HTTP/1.1", "db:80", "80"},
		{"http://db:8080?q=a%20b c", "GET /?q=a%20b%20c HTTP/1.1", "db:8080", "8080"},
		{"http://[::1]:8080/ü", "GET /%C3%BC HTTP/1.1", "[::1]:8080", "8080"},
		{"http://[fe80::1%25lo]/#status=200", "GET / HTTP/1.1", "[fe80::1]", "80"},
		{"http://db/x#method=HEAD", "HEAD /x HTTP/1.1", "db", "80"},
		{"http+unix:///x.sock:/y?z", "GET /y?z HTTP/1.1", "localhost", ""},
		{"http+unix:///x.sock?z", "GET /?z HTTP/1.1", "localhost", ""},
		{"http+unix:///x.sock", "GET / HTTP/1.1", "localhost", ""},
	} {
		target, err := Parse(c.in)
		if err != nil {
			t.Errorf("Parse(%q): %v", c.in, err)
			continue
		}
		h := target.check.(*httpCheck)
		if got := written(t, h); !strings.HasPrefix(got, c.line+"\r\nHost: "+c.host+"\r\n") || h.port != c.port {
			t.Errorf("Parse(%q) asks port %s with %q", c.in, h.port, got)
		}
	}
}

func TestRequestHeaders(t *testing.T) {
	t.Parallel()
	const common = "Connection: close\r\n"
	for _, c := range []struct{ in, want string }{
		{"http://db", "GET / HTTP/1.1\r\nHost: db\r\nUser-Agent: retry\r\n" + common +
			"Accept: */*\r\nAccept-Encoding: identity\r\n"},
		{"http://db#header=X-A: b%26c&header=X-B:d",
			"GET / HTTP/1.1\r\nHost: db\r\nUser-Agent: retry\r\n" + common +
				"Accept: */*\r\nAccept-Encoding: identity\r\nX-A: b&c\r\nX-B: d\r\n"},
		{"http://db#header=host: a.example&header=user-agent: me",
			"GET / HTTP/1.1\r\nHost: a.example\r\nUser-Agent: me\r\n" + common +
				"Accept: */*\r\nAccept-Encoding: identity\r\n"},
		{"http://me:p%40@db", "GET / HTTP/1.1\r\nHost: db\r\nUser-Agent: retry\r\n" + common +
			"Accept: */*\r\nAccept-Encoding: identity\r\nAuthorization: Basic bWU6cEA=\r\n"},
		{"http://db#method=POST", "POST / HTTP/1.1\r\nHost: db\r\nUser-Agent: retry\r\n" + common +
			"Content-Length: 0\r\nAccept: */*\r\nAccept-Encoding: identity\r\n"},
	} {
		target, err := Parse(c.in)
		if err != nil {
			t.Errorf("Parse(%q): %v", c.in, err)
			continue
		}
		if got := written(t, target.check.(*httpCheck)); got != c.want+"\r\n" {
			t.Errorf("Parse(%q) asks %q", c.in, got)
		}
	}
}

// written is the request as the peer gets it.
func written(t *testing.T, c *httpCheck) string {
	t.Helper()
	var b strings.Builder
	if err := c.request.Write(&b); err != nil {
		t.Fatalf("%+v: %v", c.request, err)
	}
	return b.String()
}

func TestLooksLike(t *testing.T) {
	t.Parallel()
	for _, s := range []string{"tcp://", "TCP://db", "postgres://db:1", "http+unix:///x", "exec:true", "https://db",
		"dns://"} {
		if !LooksLike(s) {
			t.Errorf("%q does not look like a target", s)
		}
	}
	for _, s := range []string{"", "tcp", "tcp:/x", "curl", "db:5432", "/run/x", "s3://x", "://", "execute",
		"env=tcp://x"} {
		if LooksLike(s) {
			t.Errorf("%q looks like a target", s)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{
		"tcp://db:5432", "tcp://[fe80::1%25lo]:1", "https://u:p@h:1/p?q#status=200-399,404&body=x%26y&insecure",
		"unix:///run/x", "file://localhost/%41", "dns://a.b.", "exec:true", "://", "http://@:@/#&&=", "tcp://[",
		"http://h/%",
		"http+unix:///x.sock:/y?a=b#method=HEAD&header=A: b", "postgres://u:p@h:1/d?a=b", "redis://h", "mysql://[::1]",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		target, err := Parse(s)
		if err != nil {
			if target != nil || strings.ContainsAny(err.Error(), "\n\r\x1b\x00") {
				t.Fatalf("Parse(%q): %v, %q", s, target, err)
			}
			return
		}
		switch c := target.check.(type) {
		case *httpCheck:
			// Nothing typed may add a line to the request.
			request := written(t, c)
			head, rest, _ := strings.Cut(request, "\r\n\r\n")
			if rest != "" || strings.Count(head, "\n") != strings.Count(head, "\r\n") ||
				strings.Count(head, "\r\n") > 4+len(c.request.Header) ||
				(c.port == "" || c.host == "") != (c.socket != "") {
				t.Fatalf("Parse(%q) asks %q of %q port %q", s, request, c.host, c.port)
			}
		case *endpoint:
			if c.socket == "" && (c.host == "" || address.CheckPort(c.port) != nil) {
				t.Fatalf("Parse(%q) = %+v", s, c)
			}
		case *serverCheck:
			if c.host == "" || address.CheckPort(c.port) != nil || len(c.first) > maxTarget ||
				strings.HasPrefix(s, "postgres") && bytes.Count(c.first[8:], []byte{0}) > 5 {
				t.Fatalf("Parse(%q) = %+v", s, c)
			}
		case *fileCheck:
			if c.path == "" || strings.Contains(c.path, "\x00") {
				t.Fatalf("Parse(%q) = %+v", s, c)
			}
		}
	})
}
