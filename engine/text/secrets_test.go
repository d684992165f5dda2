package text

import (
	"maps"
	"slices"
	"strings"
	"testing"
)

// hidden are words of a command, which MaskedArgs masks, also in a script. S3CRET must
// not be left.
var hidden = []string{
	// Names.
	"env MYSQL_PWD=S3CRET x", "env SSHPASS=S3CRET x", "env REDISCLI_AUTH=S3CRET x", "env DB_PASS=S3CRET x",
	"env db_pass=S3CRET x", "env ADMIN_PW=S3CRET x",
	"env PGPASS=S3CRET x", "env PASS=S3CRET x", "env STORAGE_KEY=S3CRET x", "env STRIPE_KEY=S3CRET x",
	"env PROXY_AUTH=S3CRET x", "env AccountKey=S3CRET x",
	"npm config set _auth=S3CRET", "npm config set //registry.npmjs.org/:_auth=S3CRET",
	"x AccountName=a;AccountKey=S3CRET;EndpointSuffix=b", "x Server=h;Uid=u;Pwd=S3CRET;",
	"x --pass S3CRET", "x --pass=S3CRET", "x --bearer S3CRET", "x --otp 123S3CRET", "x --otp=S3CRET",
	"x --pin S3CRET", "x --db-pass S3CRET", "x --auth S3CRET",
	"x --account-key S3CRET", "x --account-key=S3CRET", "x --master_key S3CRET", "helm --set db.pass=S3CRET",
	"x --pw S3CRET", "x --root-pw=S3CRET", "x --sasl-pwd S3CRET",
	// Flags of commands.
	"curl -u U:S3CRET http://h", "curl -uU:S3CRET http://h", "curl -su U:S3CRET http://h",
	"curl --user U:S3CRET http://h", "curl --user=U:S3CRET http://h",
	"curl --proxy-user U:S3CRET http://h", "curl -U U:S3CRET http://h", "/usr/bin/curl -u U:S3CRET http://h",
	"sudo curl -u U:S3CRET http://h", "x -u U:S3CRET",
	"curl -b a=S3CRET http://h", "curl --cookie a=S3CRET http://h", "curl --oauth2-bearer S3CRET http://h",
	"http -a U:S3CRET h", "wget --user U --password S3CRET h",
	"sshpass -p S3CRET ssh h", "sshpass -pS3CRET ssh h", "redis-cli -a S3CRET ping", "redis-cli -h h -a S3CRET ping",
	"redis-cli --pass S3CRET",
	"docker login -u me -p S3CRET h", "podman login -p S3CRET h", "docker login --password S3CRET",
	"ldapsearch -x -D cn=a -w S3CRET -b dc=x", "ldapsearch -xw S3CRET",
	"zip -P S3CRET a.zip b", "zip -rP S3CRET a.zip b", "unzip -P S3CRET a.zip", "7z a -pS3CRET a.7z b",
	"openssl rsa -passin pass:S3CRET -in k", "openssl enc -pass pass:S3CRET",
	"openssl req -passout pass:S3CRET", "mysql -u a -pS3CRET db", "mysqldump -pS3CRET db",
	"smbclient //h/s -U u%S3CRET", "smbclient -Uu%S3CRET //h/s", "sqlplus u/S3CRET@h", "sqlplus -S u/S3CRET@//h:1521/x",
	"mongosh -u a -p S3CRET h", "sqlcmd -S h -U sa -P S3CRET", "ipmitool -H h -U a -P S3CRET",
	"mosquitto_pub -u a -P S3CRET", "snmpget -v2c -c S3CRET h", "lftp -u a,S3CRET h", "rclone x --pass S3CRET",
	// Addresses.
	"curl https://hooks.slack.com/services/T0S3CRET/B0S3CRET/S3CRET",
	"curl https://discord.com/api/webhooks/123/S3CRET", "curl https://ptb.discord.com/api/webhooks/123/S3CRET",
	"curl https://discordapp.com/api/webhooks/1/S3CRET",
	"curl https://a.webhook.office.com/webhookb2/S3CRET@S3CRET/IncomingWebhook/S3CRET",
	"curl https://outlook.office.com/webhook/S3CRET", "curl https://api.telegram.org/bot123:S3CRET/sendMessage",
	"curl https://hc-ping.com/S3CRET", "curl -m 10 https://hc-ping.com/S3CRET/fail", "curl https://hchk.io/S3CRET",
	"curl https://a.blob.core.windows.net/c?sv=1&sig=S3CRET",
	"curl https://b.s3.amazonaws.com/k?X-Amz-Date=1&X-Amz-Signature=S3CRET",
	"curl https://storage.googleapis.com/b?X-Goog-Signature=S3CRET&x=1",
	"curl https://h/api/f?code=S3CRET", "curl https://maps.googleapis.com/x?key=S3CRET&a=b",
	"curl https://h/?a=b&key=S3CRET", "curl https://h/?pwd=S3CRET", "git clone https://oauth2:S3CRET@h/x.git",
	// Tokens.
	"x hvs.S3CRET", "x hvb.S3CRET", "x dapiS3CRET", "x ATATT3S3CRET", "x AGE-SECRET-KEY-1S3CRET", "x glsa_S3CRET",
	"x dop_v1_S3CRET", "x pypi-S3CRET", "x rubygems_S3CRET", "x SG.S3CRET.S3CRET", "x shpat_S3CRET",
	"x lin_api_S3CRET", "x dckr_pat_S3CRET", "x sq0atp-S3CRET", "x sntrys_S3CRET", "x figd_S3CRET", "x PMAK-S3CRET",
	"x NRAK-S3CRET", "x tskey-auth-S3CRET", "x nfp_S3CRET", "x LTAIS3CRET", "x xai-S3CRET", "x gsk_S3CRET",
	"x xoxb-1-S3CRET", "x github_pat_S3CRET", "x glpat-S3CRET", "x AKIAS3CRET", "x npm_S3CRET", "x hf_S3CRET",
	"x eyJS3CRET.e30.x", "x sk-S3CRET", "x ghp_S3CRET",
	// netrc.
	"echo machine h login u password S3CRET", "x default login u password S3CRET", "x machine h password S3CRET",
}

