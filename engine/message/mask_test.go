package message

import (
	"strings"
	"testing"
)

func TestMasked(t *testing.T) {
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
		if got := Masked(in); got != want {
			t.Errorf("Masked(%q) = %q, want %q", in, got, want)
		}
	}
}

func FuzzMasked(f *testing.F) {
	for _, s := range []string{"https://u:p@h", "://", "a://b:c@d://e:f@g", "x://:@@"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if again := Masked(Masked(s)); again != Masked(s) {
			t.Errorf("Masked(%q) = %q, and again %q", s, Masked(s), again)
		}
		if !strings.Contains(s, "://") && Masked(s) != s {
			t.Errorf("Masked(%q) = %q", s, Masked(s))
		}
	})
}
