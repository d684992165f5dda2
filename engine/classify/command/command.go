// Package command finds the program that a command line runs.
//
// Other programs may stand before it: wrappers with flags of their own (sudo -u
// x, timeout 5), runners (npx, bundle exec), a shell with one simple command,
// docker exec. The tables below list them. A shell script of more than one
// simple command is reported as the shell, because any of its commands may have
// failed.
//
// The package is pure: it never looks for the program on the system.
package command

import (
	"slices"
	"strings"
)

// maxWrappers bounds how many wrappers are looked through.
const maxWrappers = 16

// Find returns the plain name (see Plain) and the arguments of the command that
// argv runs. The name is "" where argv has none.
func Find(argv []string) (name string, args []string) {
	names, args := Chain(argv)
	if len(names) == 0 {
		return "", nil
	}
	return names[len(names)-1], args
}

// Names returns what the command that argv runs is called: its plain name, and
// the name as it was written, without directory, where that is another one.
func Names(argv []string) []string {
	names, written, _ := walk(argv)
	if len(names) == 0 {
		return nil
	}
	plain, name := names[len(names)-1], written[strings.LastIndexAny(written, `/\`)+1:]
	if plain == name {
		return []string{plain}
	}
	return []string{plain, name}
}

// Chain returns the plain names of all commands on the way to the one that argv
// runs, that one last, and its arguments: a runner such as npx can fail on its
// own account before the command has begun.
func Chain(argv []string) (names, args []string) {
	names, _, args = walk(argv)
	return names, args
}

// walk is Chain that also returns the last command as it was written.
func walk(argv []string) (names []string, written string, args []string) {
	for depth := 0; depth < maxWrappers && len(argv) > 0; depth++ {
		written = argv[0]
		name := Plain(written)
		args = argv[1:]
		if argv = unwrap(name, args); len(argv) > 0 && Plain(argv[0]) == "" {
			argv = nil // no command has an empty name: the failure is the wrapper's own
		}
		if len(argv) > 0 && (name == "python" || name == "pypy") {
			continue // python -m pytest is pytest, and nothing else
		}
		names = append(names, name)
	}
	return names, written, args
}

// unwrap returns the command within a wrapper's arguments, nil if name is no
// wrapper or nothing is within.
func unwrap(name string, args []string) []string {
	for _, w := range wrappers {
		if w.name == name {
			return w.inner(args)
		}
	}
	switch name {
	case "sh", "bash", "dash", "zsh", "ksh", "ash", "mksh", "fish":
		return shellCommand(args)
	case "busybox", "toybox":
		return applet(args)
	case "env":
		return envCommand(args)
	case "python", "pypy":
		return moduleCommand(args)
	}
	for _, r := range runners {
		if r.name == name {
			if inner := r.inner(args); len(inner) > 0 {
				return inner
			}
		}
	}
	return nil
}

// wrapper is a command whose arguments are flags, then operands of its own,
// then the command.
type wrapper struct {
	name string
	// valued are the flags that take the next word as their value, unless they
	// carry it themselves (-n5, --kill-after=5).
	valued string
	// operands is how many words stand between flags and command.
	operands int
	// assignments may stand before the command (A=b).
	assignments bool
}

// wrappers are lists and no map, as other tables here are, since a map is built
// at every start, needed or not. The flags are those of the manual pages in coreutils,
// util-linux, findutils, sudo, iproute2, moreutils, expect, tini, gosu,
// su-exec, runit and s6.
var wrappers = []wrapper{
	{name: "sudo", valued: "-u -g -h -p -C -D -R -r -t -T -U --user --group --host --prompt --close-from --chdir --chroot --role --type --command-timeout --other-user", assignments: true},
	{name: "doas", valued: "-u -C"},
	{name: "nice", valued: "-n --adjustment"},
	{name: "ionice", valued: "-c -n -p -P -u --class --classdata"},
	{name: "chrt", valued: "-T -P -D --sched-runtime --sched-period --sched-deadline", operands: 1},
	{name: "taskset", operands: 1},
	{name: "setsid"},
	{name: "nohup"},
	{name: "command"},
	{name: "chronic"},
	{name: "flock", valued: "-w -E --timeout --wait --conflict-exit-code", operands: 1},
	{name: "stdbuf", valued: "-i -o -e --input --output --error"},
	{name: "unbuffer"},
	{name: "time", valued: "-f -o --format --output"},
	{name: "gtime", valued: "-f -o --format --output"},
	{name: "timeout", valued: "-k -s --kill-after --signal", operands: 1},
	{name: "gtimeout", valued: "-k -s --kill-after --signal", operands: 1},
	{name: "setarch", operands: 1},
	{name: "linux32"},
	{name: "linux64"},
	{name: "strace", valued: "-a -b -e -E -I -o -O -p -P -s -S -u -U -X --trace --output --user"},
	{name: "ltrace", valued: "-a -A -D -e -F -l -n -o -p -s -u -w -x"},
	{name: "xvfb-run", valued: "-e -f -n -p -s -w --error-file --auth-file --server-num --xauth-protocol --server-args --wait"},
	{name: "dbus-run-session", valued: "--config-file --dbus-daemon"},
	{name: "fakeroot", valued: "-l -s -i -b --lib --faked"},
	{name: "eatmydata"},
	{name: "tini", valued: "-e -p"},
	{name: "dumb-init", valued: "-r --rewrite"},
	{name: "gosu", operands: 1},
	{name: "su-exec", operands: 1},
	{name: "setpriv", valued: "--reuid --regid --groups --inh-caps --ambient-caps --bounding-set --securebits --selinux-label --apparmor-profile --pdeathsig"},
	{name: "runuser", valued: "-u -g -G --user --group --supp-group"},
	{name: "chpst", valued: "-u -U -b -/ -e -n -l -L -m -d -o -p -f -c -t -r"},
	{name: "s6-setuidgid", operands: 1},
	{name: "chroot", operands: 1},
	{name: "unshare", valued: "-S -G -R -w --setuid --setgid --root --wd --map-user --map-group --propagation"},
	{name: "nsenter", valued: "-t -S -G --target --setuid --setgid"},
	{name: "prlimit", valued: "-p --pid -o --output"},
	{name: "systemd-inhibit", valued: "--what --who --why --mode"},
	{name: "systemd-cat", valued: "-t -p --identifier --priority --level-prefix"},
	{name: "caffeinate", valued: "-t -w"},
	{name: "xargs", valued: "-a -d -E -I -L -n -P -s --arg-file --delimiter --max-args --max-procs --max-chars --process-slot-var"},
	{name: "torsocks"},
	{name: "proxychains4", valued: "-f"},
	{name: "proxychains", valued: "-f"},
	{name: "winpty"},
	{name: "direnv-exec", operands: 1},
	{name: "with-contenv"},
	{name: "npx", valued: "-p --package -w --workspace -c --call"},
	{name: "bunx", valued: "-p --package"},
	{name: "pnpx", valued: "-p --package"},
	{name: "uvx", valued: "--from --with --python -p --index --index-url --default-index"},
}

// inner returns what follows the wrapper's own words.
func (w wrapper) inner(args []string) []string {
	args = skipFlags(args, w.valued)
	for w.assignments && len(args) > 0 && assigns(args[0]) {
		args = args[1:]
	}
	if len(args) <= w.operands {
		return nil
	}
	args = args[w.operands:]
	if args[0] == "--" {
		args = args[1:]
	}
	return args
}

// skipFlags drops leading flags and the values of those that take one.
func skipFlags(args []string, valued string) []string {
	for len(args) > 0 && len(args[0]) > 1 && args[0][0] == '-' {
		flag := args[0]
		args = args[1:]
		if flag == "--" {
			break
		}
		if takesValue(flag, valued) && len(args) > 0 {
			args = args[1:]
		}
	}
	return args
}

// takesValue says whether the flag's value is the next word.
func takesValue(flag, valued string) bool {
	for known := range strings.FieldsSeq(valued) {
		if flag == known {
			return true
		}
	}
	return false
}

// assigns says whether the word sets a variable, as in A=b.
func assigns(word string) bool {
	name, _, ok := strings.Cut(word, "=")
	if !ok || name == "" || '0' <= name[0] && name[0] <= '9' {
		return false
	}
	return strings.Trim(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789") == ""
}

// runner is a command that runs another one behind fixed words.
type runner struct {
	name  string
	words string // the fixed words, in their order, flags between them allowed
	wrapper
	// dashes: the command stands behind "--" only.
	dashes bool
}

const (
	containerFlags = "-e -u -w -f -p --env --env-file --user --workdir --detach-keys --index --file --project-name --project-directory --profile --context -H --host -c --config -l --log-level"
	kubeFlags      = "-n -c -f --namespace --container --filename --context --kubeconfig --pod-running-timeout --cluster --user --server --request-timeout"
)

// runners, the longer chains of words before the shorter.
var runners = []runner{
	{name: "docker", words: "compose exec", wrapper: wrapper{valued: containerFlags, operands: 1}},
	{name: "docker", words: "container exec", wrapper: wrapper{valued: containerFlags, operands: 1}},
	{name: "docker", words: "exec", wrapper: wrapper{valued: containerFlags, operands: 1}},
	{name: "docker-compose", words: "exec", wrapper: wrapper{valued: containerFlags, operands: 1}},
	{name: "podman", words: "exec", wrapper: wrapper{valued: containerFlags, operands: 1}},
	{name: "nerdctl", words: "exec", wrapper: wrapper{valued: containerFlags, operands: 1}},
	{name: "kubectl", words: "exec", wrapper: wrapper{valued: kubeFlags}, dashes: true},
	{name: "oc", words: "exec", wrapper: wrapper{valued: kubeFlags}, dashes: true},
	{name: "ip", words: "netns exec", wrapper: wrapper{operands: 1}},
	{name: "npm", words: "exec", dashes: true},
	{name: "npm", words: "x", dashes: true},
	{name: "pnpm", words: "dlx"},
	{name: "pnpm", words: "exec"},
	{name: "yarn", words: "dlx", wrapper: wrapper{valued: "-p --package"}},
	{name: "yarn", words: "exec"},
	{name: "bun", words: "x"},
	{name: "uv", words: "tool run", wrapper: wrapper{valued: "--from --with --python -p"}},
	{name: "uv", words: "run", wrapper: wrapper{valued: "--with --python -p --extra --group --package --directory --project --env-file"}},
	{name: "pipx", words: "run", wrapper: wrapper{valued: "--spec --python --pip-args"}},
	{name: "poetry", words: "run"},
	{name: "pipenv", words: "run"},
	{name: "pdm", words: "run"},
	{name: "hatch", words: "run"},
	{name: "rye", words: "run"},
	{name: "conda", words: "run", wrapper: wrapper{valued: "-n -p --name --prefix --cwd"}},
	{name: "bundle", words: "exec"},
	{name: "rbenv", words: "exec"},
	{name: "asdf", words: "exec"},
	{name: "rustup", words: "run", wrapper: wrapper{operands: 1}},
	{name: "corepack", words: ""},
	{name: "mise", words: "exec", dashes: true},
	{name: "mise", words: "x", dashes: true},
	{name: "direnv", words: "exec", wrapper: wrapper{operands: 1}},
	{name: "aws-vault", words: "exec", dashes: true},
	{name: "op", words: "run", dashes: true},
	{name: "doppler", words: "run", dashes: true},
	{name: "chamber", words: "exec", dashes: true},
	{name: "dotenv", words: "", dashes: true},
	{name: "retry", words: "", dashes: true},
	{name: "systemd-run", words: "", wrapper: wrapper{valued: "-p -u -t -M -H --property --unit --slice --uid --gid --nice --working-directory --setenv -E --on-active --on-calendar"}},
}

// inner returns the command behind the runner's words.
func (r runner) inner(args []string) []string {
	for word := range strings.FieldsSeq(r.words) {
		args = skipFlags(args, r.valued)
		if len(args) == 0 || args[0] != word {
			return nil
		}
		args = args[1:]
	}
	if r.dashes {
		i := slices.Index(args, "--")
		if i < 0 {
			return nil
		}
		return args[i+1:]
	}
	return r.wrapper.inner(args)
}

// applet reads busybox CMD.
func applet(args []string) []string {
	if len(args) == 0 || strings.HasPrefix(args[0], "-") {
		return nil
	}
	return args
}

// envCommand reads env [flags] [A=b]... CMD, with -S for a whole command line.
func envCommand(args []string) []string {
	for len(args) > 0 {
		word := args[0]
		switch {
		case word == "-S" || word == "--split-string":
			if len(args) < 2 {
				return nil
			}
			words, ok := splitSimple(args[1])
			if !ok {
				return nil
			}
			return envCommand(append(words, args[2:]...))
		case strings.HasPrefix(word, "-S"), strings.HasPrefix(word, "--split-string="):
			words, ok := splitSimple(strings.TrimPrefix(strings.TrimPrefix(word, "--split-string="), "-S"))
			if !ok {
				return nil
			}
			return envCommand(append(words, args[1:]...))
		case word == "--":
			args = args[1:]
			for len(args) > 0 && assigns(args[0]) {
				args = args[1:]
			}
			return args
		case takesValue(word, "-u -C --unset --chdir") && len(args) > 1:
			args = args[2:]
		case strings.HasPrefix(word, "-"), assigns(word):
			args = args[1:]
		default:
			return args
		}
	}
	return nil
}

// moduleCommand reads python -m MODULE; a script of its own stays python.
func moduleCommand(args []string) []string {
	for i, word := range args {
		switch {
		case word == "-m" && i+1 < len(args):
			return append([]string{args[i+1]}, args[i+2:]...)
		case strings.HasPrefix(word, "-m") && len(word) > 2:
			return append([]string{word[2:]}, args[i+1:]...)
		case word == "-c" || !strings.HasPrefix(word, "-") || word == "-":
			return nil
		}
	}
	return nil
}
