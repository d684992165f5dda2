package classify

// This file reduces a command's path to the plain name that rules use.

import "strings"

// versioned are commands that are often installed with a version in their
// name (python3.11, gcc-12, php8.2).
var versioned = map[string]bool{
	"python": true, "pypy": true, "pip": true, "ruby": true, "gem": true, "bundle": true, "perl": true, "cpan": true, "php": true, "lua": true,
	"luarocks": true, "node": true, "gcc": true, "g++": true, "cpp": true, "gfortran": true, "clang": true, "clang++": true, "clang-tidy": true, "lld": true,
	"gpg": true, "java": true, "go": true, "idle": true, "pydoc": true, "easy_install": true, "pytest": true, "tclsh": true, "erl": true,
	"automake": true, "autoconf": true, "psql": true, "pg_dump": true, "pg_restore": true, "mysql": true, "postgres": true, "swift": true, "cmake": true,
	"ctest": true, "ansible": true, "tox": true, "terraform": true, "kubectl": true, "helm": true, "guile": true, "svn": true, "hg": true, "mongo": true,
}

// sameCommand are second names of one program.
var sameCommand = map[string]string{
	"nodejs": "node", "py": "python", "py.test": "pytest", "gmake": "make", "gtar": "tar", "ggrep": "grep", "gsed": "sed", "gawk": "awk", "mawk": "awk",
	"gdate": "date", "bsdtar": "tar", "https": "http", "xhs": "xh", "bundler": "bundle", "mysqlsh-client": "mysql", "mvnw": "mvn", "gradlew": "gradle",
	"tofu": "terraform", "opentofu": "terraform", "terragrunt": "terraform", "docker-compose": "docker", "valkey-cli": "redis-cli", "keydb-cli": "redis-cli",
	"yarnpkg": "yarn", "pip-compile": "pip", "pip-sync": "pip", "netcat": "nc", "nc.openbsd": "nc", "nc.traditional": "nc", "gunzip": "gzip", "zcat": "gzip",
	"kubectl.docker": "kubectl", "egrep": "grep", "fgrep": "grep", "ldapmodify": "ldapadd", "oc": "kubectl", "mamba": "conda", "micromamba": "conda",
	"git-remote-https": "git", "aptitude": "apt-get", "apt": "apt-get", "yum": "dnf", "microdnf": "dnf", "mailx": "mail", "nmake": "make",
}

// plainName returns the name without directory, suffix and version.
func plainName(path string) string {
	name := path[strings.LastIndexAny(path, `/\`)+1:]
	for _, suffix := range []string{".exe", ".cmd", ".bat", ".EXE", ".CMD", ".BAT"} {
		name = strings.TrimSuffix(name, suffix)
	}
	if base := strings.TrimRight(strings.TrimRight(name, "0123456789."), "-"); base != name && versioned[base] {
		name = base
	}
	if same, ok := sameCommand[name]; ok {
		return same
	}
	return name
}
