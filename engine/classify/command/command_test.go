package command

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

func TestFind(t *testing.T) {
	for _, c := range []struct {
		argv []string
		name string
		args string
	}{
		{[]string{"curl", "-sf", "http://a"}, "curl", "-sf http://a"},
		{[]string{"/usr/bin/curl", "x"}, "curl", "x"},
		{[]string{`C:\tools\curl.exe`, "x"}, "curl", "x"},
		{[]string{"env", "A=b", "-u", "C", "B=c", "curl", "x"}, "curl", "x"},
		{[]string{"env", "-S", "A=b curl -f", "x"}, "curl", "-f x"},
		{[]string{"env"}, "env", ""},
		{[]string{"sudo", "-u", "x", "-E", "A=b", "apt-get", "update"}, "apt-get", "update"},
		{[]string{"sudo", "apt", "update"}, "apt-get", "update"},
		{[]string{"nice", "-n", "5", "make"}, "make", ""},
		{[]string{"nice", "-5", "make"}, "make", ""},
		{[]string{"timeout", "-k", "1", "--signal=INT", "5", "curl", "x"}, "curl", "x"},
		{[]string{"timeout", "5"}, "timeout", "5"},
		{[]string{"stdbuf", "-oL", "psql", "-c", "x"}, "psql", "-c x"},
		{[]string{"xargs", "-n", "1", "-P4", "curl", "-O"}, "curl", "-O"},
		{[]string{"sh", "-c", "curl -sf 'http://a b' >out 2>&1"}, "curl", "-sf http://a b"},
		{[]string{"bash", "-euo", "pipefail", "-c", "exec psql -c \"select 1\""}, "psql", "-c select 1"},
		{[]string{"bash", "-lc", "A=b npm ci # install"}, "npm", "ci"},
		{[]string{"sh", "-c", "curl x | tar xz"}, "sh", "-c curl x | tar xz"},
		{[]string{"sh", "-c", "curl x; true"}, "sh", "-c curl x; true"},
		{[]string{"sh", "-c", "curl x && true"}, "sh", "-c curl x && true"},
		{[]string{"sh", "-c", "echo $(curl x)"}, "sh", "-c echo $(curl x)"},
		{[]string{"sh", "-c", "echo \"`curl x`\""}, "sh", "-c echo \"`curl x`\""},
		{[]string{"sh", "-c", "if curl x; then :; fi"}, "sh", "-c if curl x; then :; fi"},
		{[]string{"sh", "-c", "curl x\nexit 1"}, "sh", "-c curl x\nexit 1"},
		{[]string{"sh", "-c", "curl ${x:-$(date)}"}, "sh", "-c curl ${x:-$(date)}"},
		{[]string{"sh", "-c", "curl x >$(date)"}, "sh", "-c curl x >$(date)"},
		{[]string{"sh", "-c", "A=$(date) curl x"}, "sh", "-c A=$(date) curl x"},
		{[]string{"sh", "-c", "curl x &"}, "sh", "-c curl x &"},
		{[]string{"sh", "-c", "! curl x"}, "sh", "-c ! curl x"},
		{[]string{"sh", "-c", "time curl x"}, "sh", "-c time curl x"},
		{[]string{"sh", "-c", "eval curl x"}, "sh", "-c eval curl x"},
		{[]string{"sh", "-c", "cd /"}, "sh", "-c cd /"},
		{[]string{"sh", "-c", "[[ -e x ]]"}, "sh", "-c [[ -e x ]]"},
		{[]string{"sh", "-c", "export A=b"}, "sh", "-c export A=b"},
		{[]string{"sh", "-c", "f() { curl x; }"}, "sh", "-c f() { curl x; }"},
		{[]string{"sh", "-c", "curl $((1+1))"}, "sh", "-c curl $((1+1))"},
		{[]string{"sh", "-c", "curl \\"}, "curl", "\\"},
		{[]string{"sh", "-c", "curl 'x"}, "sh", "-c curl 'x"},
		{[]string{"sh", "-c", "curl a\\ b \"c\\d\\\"e\" ${HOME}/f$g \\\n h"}, "curl", "a b c\\d\"e ${HOME}/f$g h"},
		{[]string{"sh", "-c", "exec command A=b curl x 2>&1 </dev/null # why"}, "curl", "x"},
		{[]string{"sh", "-c", "exec curl x\n"}, "curl", "x"},
		{[]string{"sh", "curl.sh"}, "sh", "curl.sh"},
		{[]string{"bash", "-c", "cat <<EOF"}, "bash", "-c cat <<EOF"},
		{[]string{"docker", "exec", "-it", "-e", "A=b", "db", "psql", "-c", "x"}, "psql", "-c x"},
		{[]string{"docker", "compose", "-f", "c.yml", "exec", "-T", "db", "psql"}, "psql", ""},
		{[]string{"docker", "run", "alpine", "curl"}, "docker", "run alpine curl"},
		{[]string{"docker", "pull", "exec"}, "docker", "pull exec"},
		{[]string{"kubectl", "-n", "x", "exec", "pod", "-c", "y", "--", "redis-cli", "ping"}, "redis-cli", "ping"},
		{[]string{"kubectl", "get", "pods"}, "kubectl", "get pods"},
		{[]string{"python3.11", "-m", "pip", "install", "x"}, "pip", "install x"},
		{[]string{"python3", "-u", "app.py"}, "python", "-u app.py"},
		{[]string{"python3", "-c", "import pip"}, "python", "-c import pip"},
		{[]string{"pip3.11", "install"}, "pip", "install"},
		{[]string{"gcc-12", "x.c"}, "gcc", "x.c"},
		{[]string{"sqlite3", "x"}, "sqlite3", "x"},
		{[]string{"s3cmd", "ls"}, "s3cmd", "ls"},
		{[]string{"npx", "--yes", "-p", "typescript", "tsc"}, "tsc", ""},
		{[]string{"bundle", "exec", "rspec"}, "rspec", ""},
		{[]string{"bundle", "install"}, "bundle", "install"},
		{[]string{"uv", "run", "--with", "x", "pytest"}, "pytest", ""},
		{[]string{"uv", "sync"}, "uv", "sync"},
		{[]string{"busybox", "wget", "x"}, "wget", "x"},
		{[]string{"flock", "-w", "5", "/tmp/lock", "command", "curl", "x"}, "curl", "x"},
		{[]string{"retry", "-n", "3", "--", "curl"}, "curl", ""},
		{[]string{"sudo", "env", "A=b", "timeout", "5", "sh", "-c", "exec /opt/bin/curl x"}, "curl", "x"},
		{[]string{"sh", "-c", "'' 0 0 0"}, "sh", "-c '' 0 0 0"},
		{[]string{"dotenv", "--", "curl", "x"}, "curl", "x"},
		{[]string{"timeout", "-k", "1"}, "timeout", "-k 1"},
		{[]string{"timeout", "5", "--", "curl", "x"}, "curl", "x"},
		{[]string{"timeout", "5", "--", "-x", "y"}, "-x", "y"},
		{[]string{"timeout", "5", "--"}, "timeout", "5 --"},
		{[]string{"sudo", "ls"}, "ls", ""},
		{[]string{"sudo", "A=b"}, "sudo", "A=b"},
		{[]string{"sudo", "0A=b", "x"}, "0A=b", "x"}, // no name of a variable begins with a digit
		{[]string{"sudo", "9A=b", "x"}, "9A=b", "x"},
		{[]string{"nice", "--", "-x", "y"}, "-x", "y"},
		{[]string{"nice", "-5"}, "nice", "-5"},
		{[]string{"nice", ""}, "nice", ""},
		{[]string{"env", "-S"}, "env", "-S"},
		{[]string{"env", "-S", "curl x"}, "curl", "x"},
		{[]string{"env", "-Scurl -f", "x"}, "curl", "-f x"},
		{[]string{"env", "--split-string=curl -f", "x"}, "curl", "-f x"},
		{[]string{"env", "--", "A=b", "curl", "x"}, "curl", "x"},
		{[]string{"env", "--", "curl", "x"}, "curl", "x"},
		{[]string{"nice", "-", "x"}, "-", "x"}, // "-" is no flag
		{[]string{"python3", "-mpip", "install"}, "pip", "install"},
		{[]string{"python3", "app.py", "-m", "pip"}, "python", "app.py -m pip"},
		{[]string{"python3", "-", "-m", "pip"}, "python", "- -m pip"},
		{[]string{"python3", "-c", "-m", "pip"}, "python", "-c -m pip"},
		{[]string{"sh"}, "sh", ""},
		{[]string{"sh", "-c"}, "sh", "-c"},
		{[]string{"sh", "-", "-c", "curl x"}, "sh", "- -c curl x"},
		{[]string{"sh", "-c", "--", "curl x"}, "curl", "x"},
		{[]string{"sh", "-c", "--", "-x"}, "-x", ""},
		{[]string{"bash", "--norc", "curl x"}, "bash", "--norc curl x"},
		{[]string{"bash", "--norc", "-c", "curl x"}, "curl", "x"},
		{[]string{"bash", "-x", "curl.sh"}, "bash", "-x curl.sh"},
		{[]string{"bash", "+c", "curl x"}, "bash", "+c curl x"},
		{[]string{"bash", "-o"}, "bash", "-o"},
		{[]string{"bash", "-co", "curl x"}, "bash", "-co curl x"},
		{[]string{"sh", "-c", "exec"}, "sh", "-c exec"},
		{[]string{"sh", "-c", "exit"}, "sh", "-c exit"},
		{[]string{"sh", "-c", `curl a\b "c\$d"`}, "curl", "ab c$d"},
		{nil, "", ""},
		{[]string{""}, "", ""},
	} {
		_, _, args := walk(c.argv)
		name := Find(c.argv)
		if name != c.name || strings.Join(args, " ") != c.args {
			t.Errorf("Find(%q) = %q %q, want %q %q", c.argv, name, args, c.name, c.args)
		}
	}
}

