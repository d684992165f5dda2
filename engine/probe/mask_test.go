package probe

import (
	"strings"
	"testing"
)

func TestSecretsAreNeverShown(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ in, want string }{
		{"http://me:s3cret@db/", "http://me:xxxxx@db/"},
		{"http://me:s3cret@db:0/", "http://me:xxxxx@db:0/"},
		{"postgres://me:s3cret@db:5432/x", "postgres://me:xxxxx@db:5432/x"},
		{"redis://:s3cret@db", "redis://:xxxxx@db"},
		{"tcp://me:s3cret@db:5432", "tcp://me:xxxxx@db:5432"},
		{"http://me:a@s3cret@db/#nonsense", "http://me:xxxxx@db/#nonsense"},
		{"http://me:s3/s3cret@db/", "http://me:xxxxx@db/"},
		{"http://me:s3?s3cret@db/", "http://me:xxxxx@db/"},
		{"http://me:s3#s3cret@db/", "http://me:xxxxx@db/"},
		{"http://db/?token=s3cret", "http://db/?token=xxxxx"},
		{"http://db?a=s3cret&b&c=s3cret;d=s3cret#status=200", "http://db?a=xxxxx&b&c=xxxxx&d=xxxxx#status=200"},
		{"http://db/?a=s3cret=s3cret", "http://db/?a=xxxxx"},
		{"http+unix:///x.sock:/y?token=s3cret", "http+unix:///x.sock:/y?token=xxxxx"},
		{"postgres://me@db/x?password=s3cret", "postgres://me@db/x?password=xxxxx"},
		{"http://db/#header=Authorization: Bearer s3cret&body=x", "http://db/#header=Authorization: xxxxx&body=x"},
		{"http://db/#header=A:s3cret&header=B: s3cret", "http://db/#header=A: xxxxx&header=B: xxxxx"},
		{"http://db/#header=A: s3cret%0a", "http://db/#header=A: xxxxx"},
		{"http://db:x/?token=s3cret", "http://db:x/?token=xxxxx"},
		{"file:///x?token=s3cret", "file:///x?token=xxxxx"},
		{"file://x?token=s3cret", "file://x?token=xxxxx"},
		{"tcp://db:80/?token=s3cret", "tcp://db:80/?token=xxxxx"},
		{"db:80/?token=s3cret", "db:80/?token=xxxxx"},
		{"ftp://db/?token=s3cret", "ftp://db/?token=xxxxx"},
		{"exec:curl -f 'http://me:s3cret@db/?a=s3cret' \"https://h/?b=s3cret\"", "exec:curl -f 'http://me:xxxxx@db/?a=xxxxx' \"https://h/?b=xxxxx\""},
		{"exec:psql URL=postgres://me:s3cret@db/x && :// x://", "exec:psql URL=postgres://me:xxxxx@db/x && :// x://"},
		{"exec://me:s3cret@db", "exec://me:xxxxx@db"},
	} {
		text := ""
		if target, err := Parse(c.in); err != nil {
			text = strings.ReplaceAll(err.Error(), `\"`, `"`)
		} else {
			text = target.String()
		}
		if strings.Contains(text, "s3cret") || !strings.Contains(text, c.want) {
			t.Errorf("Parse(%q) shows %q", c.in, text)
		}
		if again := Masked(c.want); again != c.want {
			t.Errorf("Masked(%q) = %q", c.want, again)
		}
	}
}

// FuzzMasked looks for secrets in what is shown, whatever stands around them.
func FuzzMasked(f *testing.F) {
	f.Add("db", "/x#y", "&c=d#e")
	f.Add("[::1]:80", "?a@b", "")
	f.Fuzz(func(t *testing.T, host, path, rest string) {
		if strings.Contains(host+path+rest, "s3cret") {
			t.Skip()
		}
		for _, s := range []string{
			"http://me:s3cret@" + host + path,
			"http://h/?token=s3cret" + rest,
			"http://h/?a=b&token=s3cret" + rest,
			"http://h/#body=x&header=A: s3cret" + rest,
			"exec:curl 'http://h/?token=s3cret'" + rest,
		} {
			shown := Masked(s)
			if strings.Contains(shown, "s3cret") {
				t.Fatalf("Masked(%q) = %q", s, shown)
			}
			if again := Masked(shown); again != shown {
				t.Fatalf("Masked(%q) = %q", shown, again)
			}
		}
	})
}
