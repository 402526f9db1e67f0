#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# usage: matrix.sh [COMMAND [ARGUMENT]...]
# Runs a command, by default `make check`, on a copy of the work tree in another release of Debian, at native speed.
# Called by `make check-matrix`. A root of the release is prepared once; it remains in $SLUICE_CACHE, with the build tree
# and the packages that were downloaded. Requires root.
#
# With FRESH=1 (`make check-fresh`) the root is new and has only what README.md expects: git, make and a C compiler. The
# last commit is cloned there, and `make demo` and `make check` install what they need. The next such run replaces the root.
#
#	SUITE		the release (default trixie, which is Debian 13)
#	SLUICE_CACHE	the directory of the prepared roots (default ~/.cache/sluice)
#	SLUICE_MIRROR	the archive (default: the one that apt uses on this machine)
#	JOBS, CMAKE_FLAGS	as for make
#
# Everything runs in a mount and a pid namespace of its own. When it ends, also by a signal, the kernel kills the remaining
# processes and removes all mounts.
set -euo pipefail
suite=${SUITE:-trixie}
fresh=${FRESH:-}
cache=${SLUICE_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/sluice}
source=$(cd "$(dirname "$0")/.." && pwd)
root=$cache/$suite${fresh:+-fresh}
stamp=$root/etc/sluice-prepared
certificates=/etc/ssl/certs/ca-certificates.crt
# Increase the number if roots must be prepared anew.
layout=1

fail() {
	echo "matrix: $*" >&2
	exit 1
}

# mirror: the first archive in apt's configuration
mirror() {
	if [ -n "${SLUICE_MIRROR:-}" ]; then
		echo "$SLUICE_MIRROR"
		return
	fi
	# shellcheck disable=SC2016 # apt expands it
	apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' | head -n 1
}

# mounts ROOT: what programs need in a root
mounts() {
	local folder
	mkdir -p "$cache/debs"
	mount -t proc proc "$1/proc"
	for folder in sys dev; do
		mount --rbind /$folder "$1/$folder"
	done
	mount -t tmpfs -o mode=1777 shm "$1/dev/shm"
	mount -t tmpfs -o mode=755 run "$1/run"
	mkdir -p "$1/run/lock"
	mount --bind "$cache/debs" "$1/var/cache/apt/archives"
	# Names and certificates are those of this machine.
	[ ! -e /etc/resolv.conf ] || cat /etc/resolv.conf >"$1/etc/resolv.conf"
	[ ! -e $certificates ] || cat $certificates >"$1$certificates"
}

# inside ROOT COMMAND...: runs a command in a root, with a clean environment
inside() {
	local root=$1 variable
	local -a settings=()
	shift
	settings+=("NODE_EXTRA_CA_CERTS=$certificates")
	[ -n "$fresh" ] || settings+=("BUILD=/srv/sluice/build")
	for variable in http_proxy https_proxy no_proxy npm_config_registry TERM JOBS CMAKE_FLAGS; do
		[ -z "${!variable:-}" ] || settings+=("$variable=${!variable}")
	done
	[ "$root" = / ] || set -- chroot "$root" "$@"
	env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 \
		DEBIAN_FRONTEND=noninteractive "${settings[@]}" "$@"
}

# prepare: creates the root under another name, so that an interrupted preparation leaves no usable root
prepare() {
	local new=$root.new from
	[ -n "$fresh" ] || [ "$(cat "$stamp" 2>/dev/null)" != $layout ] || return 0
	from=$(mirror)
	[ -n "$from" ] || fail "apt has no archive; set SLUICE_MIRROR to one that has $suite"
	command -v debootstrap >/dev/null || fail "debootstrap is missing; install it, or run make check-matrix"
	echo "matrix: preparing $root" >&2
	rm -rf --one-file-system "$new" "$root"
	mkdir -p "$cache/debs/partial"
	debootstrap --variant=minbase --cache-dir="$cache/debs" --include=ca-certificates "$suite" "$new" "$from" ||
		fail "debootstrap failed; see $new/debootstrap/debootstrap.log"
	# No package may start a server.
	printf '#!/bin/sh\nexit 101\n' >"$new/usr/sbin/policy-rc.d"
	chmod 755 "$new/usr/sbin/policy-rc.d"
	# It would delete the archives that the next preparation can use.
	rm -f "$new/etc/apt/apt.conf.d/docker-clean"
	mounts "$new"
	install_packages "$new"
	umount -R "$new/proc" "$new/sys" "$new/dev" "$new/run" "$new/var/cache/apt/archives"
	mv "$new" "$root"
	echo $layout >"$stamp"
}