// A chain has the wrappers and the command; python -m MODULE is the module alone.
func TestChain(t *testing.T) {
	for line, want := range map[string]string{
		"curl x":                         "[curl] [x]",
		"sudo -u x timeout 5 curl -f x":  "[sudo timeout curl] [-f x]",
		"python3 -m pytest -x":           "[pytest] [-x]",
		"pypy -m pytest":                 "[pytest] []",
		"npx --yes tsc":                  "[npx tsc] []",
		"nice python3.11 -m pip install": "[nice pip] [install]",
		"":                               "[] []",
		"nice":                           "[nice] []",
		"python3 app.py":                 "[python] [app.py]",
	} {
		names, args, _ := Parts(strings.Fields(line))
		if got := fmt.Sprint(names, args); got != want || !slices.Equal(names, Chain(strings.Fields(line))) {
			t.Errorf("%q: %s, want %s", line, got, want)
		}
	}
}

// The names of a command are its plain one, and the one that was written.
func TestNames(t *testing.T) {
	for line, want := range map[string]string{
		"": "[]", "curl x": "[curl]", "/usr/bin/python3.11 x": "[python python3.11]",
		"sudo apt update": "[apt-get apt]", `C:\x\curl.exe`: "[curl curl.exe]",
	} {
		if got := fmt.Sprint(Names(strings.Fields(line))); got != want {
			t.Errorf("%q: %s, want %s", line, got, want)
		}
	}
}

