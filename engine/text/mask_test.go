package text

import (
	"slices"
	"strings"
	"testing"
)

// TestMasked holds the table of what is masked in a text. S3CRET stands for a secret
// and must not be left.
func TestMasked(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		// Passwords of addresses.
		"https://u:S3CRET@host/x?y=1":                     "https://u:xxxxx@host/x?y=1",
		"postgres://u:S3CRET@b:c@host:5432/db":            "postgres://u:xxxxx@host:5432/db",
		"postgres://u:S3CRET@h,u:S3CRET@h2/":              "postgres://u:xxxxx@h2/",
		"curl https://a:S3CRET@c and ftp://d:S3CRET@f/g.": "curl https://a:xxxxx@c and ftp://d:xxxxx@f/g.",
		"https://:S3CRET@host":                            "https://:xxxxx@host",
		"https://S3CRET@host/":                            "https://xxxxx@host/",
		"https://S3CRET:@host/":                           "https://xxxxx:@host/",
		"https://S3CRET:x-oauth-basic@host/":              "https://xxxxx:x-oauth-basic@host/",
		"git+https://S3CRET@host/":                        "git+https://xxxxx@host/",
		"redis://u:S3CRET":                                "redis://u:xxxxx",
		"redis://u:S3CRET/x@h/0":                          "redis://u:xxxxx@h/0",
		"http://u:S3CRET?x@h/":                            "http://u:xxxxx@h/",
		"u:S3CRET@h:1":                                    "u:xxxxx@h:1",
		"--url=u:S3CRET@h":                                "--url=u:xxxxx@h",
		"\"redis://u:S3CRET@h\": no":                      "\"redis://u:xxxxx@h\": no",
		"http://a:80,http://u:S3CRET@h":                   "http://a:80,http://u:xxxxx@h",
		"unix://u:S3CRET@h":                               "unix://u:xxxxx@h",
		"bad target \"ftp://S3CRET@h\"":                   "bad target \"ftp://xxxxx@h\"",
		// Options of commands.
		"mysql -u a -pS3CRET db":                    "mysql -u a -pxxxxx db",
		"x; /usr/bin/mysqldump -p'S3CRET S3CRET' a": "x; /usr/bin/mysqldump -p'xxxxx' a",
		// Names.
		"TOKEN=S3CRET cmd":                                "TOKEN=xxxxx cmd",
		"AWS_SECRET_ACCESS_KEY=S3CRET":                    "AWS_SECRET_ACCESS_KEY=xxxxx",
		"--password=S3CRET x":                             "--password=xxxxx x",
		"mysql --password S3CRET x":                       "mysql --password xxxxx x",
		"x --Api-Key S3CRET":                              "x --Api-Key xxxxx",
		"API key: S3CRET":                                 "API key: xxxxx",
		"apikey=S3CRET, accessKeyId=S3CRET":               "apikey=xxxxx accessKeyId=xxxxx",
		"private_key = S3CRET":                            "private_key = xxxxx",
		"\"password\": \"S3CRET\\\"S3CRET\", \"user\": 1": "\"password\": \"xxxxx\", \"user\": 1",
		"{\"token\":\"S3CRET\"}":                          "{\"token\":\"xxxxx\"}",
		"'passphrase' => 'S3CRET S3CRET'":                 "'passphrase' => 'xxxxx'",
		"PASSWD='S3CRET S3CRET' x":                        "PASSWD='xxxxx' x",
		"say \"x \\\"token=S3CRET\\\" y\"":                "say \"x \\\"token=xxxxx\\\" y\"",
		"https://h/?a=b&access_token=S3CRET&c=d#e":        "https://h/?a=b&access_token=xxxxx&c=d#e",
		"auth[password]=S3CRET":                           "auth[password]=xxxxx",
		"bad token: Bearer S3CRET at line 3":              "bad token: xxxxx at line 3",
		"bad token: S3CRET at line 3":                     "bad token: xxxxx at line 3",
		"my-credential: S3CRET":                           "my-credential: xxxxx",
		// Headers.
		"Authorization: Digest a=\"S3CRET\", b=S3CRET":    "Authorization: xxxxx",
		"> Set-Cookie: a=S3CRET; S3CRET\n> X":             "> Set-Cookie: xxxxx\n> X",
		"curl -H 'Private-Token: S3CRET S3CRET' http://h": "curl -H 'Private-Token: xxxxx' http://h",
		"curl -H \"X-Api-Key: S3CRET S3CRET\" http://h":   "curl -H \"X-Api-Key: xxxxx\" http://h",
		"bad \"http://h/#header=Authorization: S3CRET x\": no": "bad \"http://h/#header=Authorization: " +
			"xxxxx\": no",
		"-H Authorization:S3CRET":                                    "-H Authorization:xxxxx",
		"sent Bearer S3CRET, got 401":                                "sent Bearer xxxxx, got 401",
		"BEARER\tS3CRET.S3CRET":                                      "BEARER\txxxxx",
		"basic dTpTM0NSRVQ= was refused":                             "basic xxxxx was refused",
		"key ghp_S3CRET.":                                            "key xxxxx.",
		"github_pat_S3CRET_1 glpat-S3CRET xoxb-1-S3CRET":             "xxxxx xxxxx xxxxx",
		"AKIAS3CRET sk-S3CRET npm_S3CRET hf_S3CRET eyJS3CRET.e30.x_": "xxxxx xxxxx xxxxx xxxxx xxxxx",
		"(https://h/sk-proj-S3CRET)":                                 "(https://h/xxxxx)",
	} {
		got := Masked(in)
		if got != want {
			t.Errorf("Masked(%q)\n got %q\nwant %q", in, got, want)
		}
		if again := Masked(got); again != got {
			t.Errorf("Masked(%q) = %q", got, again)
		}
	}
}

