package command

import (
	"slices"
	"strings"
)

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
	{"nodejs", "node"}, {"py", "python"}, {"py.test", "pytest"}, {"gmake", "make"}, {"gtar", "tar"}, {"ggrep", "grep"}, {"gsed", "sed"}, {"gawk", "awk"}, {"mawk", "awk"},
	{"gdate", "date"}, {"bsdtar", "tar"}, {"https", "http"}, {"xhs", "xh"}, {"bundler", "bundle"}, {"mysqlsh-client", "mysql"}, {"mvnw", "mvn"}, {"gradlew", "gradle"},
	{"tofu", "terraform"}, {"opentofu", "terraform"}, {"terragrunt", "terraform"}, {"docker-compose", "docker"}, {"valkey-cli", "redis-cli"}, {"keydb-cli", "redis-cli"},
	{"yarnpkg", "yarn"}, {"pip-compile", "pip"}, {"pip-sync", "pip"}, {"netcat", "nc"}, {"nc.openbsd", "nc"}, {"nc.traditional", "nc"}, {"gunzip", "gzip"}, {"zcat", "gzip"},
	{"kubectl.docker", "kubectl"}, {"egrep", "grep"}, {"fgrep", "grep"}, {"ldapmodify", "ldapadd"}, {"oc", "kubectl"}, {"mamba", "conda"}, {"micromamba", "conda"},
	{"git-remote-https", "git"}, {"aptitude", "apt-get"}, {"apt", "apt-get"}, {"yum", "dnf"}, {"microdnf", "dnf"}, {"mailx", "mail"}, {"nmake", "make"},
}

// Plain returns a command's name without directory, suffix (.exe) and version
// (python3.11 is python). A program with several names has one plain name (apt is
// apt-get).
func Plain(path string) string {
	name := path[strings.LastIndexAny(path, `/\`)+1:]
	for _, suffix := range []string{".exe", ".cmd", ".bat", ".EXE", ".CMD", ".BAT"} {
		name = strings.TrimSuffix(name, suffix)
	}
	if base := strings.TrimRight(strings.TrimRight(name, "0123456789."), "-"); base != name && slices.Contains(versioned, base) {
		name = base
	}
	for _, same := range sameCommand {
		if same.name == name {
			return same.plain
		}
	}
	return name
}