// A script's commands are not known.
func TestPartsOfAScript(t *testing.T) {
	for line, want := range map[string]bool{
		"": false, "curl x": false, "make": true, "gmake -j4": true, "sh x": true, "sudo make": true,
		"sudo make.sh": true, "/bin/run.sh x": true, "run.bash": true, "run.zsh": true,
		"./run": true, "../run x": true, "nice ./run": true, "/opt/run": false, "make-it": false, "run.shx": false,
		".run": false, "sh -c curl": false, `.\run.bat`: true, "./gradlew build": false, "../mvnw": false,
		`.\gradlew.bat`: false, "./mvnw-it": true,
	} {
		if _, _, got := Parts(strings.Fields(line)); got != want {
			t.Errorf("%q: %t", line, got)
		}
	}
}

func TestFindIsBounded(t *testing.T) {
	argv := slices.Repeat([]string{"nice"}, 10000)
	if names := Chain(argv); len(names) != maxWrappers {
		t.Errorf("%d wrappers are read", len(names))
	}
	for size, want := range map[int]string{maxScript: "curl", maxScript + 1: "sh"} {
		script := "curl " + strings.Repeat("x", size-len("curl "))
		if name := Find([]string{"sh", "-c", script}); name != want {
			t.Errorf("a script of %d bytes is read as %q, want %q", size, name, want)
		}
	}
}

func FuzzFind(f *testing.F) {
	f.Add("env\x00A=b\x00curl")
	f.Add("sh\x00-c\x00curl 'a b' \"c\\\"d\" >x 2>&1 # y")
	f.Add("sh\x00-ceo\x00pipefail\x00curl \\")
	f.Add("docker\x00compose\x00exec\x00-T\x00c\x00ls")
	f.Add("env\x00-S\x00env -S env")
	f.Add("sh\x00-c\x00'' 0 0 0")
	f.Fuzz(func(t *testing.T, words string) {
		argv := strings.Split(words, "\x00")
		name := Find(argv)
		_, _, args := walk(argv)
		if len(args) > 0 && name == "" && argv[0] != "" && Plain(argv[0]) != "" && len(args) >= len(argv) {
			t.Errorf("Find(%q) = %q %q", argv, name, args)
		}
		if again := Find(argv); again != name {
			t.Errorf("Find(%q) is %q, then %q", argv, name, again)
		}
	})
}
