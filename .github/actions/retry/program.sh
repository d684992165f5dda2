#!/usr/bin/env bash
# Puts the program into the runner's tool cache and passes its path to the
# next step. A release is fetched only if checksums.txt beside this file lists it,
# and unpacked only if its SHA-256 is the listed one.
#
#   RETRYSH_PROGRAM    a program to use as it is
#   RETRYSH_BASE_URL   a mirror of https://github.com/retrysh/retry/releases
set -euo pipefail

fail() {
	printf '::error title=retry::%s\n' "$*"
	exit 1
}

here=$(cd "$(dirname "$0")" && pwd)
if [ -n "${RETRYSH_PROGRAM:-}" ]; then
	[ -x "$RETRYSH_PROGRAM" ] || fail "RETRYSH_PROGRAM: $RETRYSH_PROGRAM is not a program"
	printf 'program=%s\n' "$RETRYSH_PROGRAM" >>"$GITHUB_OUTPUT"
	exit
fi

case $(uname -s) in
Linux) system=linux ending=tar.gz binary=retry ;;
Darwin) system=darwin ending=tar.gz binary=retry ;;
MINGW* | MSYS* | CYGWIN*) system=windows ending=zip binary=retry.exe ;;
*) fail "there is no release for $(uname -s)" ;;
esac
case $system/$(uname -m) in
darwin/*) arch=universal ;;
*/x86_64) arch=amd64 ;;
*/aarch64 | */arm64) arch=arm64 ;;
*/armv7* | */armv8l) arch=armv7 ;;
*/riscv64) arch=riscv64 ;;
*) fail "there is no release for the architecture $(uname -m)" ;;
esac
file=retry_${system}_$arch.$ending

# Lines of the list: SHA256  VERSION/FILE, the newest version last.
version=${RETRYSH_IN_VERSION:-} sum=
while read -r listed path; do
	case $path in
	*/"$file") ;;
	*) continue ;;
	esac
	if [ -z "${RETRYSH_IN_VERSION:-}" ] || [ "${path%/*}" = "$RETRYSH_IN_VERSION" ]; then
		version=${path%/*} sum=$listed
	fi
done <"$here/checksums.txt"
[ -n "$sum" ] || fail "${version:-no version}: checksums.txt of this action lists no $file of it; pin the action to a newer commit, or name a version that it lists"

cache=${RUNNER_TOOL_CACHE:-${RUNNER_TEMP:-/tmp}}/retrysh/$version/$arch
if [ ! -x "$cache/$binary" ]; then
	scratch=$(mktemp -d)
	trap 'rm -rf "$scratch"' EXIT
	address=${RETRYSH_BASE_URL:-https://github.com/retrysh/retry/releases}/download/$version/$file
	case $address in
	https:*) only='=https' ;;
	*) only='=http,https' ;;
	esac
	curl -fsSL --proto "$only" --proto-redir "$only" --retry 3 -o "$scratch/$file" "$address" || fail "$file of $version cannot be downloaded"
	if command -v sha256sum >/dev/null; then got=$(sha256sum <"$scratch/$file"); else got=$(shasum -a 256 <"$scratch/$file"); fi
	got=${got%% *}
	[ "$got" = "$sum" ] || fail "$file of $version has the SHA-256 $got, and $sum is listed; it was not unpacked"
	if [ "$ending" = zip ]; then
		unzip -q "$scratch/$file" "$binary" -d "$scratch"
	else
		tar -xzf "$scratch/$file" -C "$scratch" "$binary"
	fi
	mkdir -p "$cache"
	chmod 755 "$scratch/$binary"
	cp "$scratch/$binary" "$cache/$binary.new.$$" # in one step for other jobs on this runner
	mv -f "$cache/$binary.new.$$" "$cache/$binary"
fi
printf 'program=%s\n' "$cache/$binary" >>"$GITHUB_OUTPUT"
