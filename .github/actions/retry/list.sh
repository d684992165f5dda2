#!/usr/bin/env bash
# Adds the archives of a release to checksums.txt: list.sh VERSION <CHECKSUMS,
# where CHECKSUMS is the release's own list. The newest version stands last.
set -euo pipefail

version=${1:?usage: list.sh VERSION <CHECKSUMS}
[[ $version =~ ^v[0-9]+\.[0-9]+\.[0-9]+[-.0-9A-Za-z]*$ ]] || { echo "$version is not a version such as v1.2.3" >&2; exit 1; }
list=$(dirname "$0")/checksums.txt
if grep -q "  $version/" "$list"; then
	echo "$version is listed already" >&2
	exit 1
fi
lines=$(awk -v v="$version" '$2 ~ /^retry_[a-z]+_[a-z0-9]+\.(tar\.gz|zip)$/ { print $1 "  " v "/" $2 }')
[ -n "$lines" ] || { echo "no archive is listed" >&2; exit 1; }
printf '%s\n' "$lines" >>"$list"
