// Package command finds the program that a command line runs, through wrappers with flags
// of their own (sudo -u x, timeout 5), runners (npx, bundle exec), docker exec, all of
// wrappers.table, and a shell with one simple command. Of a longer script it returns the
// shell, because any of its commands may have failed. The package is pure.
package command

import (
	_ "embed" // for the table
	"slices"
	"strings"
)

// maxWrappers limits the nesting of wrappers.
const maxWrappers = 16

// Find returns the plain name (see Plain) of the command that argv runs, "" if argv is
// empty.
func Find(argv []string) string {
	if names := Chain(argv); len(names) > 0 {
		return names[len(names)-1]
	}
	return ""
}

// Names returns the plain name of the command that argv runs, and the name as it was
// written, without directory, if they differ.
func Names(argv []string) []string {
	names, written, _ := walk(argv)
	if len(names) == 0 {
		return nil
	}
	return slices.Compact([]string{names[len(names)-1], written[strings.LastIndexAny(written, `/\`)+1:]})
}

// Parts is Chain, and returns the arguments of the last command, and whether that is a
// script, whose commands are not known: a shell, a file by a relative path or with the suffix
// of a script, or a tool that runs recipes. ./gradlew and ./mvnw are Gradle and Maven.
func Parts(argv []string) (names, args []string, script bool) {
	names, written, args := walk(argv)
	if len(names) == 0 {
		return nil, nil, false
	}
	name := names[len(names)-1]
	path := strings.ReplaceAll(written, `\`, "/")
	own := (strings.HasPrefix(path, "./") || strings.HasPrefix(path, "../")) && name != "gradle" && name != "mvn"
	script = own || slices.Contains(runners, name) ||
		slices.ContainsFunc(scriptSuffixes, func(suffix string) bool { return strings.HasSuffix(name, suffix) })
	return names, args, script
}

var (
	runners        = []string{"sh", "bash", "dash", "zsh", "ksh", "ash", "mksh", "fish", "make", "just", "task", "rake"}
	scriptSuffixes = []string{".sh", ".bash", ".zsh"}
)

// Chain returns the plain names of the wrappers of argv, and of the command that it runs
// last: a runner such as npx can fail before the command has begun.
func Chain(argv []string) []string {
	names, _, _ := walk(argv)
	return names
}

// walk is Chain, and returns the last command as it was written, and its arguments.
func walk(argv []string) (names []string, written string, args []string) {
	for depth := 0; depth < maxWrappers && len(argv) > 0; depth++ {
		written = argv[0]
		name := Plain(written)
		args = argv[1:]
		if argv = unwrap(name, args); len(argv) > 0 && Plain(argv[0]) == "" {
			argv = nil // no command has an empty name: the failure is the wrapper's own
		}
		if len(argv) > 0 && (name == "python" || name == "pypy") {
			continue // python -m pytest is pytest alone
		}
		names = append(names, name)
	}
	return names, written, args
}

// unwrap returns the command in the arguments of the wrapper name, nil for none.
func unwrap(name string, args []string) []string {
	switch name {
	case "sh", "bash", "dash", "zsh", "ksh", "ash", "mksh", "fish":
		return shellCommand(args)
	case "env":
		return envCommand(args)
	case "python", "pypy":
		return moduleCommand(args)
	}
	if !strings.Contains(wrappers, name) {
		return nil // as of most commands
	}
	for line := range strings.Lines(wrappers) {
		synopsis, found := strings.CutPrefix(line, name)
		if !found || strings.TrimLeft(synopsis[:min(1, len(synopsis))], " :\n") != "" {
			continue // the line of another name, which may begin with this one
		}
		before, valued, _ := strings.Cut(synopsis, ":")
		if command := inner(before, valued, args); len(command) > 0 {
			return command
		}
	}
	return nil
}

// wrappers is the table of commands that run another one. Lines are read when needed, so
// a start does not parse it.
//
//go:embed wrappers.table
var wrappers string

// inner returns the command within args, nil if before, what a line of the table says
// precedes it, does not match.
func inner(before, valued string, args []string) []string {
	for word := range strings.FieldsSeq(before) {
		if word == "--" {
			if i := slices.Index(args, "--"); i >= 0 {
				return args[i+1:]
			}
			return nil
		}
		if args = skipFlags(args, valued); len(args) == 0 {
			return nil
		}
		switch {
		case word == "ARG" && len(args) > 1 && args[1] == "--":
			return args[2:]
		case word == "ARG":
			return args[1:]
		case word == "A=b":
			args = skipAssignments(args)
		case word == args[0]:
			args = args[1:]
		default:
			return nil
		}
	}
	return skipFlags(args, valued)
}

// skipFlags drops leading flags and the values of those that take one.
func skipFlags(args []string, valued string) []string {
	for len(args) > 0 && len(args[0]) > 1 && args[0][0] == '-' {
		flag := args[0]
		args = args[1:]
		if flag == "--" {
			break
		}
		if slices.Contains(strings.Fields(valued), flag) {
			args = args[min(1, len(args)):]
		}
	}
	return args
}

// skipAssignments drops leading words such as A=b.
func skipAssignments(args []string) []string {
	for len(args) > 0 && assigns(args[0]) {
		args = args[1:]
	}
	return args
}

// assigns reports whether the word sets a variable, as in A=b.
func assigns(word string) bool {
	name, _, ok := strings.Cut(word, "=")
	if !ok || name == "" || '0' <= name[0] && name[0] <= '9' {
		return false
	}
	return strings.Trim(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789") == ""
}

// envCommand reads env [flags] [A=b]... CMD, with -S for a whole command line.
func envCommand(args []string) []string {
	for i := 0; i < len(args); i++ {
		word := args[i]
		line, long := strings.CutPrefix(word, "--split-string")
		line, short := strings.CutPrefix(line, "-S")
		switch {
		case long || short:
			rest := args[i+1:]
			if line = strings.TrimPrefix(line, "="); line == "" && len(rest) > 0 {
				line, rest = rest[0], rest[1:]
			}
			if words := splitSimple(line); words != nil {
				return envCommand(append(words, rest...))
			}
			return nil
		case word == "--":
			return skipAssignments(args[i+1:])
		case slices.Contains([]string{"-u", "-C", "--unset", "--chdir"}, word):
			i++ // its value
		case !strings.HasPrefix(word, "-") && !assigns(word):
			return args[i:]
		}
	}
	return nil
}

// moduleCommand reads python -m MODULE; a script of its own stays python.
func moduleCommand(args []string) []string {
	for i, word := range args {
		if module, ok := strings.CutPrefix(word, "-m"); ok {
			return append(strings.Fields(module), args[i+1:]...)
		}
		if word == "-c" || word == "-" || !strings.HasPrefix(word, "-") {
			break
		}
	}
	return nil
}

// versioned are commands that are often installed with a version in their
// name (python3.11, gcc-12, php8.2).
var versioned = []string{
	"python", "pypy", "pip", "ruby", "gem", "bundle", "perl", "cpan", "php", "lua",
	"luarocks", "node", "gcc", "g++", "cpp", "gfortran", "clang", "clang++", "clang-tidy", "lld",
	"gpg", "java", "go", "idle", "pydoc", "easy_install", "pytest", "tclsh", "erl",
	"automake", "autoconf", "psql", "pg_dump", "pg_restore", "mysql", "postgres", "swift", "cmake",
	"ctest", "ansible", "tox", "terraform", "kubectl", "helm", "guile", "svn", "hg", "mongo",
}

// sameCommand are second names of one program.
var sameCommand = []struct{ name, plain string }{
	{"nodejs", "node"}, {"py", "python"}, {"py.test", "pytest"}, {"gmake", "make"}, {"gtar", "tar"},
	{"ggrep", "grep"}, {"gsed", "sed"}, {"gawk", "awk"}, {"mawk", "awk"}, {"gdate", "date"}, {"bsdtar", "tar"},
	{"https", "http"}, {"xhs", "xh"}, {"bundler", "bundle"}, {"mysqlsh-client", "mysql"}, {"mvnw", "mvn"},
	{"gradlew", "gradle"}, {"tofu", "terraform"}, {"opentofu", "terraform"}, {"terragrunt", "terraform"},
	{"docker-compose", "docker"}, {"valkey-cli", "redis-cli"}, {"keydb-cli", "redis-cli"}, {"yarnpkg", "yarn"},
	{"pip-compile", "pip"}, {"pip-sync", "pip"}, {"netcat", "nc"}, {"nc.openbsd", "nc"},
	{"nc.traditional", "nc"}, {"gunzip", "gzip"}, {"zcat", "gzip"}, {"kubectl.docker", "kubectl"},
	{"egrep", "grep"}, {"fgrep", "grep"}, {"ldapmodify", "ldapadd"}, {"oc", "kubectl"}, {"mamba", "conda"},
	{"micromamba", "conda"}, {"git-remote-https", "git"}, {"aptitude", "apt-get"}, {"apt", "apt-get"},
	{"yum", "dnf"}, {"microdnf", "dnf"}, {"mailx", "mail"}, {"nmake", "make"},
}

// Plain returns a command's name without directory, suffix (.exe) and version
// (python3.11 is python). A program with several names has one plain name (apt is
// apt-get).
func Plain(path string) string {
	name := path[strings.LastIndexAny(path, `/\`)+1:]
	for _, suffix := range []string{".exe", ".cmd", ".bat", ".EXE", ".CMD", ".BAT"} {
		name = strings.TrimSuffix(name, suffix)
	}
	if base := strings.TrimRight(strings.TrimRight(name, "0123456789."), "-"); slices.Contains(versioned, base) {
		name = base
	}
	for _, same := range sameCommand {
		if same.name == name {
			return same.plain
		}
	}
	return name
}
