package sink

import (
	"strings"
	"testing"
)

func TestMask(t *testing.T) {
	for in, want := range map[string]string{
		"https://u:secret@host/x?y=1":          "https://u:xxxxx@host/x?y=1",
		"postgres://u:a@b:c@host:5432/db":      "postgres://u:xxxxx@host:5432/db",
		"https://u@host":                       "https://u@host",
		"https://host:8080/a@b":                "https://host:8080/a@b",
		"curl https://a:b@c and ftp://d:e@f/g": "curl https://a:xxxxx@c and ftp://d:xxxxx@f/g",
		"https://:token@host":                  "https://:xxxxx@host",
		"git@host:repo":                        "git@host:repo",
		"":                                     "", "://": "://", "x://:@": "x://:@",
	} {
		if got := mask(in); got != want {
			t.Errorf("mask(%q) = %q, want %q", in, got, want)
		}
	}
	argv := []string{"curl", "https://u:secret@host", "-o", "x"}
	if got := masked(argv); got[1] != "https://u:xxxxx@host" || argv[1] != "https://u:secret@host" || len(got) != 4 {
		t.Errorf("masked: %q, and the argv became %q", got, argv)
	}
	if plain := []string{"true"}; &masked(plain)[0] != &plain[0] {
		t.Error("what holds no password is copied")
	}
}

func FuzzMask(f *testing.F) {
	for _, s := range []string{"https://u:p@h", "://", "a://b:c@d://e:f@g", "x://:@@"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if again := mask(mask(s)); again != mask(s) {
			t.Errorf("mask(%q) = %q, and again %q", s, mask(s), again)
		}
		if !strings.Contains(s, "://") && mask(s) != s {
			t.Errorf("mask(%q) = %q", s, mask(s))
		}
	})
}