// TestMaskedKeeps holds what looks like a secret and is none.
func TestMaskedKeeps(t *testing.T) {
	t.Parallel()
	for _, s := range []string{
		"", ":", "@", "://", "x://:@", "a:@b", "ssh://git@host/x", "postgres://u@h/db", "git@host:repo", "host:port",
		"https://host:8080/a@b", "dial tcp://h:80: connection refused", "valid is tcp://host:port",
		"(see https://h:443)",
		"redis://[user:password@]host:port[/db]", "write user:password@, or :password@", "http://localhost:$PORT/",
		"http://h:{port}/", "http://[::1]:80/",
		"nginx:1.25@sha256:0123456789abcdef", "mailto:me@example.org", "npm:react@18", "registry/x:y@1",
		"token.go:12: syntax error", "test_token::test_x", "/run/secrets/db_password: no such file",
		"open secrets.yaml: permission denied",
		`"get-token": not found in PATH`, `"/etc/passwd": cannot be executed: permission denied`,
		"open my-secret: no such file or directory",
		"token == nil", "TOKEN= cmd", "--token", "password", "password:", "--password --verbose",
		"--tokens: \"x\" is not a number", "--tokens 500", "tokens: 3 left", "Basic authentication failed",
		"Bearer token is missing", "Bearer",
		"npm_config_registry=x", "hf_hub_download failed", "ask-me sk-x", "task-sk-button", "eyJ", "ghp_",
		"mysql -p db", "mysql x; mkdir -px", "make -j2 -pn",
		"keep-alive", "monkey=1", "api: key", "TIMEOUT=3 x=y",
	} {
		if got := Masked(s); got != s {
			t.Errorf("Masked(%q) = %q", s, got)
		}
	}
}

func TestMaskedArgs(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ in, want []string }{
		{[]string{"curl", "https://u:S3CRET@h", "-o", "x"}, []string{"curl", "https://u:xxxxx@h", "-o", "x"}},
		{[]string{"x", "--password", "S3CRET S3CRET", "y"}, []string{"x", "--password", "xxxxx", "y"}},
		{[]string{"x", "--token", "-S3CRET"}, []string{"x", "--token", "xxxxx"}},
		{[]string{"x", "-storepasswd", "S3CRET"}, []string{"x", "-storepasswd", "xxxxx"}},
		{[]string{"docker", "login", "--password-stdin", "-u", "me"},
			[]string{"docker", "login", "--password-stdin", "-u", "me"}},
		{[]string{"x", "--no-token", "--verbose"}, []string{"x", "--no-token", "--verbose"}},
		{[]string{"env", "TOKEN=S3CRET S3CRET&S3CRET\"S3CRET", "x"}, []string{"env", "TOKEN=xxxxx", "x"}},
		{[]string{"x", "--password=S3CRET S3CRET"}, []string{"x", "--password=xxxxx"}},
		{[]string{"helm", "--set", "auth.password=S3CRET"}, []string{"helm", "--set", "auth.password=xxxxx"}},
		{[]string{"curl", "-H", "Cookie: a=S3CRET; b=\"S3CRET\""}, []string{"curl", "-H", "Cookie: xxxxx"}},
		{[]string{"curl", "-H", "X-Api-Key:S3CRET"}, []string{"curl", "-H", "X-Api-Key:xxxxx"}},
		{[]string{"sh", "-ec", "TOKEN=S3CRET curl http://h; true"},
			[]string{"sh", "-ec", "TOKEN=xxxxx curl http://h; true"}},
		{[]string{"retry", "--tokens", "500", "x"}, []string{"retry", "--tokens", "500", "x"}},
		{[]string{"env", "mariadb", "-pS3CRET \"S3CRET", "-P1"}, []string{"env", "mariadb", "-pxxxxx", "-P1"}},
		{[]string{"mkdir", "-px"}, []string{"mkdir", "-px"}},
		{[]string{"ghp_S3CRET", ""}, []string{"xxxxx", ""}},
	} {
		in := slices.Clone(c.in)
		if got := MaskedArgs(in); !slices.Equal(got, c.want) || !slices.Equal(in, c.in) {
			t.Errorf("MaskedArgs(%q) = %q, and the words became %q", c.in, got, in)
		}
	}
	if plain := []string{"true"}; &MaskedArgs(plain)[0] != &plain[0] {
		t.Error("words without a secret are copied")
	}
}