# install_packages ROOT: everything that tests need, or what README.md expects
install_packages() {
	local new=$1
	if [ -n "$fresh" ]; then
		inside "$new" apt-get update -q
		inside "$new" apt-get install -y --no-install-recommends git make gcc libc6-dev
		return
	fi
	# Packages that are already there make the second preparation fast.
	mkdir -p "$new/srv/sluice/packaging"
	cp "$source"/packaging/deps.{sh,apt} "$new/srv/sluice/packaging/"
	inside "$new" sh /srv/sluice/packaging/deps.sh build check
	# For the web application; its tests are skipped if npm finds no registry.
	inside "$new" apt-get install -y --no-install-recommends nodejs npm
}

# copy_sources: the files of the work tree, also those that are not committed. Their times are kept, so that the build tree
# can be used again. A fresh root gets a clone of the last commit.
copy_sources() {
	local to=$root/srv/sluice
	rm -rf "$to/source"
	if [ -n "$fresh" ]; then
		mkdir -p "$to"
		git -C "$source" bundle create --quiet "$to/bundle" HEAD
		inside "$root" git clone --quiet /srv/sluice/bundle /srv/sluice/source
		return
	fi
	mkdir -p "$to/source"
	(cd "$source" && git ls-files -z --cached --others --exclude-standard |
		while IFS= read -r -d '' file; do [ ! -e "$file" ] || printf '%s\0' "$file"; done |
		tar --null --no-recursion -T - -cf -) | tar -C "$to/source" -xf - --no-same-owner
}

# enter ARGUMENT...: runs this script in namespaces, and ends with its exit code
enter() {
	local code=0
	[ "$(id -u)" = 0 ] || fail "only root can mount the root of another release; run it as root"
	mkdir -p "$cache"
	exec {lock}>"$cache/$suite.lock"
	flock -n $lock || fail "$root is in use by another run"
	if [ -z "${npm_config_registry:-}" ] && command -v npm >/dev/null; then
		npm_config_registry=$(npm config get registry 2>/dev/null) && export npm_config_registry
	fi
	# The first process of a pid namespace ignores most signals, so this one receives them.
	SLUICE_MATRIX=inside env --default-signal=INT,QUIT unshare --mount --pid --fork --kill-child --propagation private \
		bash "$0" "$@" &
	# shellcheck disable=SC2064
	trap "kill -KILL $!; exit 130" INT TERM HUP
	wait $! || code=$?
	exit $code
}

[ "${SLUICE_MATRIX:-}" = inside ] || enter "$@"
unset SLUICE_MATRIX
prepare
# Programs see the root as that of their namespace: in a chroot, they could not create namespaces of their own.
mount --bind "$root" "$root"
mounts "$root"
rm -rf --one-file-system "$root/tmp"
mkdir -m 1777 "$root/tmp"
copy_sources
# Ask the registry again (tests/libnpm.sh).
rm -f "$root/srv/sluice/build/npm/failed"
cd "$root"
pivot_root . .
umount -l .
cd /srv/sluice/source
name=check-matrix
if [ -n "$fresh" ]; then
	name=check-fresh
	[ $# -gt 0 ] || inside / make demo
fi
[ $# -gt 0 ] || set -- make check
inside / "$@" | sed -u "s/^check: \([0-9]* passed, \)/$name: \1/"
