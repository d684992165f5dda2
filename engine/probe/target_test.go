package probe

import (
	"strings"
	"testing"
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
		"http://auth?ready=1",
		"https://user:p%40ss@auth:8443/a%20b?c=d#status=200-399&body=up%26running",
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
		if got := target.String(); got != strings.Replace(s, "p%40ss", "xxxxx", 1) {
			t.Errorf("Parse(%q).String() = %q", s, got)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("a", 64)
	for _, c := range []struct{ in, want string }{
		{"", "valid are tcp://"},
		{"db", "valid are tcp://"},
		{"db:5432", `write "tcp://db:5432"`},
		{"/run/ready", `write "file:///run/ready"`},
		{"postgres://db:5432", `"postgres" is no kind of target; valid are tcp://`},
		{"://db:1", `"" is no kind`},
		{"tcp://", "host is missing"},
		{"tcp://:80", "host is missing"},
		{"tcp://db", "port is missing"},
		{"tcp://db:", `bad port ""`},
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
		{"tcp://[::1]80", "cannot follow the brackets"},
		{"tcp://[127.0.0.1]:80", "no IPv6 address"},
		{"tcp://[db]:80", "no IPv6 address"},
		{"tcp://1.2.3.400:80", "no IPv4 address"},
		{"tcp://1.2.3:80", "no IPv4 address"},
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
		{"http://db/%zz", `bad escape "%zz"`},
		{"http://db/%4", `bad escape "%4"`},
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
		{"unix://", "path is missing"},
		{"unix:///", "path is missing"},
		{"unix://run/x", "no absolute path"},
		{"unix:///" + strings.Repeat("a", 200), "a socket's has at most"},
		{"file://", "path is missing"},
		{"file://host/x", "no absolute path"},
		{"file://./x", "no absolute path"},
		{"file:///x#insecure", "written %23"},
		{"file:///x?y", "written %3F"},
		{"file:///x%", "bad escape"},
		{"file:///x%00", "NUL"},
		{"dns://", "host is missing"},
		{"dns://db:53", `":" is no part of a name`},
		{"dns://8.8.8.8/db", `"/" is no part of a name`},
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
		if !strings.Contains(err.Error(), c.want) || !strings.HasPrefix(err.Error(), "bad target ") {
			t.Errorf("Parse(%q): %v; want %q in it", c.in, err, c.want)
		}
	}
}

func TestPasswordIsNeverShown(t *testing.T) {
	t.Parallel()
	for _, s := range []string{
		"http://me:s3cret@db/",
		"http://me:s3cret@db:0/",
		"postgres://me:s3cret@db:5432/x",
		"tcp://me:s3cret@db:5432",
		"http://me:a@s3cret@db/#nonsense",
		"http://me:s3/s3cret@db/",
	} {
		text := ""
		if target, err := Parse(s); err != nil {
			text = err.Error()
		} else {
			text = target.String()
		}
		if strings.Contains(text, "s3cret") || !strings.Contains(text, "me:xxxxx@") {
			t.Errorf("Parse(%q) shows %q", s, text)
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
	} {
		target, err := Parse(c.in)
		if err != nil {
			t.Errorf("Parse(%q): %v", c.in, err)
			continue
		}
		h := target.check.(*httpCheck)
		if !strings.HasPrefix(h.request, c.line+"\r\nHost: "+c.host+"\r\n") || h.port != c.port {
			t.Errorf("Parse(%q) asks port %s with %q", c.in, h.port, h.request)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{
		"tcp://db:5432", "tcp://[fe80::1%25lo]:1", "https://u:p@h:1/p?q#status=200-399,404&body=x%26y&insecure",
		"unix:///run/x", "file://localhost/%41", "dns://a.b.", "exec:true", "://", "http://@:@/#&&=", "tcp://[", "http://h/%",
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
			head, rest, _ := strings.Cut(c.request, "\r\n\r\n")
			if rest != "" || strings.Count(head, "\n") != strings.Count(head, "\r\n") ||
				strings.Count(head, "\r\n") > 6 || c.port == "" || c.host == "" {
				t.Fatalf("Parse(%q) asks %q of %q port %q", s, c.request, c.host, c.port)
			}
		case *tcpCheck:
			if c.host == "" || checkPort(c.port) != nil {
				t.Fatalf("Parse(%q) = %+v", s, c)
			}
		case *fileCheck:
			if c.path == "" || strings.Contains(c.path, "\x00") {
				t.Fatalf("Parse(%q) = %+v", s, c)
			}
		}
	})
}
