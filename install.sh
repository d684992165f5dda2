#!/bin/sh
# Installs retry: downloads the release for this system, checks it, and puts
# the one binary in place. The manual page and the completions go where man and
# the shells look for them: below the share beside a bin.
#
#   RETRY_VERSION      such as v1.2.3; the latest release if unset
#   RETRY_INSTALL_DIR  where to; by default /usr/local/bin if that can be written,
#                      else ~/.local/bin
#   RETRY_BASE_URL     a mirror of https://github.com/retrysh/retry/releases
#
# Nothing is installed unless its SHA-256 is the one that checksums.txt lists.
# The old binary stays until the new one has run once.
set -eu

say() { printf 'retry: %s\n' "$*"; }

fail() {
	printf 'retry: %s\n' "$*" >&2
	exit 1
}

has() { command -v "$1" >/dev/null 2>&1; }

# platform prints the part of an archive's name that says for which system it
# is.
platform() {
	arch=$(uname -m)
	case $arch in
	x86_64 | amd64) arch=amd64 ;;
	aarch64 | arm64) arch=arm64 ;;
	armv7* | armv8l) arch=armv7 ;;
	riscv64) ;;
	i?86 | x86) arch=386 ;;
	*) fail "there is no build for the architecture $arch; with Go: go install github.com/retrysh/retry@latest" ;;
	esac
	case $(uname -s)/$arch in
	Linux/*) echo "linux_$arch" ;;
	Darwin/*) echo darwin_universal ;;
	*) fail "there is no build for $(uname -s); there are builds for Linux and macOS, and for Windows by Scoop and winget" ;;
	esac
}

# download fetches address $1 to file $2. For https, curl follows no redirect to
# another protocol.
download() {
	case $1 in
	https:*) only='=https' ;;
	*) only='=http,https' ;;
	esac
	if has curl; then
		curl -fsSL --proto "$only" --proto-redir "$only" -o "$2" "$1" || fail "$1 cannot be downloaded"
	elif has wget; then
		wget -q -O "$2" "$1" || fail "$1 cannot be downloaded"
	else
		fail "neither curl nor wget is here to download with"
	fi
}

# digest prints the SHA-256 of file $1.
digest() {
	if has sha256sum; then
		sha256sum <"$1"
	elif has shasum; then
		shasum -a 256 <"$1"
	elif has openssl; then
		openssl dgst -sha256 -r <"$1"
	else
		fail "none of sha256sum, shasum and openssl is here, so the download cannot be checked; nothing was installed"
	fi
}

# listed prints the checksum of the file with exactly the name $1 in list $2.
listed() {
	while read -r sum name; do
		if [ "${name#\*}" = "$1" ]; then
			echo "$sum"
			return
		fi
	done <"$2"
}

# verify refuses archive $1 unless list $2 holds its checksum.
verify() {
	want=$(listed "${1##*/}" "$2")
	[ -n "$want" ] || fail "checksums.txt does not list ${1##*/}; nothing was installed"
	got=$(digest "$1")
	got=${got%% *}
	[ "$got" = "$want" ] || fail "${1##*/} has the SHA-256 $got, and $want is listed; nothing was installed"
}

# target_dir prints where to install to.
target_dir() {
	if [ -n "${RETRY_INSTALL_DIR:-}" ]; then
		echo "$RETRY_INSTALL_DIR"
	elif [ -w /usr/local/bin ]; then
		echo /usr/local/bin
	else
		echo "${HOME:?HOME is not set; say RETRY_INSTALL_DIR}/.local/bin"
	fi
}

# put_in_place copies file $1 beside target $2, runs it there, and moves it.
put_in_place() {
	[ ! -d "$2" ] || fail "$2 is a directory"
	staged="$2.new.$$"
	cp "$1" "$staged" || fail "${2%/*} cannot be written; say another RETRY_INSTALL_DIR, or run this as a user who may"
	chmod 755 "$staged"
	version=$("$staged" --version) || fail "what was downloaded does not run here; $2 is as it was"
	mv -f "$staged" "$2"
	staged=
}

