#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# usage: deps.sh PURPOSE...
# Installs the missing packages for the given purposes: build, demo, check, programs, bench or dev. With SLUICE_DEPS=skip it does
# nothing.
set -eu
list=$(dirname "$0")/deps.apt
[ $# -gt 0 ] || set -- build
[ "${SLUICE_DEPS:-}" = skip ] && exit 0

# wanted PURPOSE...: the packages for these purposes
wanted() {
	for purpose; do
		sed -n -E "s/^([a-z]+,)*$purpose(,[a-z]+)*[[:space:]]+//p" "$list"
	done
}

if ! command -v apt-get >/dev/null || ! command -v dpkg-query >/dev/null; then
	# Nothing can be installed, but the build may find everything it needs.
	command -v cmake >/dev/null && command -v ninja >/dev/null && command -v pkg-config >/dev/null && exit 0
	echo "This system has no apt-get. Please install these packages (named as in Debian):" >&2
	wanted "$@" | sed 's/^/  /' >&2
	echo "Then run make again with SLUICE_DEPS=skip." >&2
	exit 1
fi

installed() {
	dpkg-query -W -f='${db:Status-Abbrev}\n' "$1" 2>/dev/null | grep -q '^ii'
}

missing=$(wanted "$@" | while read -r package; do
	installed "$package" || echo "$package"
done)
[ -n "$missing" ] || exit 0

sudo=
if [ "$(id -u)" != 0 ]; then
	sudo=sudo
	if ! command -v sudo >/dev/null; then
		echo "These packages are missing, and sudo is not available to install them:" >&2
		echo "$missing" | sed 's/^/  /' >&2
		exit 1
	fi
fi

# resolve NAME: the newest package that NAME matches, if NAME contains a *; otherwise NAME itself
resolve() {
	case $1 in
	*\**) apt-cache pkgnames "${1%%\**}" | grep -E "^$(echo "$1" | sed 's/\./\\./g; s/\*/[0-9]+/')\$" |
		sort -V | tail -n 1 ;;
	*) echo "$1" ;;
	esac
}

try_install() {
	packages=$(echo "$missing" | while read -r package; do resolve "$package"; done)
	# shellcheck disable=SC2086 # one word per package
	$sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends $packages
}

echo "Installing:" $missing >&2
for attempt in 1 2 3; do
	$sudo apt-get update -q >&2 || true
	try_install >&2 && exit 0
	echo "apt-get failed (attempt $attempt of 3)" >&2
	sleep $((attempt * 5))
done
echo "These packages could not be installed:" $missing >&2
exit 1
