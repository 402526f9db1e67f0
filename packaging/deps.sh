#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# usage: deps.sh PURPOSE...
# Installs the missing packages for the given purposes: build, demo, check, programs, packages, cluster, amd64, matrix, bench or dev.
# With SLUICE_DEPS=skip it does nothing. Servers that the packages contain are not started: tests start their own.
set -eu
list=$(dirname "$0")/deps.apt
[ $# -gt 0 ] || set -- build
[ "${SLUICE_DEPS:-}" = skip ] && exit 0

# wanted PURPOSE...: the packages for these purposes
wanted() {
	for purpose; do
		sed -n -E "s/^([a-z0-9]+,)*$purpose(,[a-z0-9]+)*[[:space:]]+//p" "$list"
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

# pattern NAME: a regular expression for the packages that NAME stands for
pattern() {
	echo "^$(echo "$1" | sed 's/[.+]/\\&/g; s/\*/[0-9.]*(t64)?/')\$"
}

installed() {
	dpkg-query -W -f='${db:Status-Abbrev} ${Package}\n' "$1" 2>/dev/null | sed -n 's/^ii *//p' |
		grep -qE "$(pattern "$1")"
}

# find_missing PURPOSE...: the packages for these purposes that are not installed
find_missing() {
	wanted "$@" | while read -r package; do
		installed "$package" || echo "$package"
	done
}

missing=$(find_missing "$@")
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
	*\**) apt-cache pkgnames "${1%%\**}" | grep -E "$(pattern "$1")" | sort -V | tail -n 1 ;;
	*) echo "$1" ;;
	esac
}

# Debian starts a server when its package is installed, unless this script of the machine says 101. A script of the
# administrator is left alone; one that a killed deps.sh has left behind is replaced.
policy=/usr/sbin/policy-rc.d
mark='# written by packaging/deps.sh of Sluice'
release_servers() {
	if grep -qxF "$mark" "$policy" 2>/dev/null; then
		$sudo rm -f "$policy"
	fi
}
hold_servers() {
	[ -d "${policy%/*}" ] || return 0
	if [ -e "$policy" ] || [ -L "$policy" ]; then
		grep -qxF "$mark" "$policy" || return 0
	fi
	trap release_servers EXIT
	trap 'exit 129' HUP
	trap 'exit 130' INT
	trap 'exit 143' TERM
	printf '#!/bin/sh\n%s\nexit 101\n' "$mark" | $sudo sh -c 'umask 022; cat >"$1" && chmod 755 "$1"' sh "$policy"
}

try_install() {
	packages=$(echo "$missing" | while read -r package; do resolve "$package"; done)
	# Another apt-get may be at work. It can be that of a deps.sh that was killed.
	# shellcheck disable=SC2086 # one word per package
	$sudo env DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=600 install -y \
		--no-install-recommends $packages
}

# One deps.sh at a time: the one that ends first would remove the policy of the others. The lock is a directory that every
# user can open. Servers that a package starts in spite of the policy must not keep the lock, so apt-get does not get it.
exec 9</var/lib/dpkg
if ! flock -n 9; then
	echo "Waiting for another packaging/deps.sh" >&2
	flock 9
	missing=$(find_missing "$@")
	[ -n "$missing" ] || exit 0
fi
echo "Installing:" $missing >&2
hold_servers
for attempt in 1 2 3; do
	$sudo apt-get update -q >&2 9>&- || true
	try_install >&2 9>&- && exit 0
	echo "apt-get failed (attempt $attempt of 3)" >&2
	sleep $((attempt * 5))
done
echo "These packages could not be installed:" $missing >&2
exit 1