// hiddenWords are words of a command that hold blanks.
var hiddenWords = []string{
	"X-Auth-Key: S3CRET", "x-functions-key: S3CRET", "client-key-data: S3CRET", "    client-key-data: S3CRET",
	"machine h login u password S3CRET", "X-Vault-Token: S3CRET",
	"-----BEGIN RSA PRIVATE KEY-----\nS3CRET\nS3CRET\n-----END RSA PRIVATE KEY-----",
	"-----BEGIN OPENSSH PRIVATE KEY-----\nS3CRET",
	"key: -----BEGIN EC PRIVATE KEY-----\\nS3CRET\\n-----END EC PRIVATE KEY-----",
	"-----BEGIN PGP PRIVATE KEY BLOCK-----\nS3CRET\n-----END PGP PRIVATE KEY BLOCK-----", "user: u\npass: S3CRET\n",
}

// hiddenTexts are lines that a command writes.
var hiddenTexts = []string{
	"MYSQL_PWD=S3CRET mysql", "SSHPASS=S3CRET", "export REDISCLI_AUTH=S3CRET", "AccountName=a;AccountKey=S3CRET",
	"+ curl -u U:S3CRET http://h", "+ sshpass -p S3CRET ssh h",
	"GET https://h/?sig=S3CRET failed", "post to https://hooks.slack.com/services/T/B/S3CRET: 404",
	"bad token hvs.S3CRET", "machine h login u password S3CRET",
	"redis-cli -a S3CRET ping", "docker login -p S3CRET h", "openssl: -passin pass:S3CRET", "Pwd=S3CRET;Database=x",
	"-----BEGIN PRIVATE KEY----- S3CRET -----END PRIVATE KEY-----",
}

// shown are commands that hold no secret.
var shown = []string{
	"env PWD=/home/me OLDPWD=/ x", "env BYPASS=1abc x", "env RETRY_KEY=job SORT_KEY=name x", "env PUBLIC_KEY=abc x",
	"env PROXY_BYPASS=localhost x", "env KEY=f MONKEY=x TURKEY=y x",
	"retry --key NAME x", "retry --key=NAME x", "retry --idempotency-key order-7 x", "sort --key 2", "sort --key=2,2",
	"x --sort-key name", "x --no-auth http://h", "x --auth=basic", "x REQUIRE_AUTH=true",
	"retry --wait-for tcp://2607:f8b0::66:80 x", "retry --wait-for tcp://host:http x",
	"retry --wait-for tcp://host:5432 x", "retry --wait-for udp://host:domain x",
	"retry --wait-for http://localhost:8080/health x",
	"http://host:http/", "tcp://[::1]:80", "tcp://2607:f8b0::66", "curl http://[2607:f8b0::66]:80/",
	"docker run -u 1000:1000 x", "docker run -u app:app x", "docker run -p 8080:80 x", "docker compose -p name up",
	"chown u:g f", "nc -u host:53", "x -u 1000:1000", "x --user me", "curl -u me http://h", "curl -b jar.txt http://h",
	"curl http://h/status?page=2&keys=a", "curl http://h/?monkey=1", "curl https://hooks.slack.com/",
	"curl https://discord.com/channels/1", "curl https://api.telegram.org/",
	"ssh -p 22 h", "mkdir -p a", "zip -r a.zip b", "7z a a.7z b", "psql -p 5432", "sshpass -f file ssh h",
	"sshpass -e ssh h", "openssl rsa -passin env:NAME", "openssl rsa -passin file:name", "openssl dgst -sha256 f",
	"sqlplus /nolog", "npm install a/b@1", "pip install pypi-mirror sk-learn",
	"x dapi-server dapiserver SG. rubygems hvs", "git clone git@host:a/b.git", "x compass", "make pass",
	"smbclient -U u //h/s", "kubectl auth can-i get pods",
	"x --passive --authoritative --keyfile", "ldapsearch -b dc=x", "redis-cli -h host -p 6379", "x --pinned --otpx",
}

