#!/usr/bin/env bash
# Adds the archives of a release to the lists of the GitHub action and the GitLab
# template: list.sh VERSION <CHECKSUMS. CHECKSUMS is the release's own list.
# The newest version is the last.
set -euo pipefail

version=${1:?usage: list.sh VERSION <CHECKSUMS}
[[ $version =~ ^v[0-9]+\.[0-9]+\.[0-9]+$ ]] || { echo "$version is not a version such as v1.2.3" >&2; exit 1; }
here=$(dirname "$0")
template=$here/../../../.gitlab/component/templates/retry.yml
if grep -q "  $version/" "$here/checksums.txt"; then
	echo "$version is listed already" >&2
	exit 1
fi
lines=$(awk -v v="$version" '$2 ~ /^retry_[a-z]+_[a-z0-9]+\.(tar\.gz|zip)$/ { print $1 "  " v "/" $2 }')
[ -n "$lines" ] || { echo "no archive is listed" >&2; exit 1; }
printf '%s\n' "$lines" >>"$here/checksums.txt"
grep retry_linux_ <<<"$lines" | sed 's/^/        /' >"$template.new"
sed -i -e "/end of sums/{
	r $template.new
	N
}" "$template"
rm "$template.new"
