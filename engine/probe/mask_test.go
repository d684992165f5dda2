package probe

import (
	"strings"
	"testing"
)

// No error of Parse, and no text of a target, holds a secret that was typed.
func TestSecretsAreNeverShown(t *testing.T) {
	t.Parallel()
	for _, s := range []string{
		"http://me:s3cret@db/", "http://s3cret@db/", "redis://me:s3cret", "tcp://me:s3cret@db:5432",
		"postgres://me:s3cret@db,me:s3cret@db2/", "postgres://me:s3cret:x", "http://me:a%s3cret@db/",
		"http://me:s3/s3cret@db/", "http://me:s3#s3cret@db/",
		"unix://me:s3cret@db", "file://me:s3cret@db", "me:s3cret@db:1", "s3cret@db", "me:s3cret@db://x",
		"dns://me:s3cret@db",
		"http://db/?s3cret", "http://db:x/?token=s3cret", "tcp://db:80/?token=s3cret",
		"http://db/#HEADER=A: s3cret", "http://db/#haeder=A: s3cret", "http://db/#header=A: s3cret%0a",
		"http://db/#header=A: s3cret%s3", "http://db/#x s3cret",
		"http://db/#header=Bearer s3cret: x", "exec:curl --token s3cret http://me:s3cret@db/", "exec://me:s3cret@db",
		"http+unix://me:s3cret@db", "ftp://me:s3cret@db/",
	} {
		shown := ""
		if target, err := Parse(s); err != nil {
			shown = err.Error()
		} else {
			shown = target.String()
		}
		if strings.Contains(strings.ToLower(shown), "s3cret") {
			t.Errorf("Parse(%q) shows %q", s, shown)
		}
	}
}
