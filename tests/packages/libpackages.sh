# SPDX-License-Identifier: BSD-3-Clause
# Helpers for tests of packages; to be sourced first. Packages and logs are kept in $packages, a folder of the build tree.
# What is downloaded is cached in $cache: ${SLUICE_CACHE:-${XDG_CACHE_HOME:-~/.cache}/sluice}.
cache=${SLUICE_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/sluice}/packages
packages=$BUILD/packages
npm_settings=$HOME
mkdir -p "$cache" "$packages/tmp"
# A root file system does not fit everywhere, and programs of it must be executable.
export TMPDIR=$packages/tmp
. "$(dirname "${BASH_SOURCE[0]}")/../run/libtest.sh"
version=$(sed -n 's/^#define SLUICE_VERSION_[A-Z]* //p' "$SOURCE/include/sluice/sluice.h" | paste -sd .)
release=$packages/sluice-$version.tar.gz
debs=$packages/debs
umask 022

# needs_command COMMAND PACKAGE: skips the test unless the command exists
needs_command() {
	type "$1" >/dev/null 2>&1 || skip "$2"
}

# logged NAME COMMAND...: runs a command with its output in $packages/NAME.log
logged() {
	local log=$packages/$1.log
	shift
	"$@" >"$log" 2>&1 || fail "\"$*\" failed; the end of $log: $(tail -n 30 "$log")"
}

# same_files A B: both folders have the same names and bytes. Prints how they differ, down to the members of packages.
same_files() {
	local a=$1 b=$2 name same=0
	if ! diff <(cd "$a" && find . -type f | sort) <(cd "$b" && find . -type f | sort); then
		same=1
	fi
	while IFS= read -r name; do
		[ ! -e "$b/$name" ] || cmp -s "$a/$name" "$b/$name" && continue
		same=1
		echo "differs: $name"
		case $name in
		*.deb) same_members "$a/$name" "$b/$name" ;;
		*) cmp -l "$a/$name" "$b/$name" | head -n 3 ;;
		esac
	done < <(cd "$a" && find . -type f | sort)
	return $same
}

# same_members A.deb B.deb: prints which files of two packages differ, and where
same_members() {
	local side
	rm -rf "$work/members"
	for side in 1 2; do
		mkdir -p "$work/members/$side"
		dpkg-deb -R "${!side}" "$work/members/$side"
	done
	diff -rq --no-dereference "$work/members/1" "$work/members/2" || true
	diff <(dpkg-deb -c "$1") <(dpkg-deb -c "$2") || true
}

# has_namespaces: mounts of a test can be private, so that nothing stays mounted whatever happens
has_namespaces() {
	unshare --mount --pid --fork true 2>/dev/null
}

# base_root: makes sure that the cache has $base, a minimal system of the release and the architecture of this machine. It
# is as debootstrap makes it, with the package sources of this machine.
base_root() {
	local codename mirror new=$cache/new.$$
	codename=$(. /etc/os-release && echo "${VERSION_CODENAME:?}")
	base=$cache/minbase-$codename-$(dpkg --print-architecture).tar
	[ -s "$base" ] && return
	mirror=$(apt-get indextargets --format '$(REPO_URI)' "Codename: $codename" 2>/dev/null | head -n 1)
	at_exit "rm -rf '$new'"
	logged debootstrap debootstrap --variant=minbase "$codename" "$new" ${mirror:+"$mirror"}
	rm -rf "$new"/var/cache/apt/archives/*.deb
	cp -r /etc/apt/sources.list* "$new/etc/apt/"
	# Proxies and the like, but not the settings of container images, which throw downloads away.
	find /etc/apt/apt.conf.d -type f ! -name 'docker-*' -exec grep -l Acquire:: {} + | xargs -r cp -t "$new/etc/apt/apt.conf.d"
	echo 'APT::Keep-Downloaded-Packages "true"; Binary::apt::APT::Keep-Downloaded-Packages "true";' >"$new/etc/apt/apt.conf.d/90keep"
	tar -C "$new" --one-file-system -cf "$base.$$" .
	mv "$base.$$" "$base"
	rm -rf "$new"
}

# fresh_root DIRECTORY: unpacks the minimal system
fresh_root() {
	base_root
	mkdir -p "$1"
	tar -C "$1" -xpf "$base"
	cp -L /etc/resolv.conf "$1/etc/resolv.conf"
}

# in_root ROOT COMMAND...: runs a command with ROOT as root directory, with processes and mounts of its own; these end
# with it. Downloaded packages are kept in the cache.
in_root() {
	local root=$1
	shift
	mkdir -p "$cache/archives/partial" "$root/dev/shm"
	unshare --mount --pid --fork --kill-child --propagation private sh -c '
		set -e
		root=$1 archives=$2
		shift 2
		mount -t proc proc "$root/proc"
		mount -t tmpfs -o mode=1777 shm "$root/dev/shm"
		mount -t tmpfs -o mode=755 run "$root/run"
		mkdir -p "$root/run/lock"
		mount --bind "$archives" "$root/var/cache/apt/archives"
		exec chroot "$root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 \
			DEBIAN_FRONTEND=noninteractive "$@"
	' sh "$root" "$cache/archives" "$@"
}