# put_page installs file $1 of the archive as $2. A failure is ignored: the binary
# is installed by then, and works without.
put_page() {
	[ -f "$scratch/$1" ] && [ ! -d "$2" ] && mkdir -p "${2%/*}" 2>/dev/null || return 0
	staged="$2.new.$$"
	if cp "$scratch/$1" "$staged" 2>/dev/null && chmod 644 "$staged" && mv -f "$staged" "$2"; then
		say "installed $2"
	else
		rm -f "$staged"
	fi
	staged=
}

# put_pages installs the pages for man and for the shells that are installed.
# Without a share directory beside bin, only the user's own is made; zsh has no
# directory of the user's own.
put_pages() {
	HOME=${HOME:-}
	case $dir in
	"${HOME%/}/.local/bin") share=${dir%/bin}/share data=${XDG_DATA_HOME:-$share} ;;
	*/bin) share=${dir%/bin}/share data=$share && [ -d "$share" ] || return 0 ;;
	*) return 0 ;;
	esac
	tar -xzf "$scratch/$name" -C "$scratch" man completions 2>/dev/null || true # what there is
	if has man; then put_page man/retry.1 "$share/man/man1/retry.1"; fi
	if has bash; then put_page completions/retry.bash "$data/bash-completion/completions/retry"; fi
	if has fish; then put_page completions/retry.fish "$data/fish/vendor_completions.d/retry.fish"; fi
	if [ -d "$share/zsh/site-functions" ]; then put_page completions/_retry "$share/zsh/site-functions/_retry"; fi
}

# say_path says how the user's shell finds $dir.
say_path() {
	quoted='' rest=$dir
	while [ "$rest" != "${rest#*\'}" ]; do
		quoted="$quoted${rest%%\'*}'\\''" rest=${rest#*\'}
	done
	quoted="'$quoted$rest'"
	shell=${SHELL:-sh}
	case ${shell##*/} in
	fish) line="fish_add_path $quoted" file='once' ;;
	zsh) line="export PATH=$quoted:\"\$PATH\"" file='in ~/.zshrc' ;;
	bash) line="export PATH=$quoted:\"\$PATH\"" file='in ~/.bashrc' ;;
	*) line="export PATH=$quoted:\"\$PATH\"" file='in ~/.profile' ;;
	esac
	say "$dir is not in PATH yet; this line, $file, adds it:"
	printf '\n    %s\n\n' "$line"
}

# clean_up removes what this run made and did not finish.
clean_up() {
	[ -z "$staged" ] || rm -f "$staged"
	[ -z "$scratch" ] || rm -rf "$scratch"
}

main() {
	staged='' scratch=''
	trap clean_up EXIT
	trap 'exit 129' HUP
	trap 'exit 130' INT
	trap 'exit 143' TERM
	name=retry_$(platform).tar.gz
	base=${RETRY_BASE_URL:-https://github.com/retrysh/retry/releases}
	case ${RETRY_VERSION:-latest} in
	latest) from=${base%/}/latest/download ;;
	v*) from=${base%/}/download/$RETRY_VERSION ;;
	*) from=${base%/}/download/v$RETRY_VERSION ;;
	esac
	dir=$(target_dir)
	scratch=$(mktemp -d)
	say "downloading $from/$name"
	download "$from/$name" "$scratch/$name"
	download "$from/checksums.txt" "$scratch/checksums.txt"
	verify "$scratch/$name" "$scratch/checksums.txt"
	tar -xzf "$scratch/$name" -C "$scratch" retry || fail "$name cannot be unpacked; nothing was installed"
	mkdir -p -- "$dir" || fail "$dir cannot be made; say another RETRY_INSTALL_DIR"
	dir=$(CDPATH='' cd -- "$dir" && pwd) || fail "$dir cannot be entered; say another RETRY_INSTALL_DIR"
	put_in_place "$scratch/retry" "${dir%/}/retry"
	say "installed ${dir%/}/retry: $version"
	put_pages
	case :$PATH: in
	*:"$dir":*) ;;
	*) say_path ;;
	esac
}

main "$@"