// shownTexts are lines that a command writes, which hold no secret.
var shownTexts = []string{
	"PASS: 12 FAIL: 3", "PASS=12 FAIL=3", "auth: token has expired", "auth: permission denied", "pass: all tests",
	"Proxy-Auth: none", "key: not found", "primary-key: id", "--pass needs a value", "unknown flag --pin here",
	"dial tcp 2607:f8b0::66:80: connection refused", "cannot reach tcp://2607:f8b0::66:80: refused",
	"tcp://host:http: no route", "GET http://h/?code=404 failed", "exit code=3", "status code=S",
	"-----BEGIN CERTIFICATE-----\nabc\n-----END CERTIFICATE-----", "wanted -----BEGIN PRIVATE KEY-----",
	"wrong password for user", "login failed, password expired", "OAUTH=false", "the password is wrong",
}

func TestSecretsAreHidden(t *testing.T) {
	t.Parallel()
	check := func(what, in, got, again string) {
		t.Helper()
		if strings.Contains(got, "S3CRET") || !strings.Contains(got, Mask) || again != got {
			t.Errorf("%s %q\nis shown as %q\nand then as  %q", what, in, got, again)
		}
	}
	for _, command := range hidden {
		words := MaskedArgs(strings.Fields(command))
		check("the command", command, strings.Join(words, " "), strings.Join(MaskedArgs(words), " "))
		script := MaskedArgs([]string{"sh", "-c", command})
		check("the script", command, script[2], MaskedArgs(script)[2])
	}
	for _, word := range hiddenWords {
		words := MaskedArgs([]string{"x", word})
		check("the word", word, words[1], MaskedArgs(words)[1])
	}
	for _, line := range hiddenTexts {
		check("the text", line, Masked(line), Masked(Masked(line)))
	}
}

func TestOrdinaryWordsAreShown(t *testing.T) {
	t.Parallel()
	for _, command := range shown {
		if got := strings.Join(MaskedArgs(strings.Fields(command)), " "); got != command {
			t.Errorf("the command %q is shown as %q", command, got)
		}
		if got := MaskedArgs([]string{"sh", "-c", command})[2]; got != command {
			t.Errorf("the script %q is shown as %q", command, got)
		}
	}
	for _, line := range shownTexts {
		if got := Masked(line); got != line {
			t.Errorf("the text %q is shown as %q", line, got)
		}
	}
}

// Each entry of the lists stands once, and is of a kind that is read.
func TestListsOfSecrets(t *testing.T) {
	t.Parallel()
	for _, list := range []struct{ text, kinds string }{
		{namesList, "part end flag query not plain"}, {shapesList, "token url"},
	} {
		seen := map[string]bool{}
		for kind, rest := range entries(list.text) {
			rest, _, _ = strings.Cut(rest, "\t")
			if seen[kind+rest] || rest == "" || !strings.Contains(" "+list.kinds+" ", " "+kind+" ") {
				t.Errorf("%s %q", kind, rest)
			}
			seen[kind+rest] = true
		}
	}
	forms := strings.Fields("all joined user: user% user/ pass: cookie user, none")
	tools := slices.Concat(append(slices.Collect(maps.Values(knownTools().tools)), knownTools().open)...)
	for _, tool := range tools {
		if tool.name == "" || !slices.Contains(forms, tool.form) || len(tool.flags) == 0 != (tool.form == oracle) {
			t.Errorf("%+v", tool)
		}
	}
}
