#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# usage: root.sh DIRECTORY
# Unpacks amd64 packages of this machine's own release into DIRECTORY/root, from the sources that apt is configured for,
# and prints that path. It serves as sysroot of the cross compiler and as root directory of the emulated tests. A root
# that was completed for the same list of packages is used again. An interrupted preparation leaves only
# DIRECTORY/root.new, which the next one removes.
#
# No script of a package runs, since that would take long under emulation. The few of their effects that tests need are
# done here: accounts, alternatives and the cache of the dynamic linker.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
cache=${1:?usage: root.sh DIRECTORY}
mkdir -p "$cache"
exec 8>"$cache/lock"
flock 8

# wanted: the packages, one per line. Programs of the purpose "build" run on this machine, not in the root.
wanted() {
	sed -n -E 's/^([a-z0-9]+,)*build(,[a-z0-9]+)*[[:space:]]+((lib|zlib|uthash).*)/\3/p' "$here/../../packaging/deps.apt"
	grep -v '^#' "$here/packages.txt"
}

. /etc/os-release
suite=${VERSION_CODENAME:?/etc/os-release does not name the release}
key=$({ echo "$suite"; wanted; cat "$0"; } | sha256sum | cut -c 1-16)
root=$cache/root
if [ "$(cat "$cache/stamp" 2>/dev/null)" = "$key" ] && [ -d "$root" ]; then
	echo "$root"
	exit
fi

# unpack: the packages and what they depend on, without running any of their scripts
unpack() {
	local sources=() file proxy= options=()
	for file in /etc/apt/sources.list /etc/apt/sources.list.d/*.list /etc/apt/sources.list.d/*.sources; do
		[ ! -s "$file" ] || sources+=("$file")
	done
	eval "$(apt-config shell proxy Acquire::http::Proxy)"
	[ -z "$proxy" ] || options+=(--aptopt="Acquire::http::Proxy \"$proxy\"")
	mmdebstrap --quiet --mode=root --variant=extract --architectures=amd64 "${options[@]}" \
		--hook-dir=/usr/share/mmdebstrap/hooks/merged-usr --include="$(wanted | sort -u | paste -sd,)" \
		"$suite" "$root.new" "${sources[@]}"
}

# alternative LINK TARGET...: makes LINK a link to the first target that exists
alternative() {
	local link=$root.new$1 target
	shift
	for target; do
		[ ! -e "$root.new$target" ] || { ln -sfn "$target" "$link"; return; }
	done
}

# complete: does what the scripts of packages would do, as far as tests need it
complete() {
	local lib=/usr/lib/x86_64-linux-gnu blas
	cp "$root.new/usr/share/base-passwd/passwd.master" "$root.new/etc/passwd"
	cp "$root.new/usr/share/base-passwd/group.master" "$root.new/etc/group"
	alternative /usr/bin/awk /usr/bin/gawk
	alternative $lib/libmpi.so $lib/openmpi/lib/libmpi.so
	alternative $lib/libpsm_infinipath.so.1 /usr/lib/libpsm1/libpsm_infinipath.so.1.16
	for blas in blas lapack; do
		alternative $lib/lib$blas.so.3 $lib/openblas-pthread/lib$blas.so.3 $lib/$blas/lib$blas.so.3
	done
	alternative $lib/libopenblas.so.0 $lib/openblas-pthread/libopenblas.so.0
	echo 127.0.0.1 localhost >"$root.new/etc/hosts"
	mkdir -p "$root.new/proc" "$root.new/sys" "$root.new/dev" "$root.new/tmp" "$root.new/run"
	chmod 1777 "$root.new/tmp"
	chroot "$root.new" /sbin/ldconfig
	chroot "$root.new" /bin/true
}

rm -rf "$root.new" "$cache/stamp"
echo "check-amd64: unpacking amd64 packages of $suite into $root" >&2
unpack >&2
complete
# Links into the root must not leave it when the cross compiler follows them from outside.
find "$root.new"/usr/lib* "$root.new/usr/include" -type l -lname '/*' -print0 | while IFS= read -r -d '' link; do
	ln -sfn "$(realpath -m --relative-to="$(dirname "$link")" "$root.new$(readlink "$link")")" "$link"
done
rm -rf "$root"
mv "$root.new" "$root"
echo "$key" >"$cache/stamp"
echo "$root"