func TestMaskedAddress(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"http://me:S3CRET@db:0/":               "http://me:xxxxx@db:0/",
		"http://S3CRET@db/":                    "http://xxxxx@db/",
		"redis://:S3CRET@db":                   "redis://:xxxxx@db",
		"redis://S3CRET@db":                    "redis://xxxxx@db",
		"redis://u:S3CRET":                     "redis://u:xxxxx",
		"redis://u:12/S3CRET@db/3":             "redis://u:xxxxx@db/3",
		"redis+unix:///x?db=1&password=S3CRET": "redis+unix:///x?db=1&password=xxxxx",
		"redis+unix:///x@y":                    "redis+unix:///x@y",
		"redis:u:S3CRET@h":                     "redis:xxxxx@h",
		"redis:/u:S3CRET@h:6379/1":             "redis:xxxxx@h:6379/1",
		"u:S3CRET@h:1":                         "u:xxxxx@h:1",
		"u:top/S3CRET@h":                       "u:xxxxx@h",
		"http://me:a@S3CRET@db/#nonsense":      "http://me:xxxxx@db/#nonsense",
		"http://me:S3CRET#S3CRET@db/":          "http://me:xxxxx@db/",
		"http://db/?S3CRET":                    "http://db/?xxxxx",
		"http://db?a=S3CRET&S3CRET&c=S3CRET;d=S3CRET#status=200": "http://db?" +
			"a=xxxxx&xxxxx&c=xxxxx;d=xxxxx#status=200",
		"http://db/?a=": "http://db/?a=",
		"http://db/#header=Authorization: Bearer S3CRET&body=x": "http://db/#header=Authorization: " +
			"xxxxx&body=x",
		"http://db/#HEADER=A:S3CRET&header=S3CRET": "http://db/#HEADER=A: xxxxx&header=xxxxx",
		"http://db/#haeder=A: S3CRET&method=HEAD&insecure&x-S3CRET": "http://db/#" +
			"haeder=xxxxx&method=HEAD&insecure&xxxxx",
		"postgres://u:S3CRET@h,u:S3CRET@h2/": "postgres://u:xxxxx@h2/",
		"exec:curl 'http://me:S3CRET@db/?token=S3CRET&b=1' --token S3CRET": "exec:curl " +
			"'http://me:xxxxx@db/?token=xxxxx&b=1' --token xxxxx",
		"exec://me:S3CRET@db":    "exec://me:xxxxx@db",
		"file:///x?token=S3CRET": "file:///x?token=xxxxx",
		"file:dir":               "file:dir",
		"":                       "",
	} {
		got := MaskedAddress(in)
		if got != want {
			t.Errorf("MaskedAddress(%q)\n got %q\nwant %q", in, got, want)
		}
		if again := MaskedAddress(got); again != got {
			t.Errorf("MaskedAddress(%q) = %q", got, again)
		}
	}
}

// FuzzMasked looks for secrets in what is shown, whatever stands around them.
func FuzzMasked(f *testing.F) {
	f.Add("db", "/x#y", "&c=d#e")
	f.Add("[::1]:80", "?a@b", "")
	f.Add("\"'\\", "token: ", "Authorization: ")
	f.Fuzz(func(t *testing.T, host, before, behind string) {
		if strings.Contains(host+before+behind, "S3CRET") {
			t.Skip()
		}
		for _, s := range []string{
			before + " http://me:S3CRET@" + host + " " + behind,
			before + " TOKEN=S3CRET " + behind,
			before + " --password=S3CRET " + behind,
			before + "\nAuthorization: S3CRET\n" + behind,
			before + " Bearer S3CRET " + behind,
			before + " ghp_S3CRET " + behind,
		} {
			if shown := Masked(s); strings.Contains(shown, "S3CRET") {
				t.Errorf("Masked(%q) = %q", s, shown)
			}
		}
		for _, argv := range [][]string{
			{before, "--token", "S3CRET" + behind}, {before, "TOKEN=S3CRET" + behind},
			{before, "Cookie: S3CRET" + behind},
		} {
			if shown := MaskedArgs(argv)[1:]; strings.Contains(strings.Join(shown, " "), "S3CRET") &&
				!strings.HasSuffix(before, "c") && !namesSecret(before) {
				t.Errorf("MaskedArgs(%q) = %q", argv, shown)
			}
		}
		for _, s := range []string{
			"http://me:S3CRET@" + host + behind, "http://h/?token=S3CRET" + behind, "http://h/?S3CRET&" + behind,
			"http://h/#body=x&header=A: S3CRET" + behind,
		} {
			if shown := MaskedAddress(s); strings.Contains(shown, "S3CRET") {
				t.Errorf("MaskedAddress(%q) = %q", s, shown)
			}
		}
	})
}
