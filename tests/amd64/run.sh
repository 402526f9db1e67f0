#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# usage: run.sh [CTEST_OPTION]...
# Builds Sluice for x86-64 and runs tests of it under qemu-user: `make check-amd64`. BUILD names the native build tree,
# whose programs exchange traces with the emulated ones; the tree for x86-64 is $BUILD-amd64. SLUICE_CACHE is where the
# root of amd64 packages is kept.
#
# The mounts are made in a namespace of their own and vanish with the last process of the run.
set -euo pipefail
if [ "$(uname -m)" = x86_64 ]; then
	echo "check-amd64: this machine is x86-64, where \`make check\` runs the same tests without emulation"
	exit
fi
here=$(cd "$(dirname "$0")" && pwd)
source=$(cd "$here/../.." && pwd)
build=$(cd "${BUILD:?names the native build tree}" && pwd)
cross=$build-amd64
jobs=${JOBS:-$(nproc)}

stop() {
	echo "check-amd64: $*" >&2
	exit 1
}

[ "$(id -u)" = 0 ] || stop "the emulated tests need a root directory of their own; run it as root"

# An emulator must be registered with the flag F: the kernel opened it in advance, so it works in any root directory.
emulator_is_ready() {
	grep -qs '^flags:.*F' /proc/sys/fs/binfmt_misc/qemu-x86_64 &&
		grep -qs '^enabled' /proc/sys/fs/binfmt_misc/qemu-x86_64
}

prepare_emulator() {
	[ -e /proc/sys/fs/binfmt_misc/register ] || mount -t binfmt_misc binfmt_misc /proc/sys/fs/binfmt_misc ||
		stop "cannot mount binfmt_misc; load the kernel module binfmt_misc"
	emulator_is_ready || update-binfmts --enable qemu-x86_64 ||
		stop "qemu-user is not registered for x86-64 programs; install qemu-user-static and binfmt-support"
	emulator_is_ready || stop "qemu-user is registered without the flag F, so it cannot run programs in another root"
}

# show DIRECTORY: makes it visible in the root, under the same path
show() {
	mkdir -p "$SLUICE_AMD64_ROOT$1"
	mount --rbind "$1" "$SLUICE_AMD64_ROOT$1"
}

# show_python: puts this machine's own Python into the root, as /run/native/bin/python3. Tests examine results with the
# python3 of PATH, which would take most of their time under emulation; observed programs are started as /usr/bin/python3.
show_python() {
	local native=$SLUICE_AMD64_ROOT/run/native python loader libraries
	python=$(realpath /usr/bin/python3)
	loader=$(realpath "$(readelf --program-headers "$python" | sed -n 's/.*interpreter: \(.*\)]$/\1/p')")
	libraries=/run/native/lib/$(basename "$(dirname "$loader")")
	mkdir -p "$native/bin" "$native/lib"
	mount --rbind /usr/lib "$native/lib"
	cp "$python" "$native/bin/"
	cat >"$native/bin/python3" <<-END
		#!/bin/sh
		exec $libraries/$(basename "$loader") --library-path $libraries --argv0 /run/native/bin/python3 \\
			/run/native/bin/$(basename "$python") "\$@"
	END
	chmod 755 "$native/bin/python3"
}

if [ -z "${SLUICE_AMD64_INSIDE:-}" ]; then
	prepare_emulator
	SLUICE_AMD64_ROOT=$(bash "$here/root.sh" "${SLUICE_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/sluice}/amd64")
	mkdir -p "$cross"
	SLUICE_AMD64_INSIDE=1 SLUICE_AMD64_ROOT=$SLUICE_AMD64_ROOT \
		exec unshare --mount --propagation private bash "$0" "$@"
fi

export SLUICE_AMD64_ROOT
mount --bind "$SLUICE_AMD64_ROOT" "$SLUICE_AMD64_ROOT"
for directory in /proc /sys /dev "$source" "$build" "$cross"; do
	show "$directory"
done
mount -t tmpfs -o mode=755 tmpfs "$SLUICE_AMD64_ROOT/run"
show_python

cmake -S "$source" -B "$cross" -G Ninja -DCMAKE_TOOLCHAIN_FILE="$here/toolchain.cmake" -DSLUICE_WERROR=ON \
	-DSLUICE_WEB=OFF
cmake --build "$cross" -j "$jobs" --target all checks
[ -z "${SLUICE_AMD64_BUILD_ONLY:-}" ] || exit 0
tests=$cross/emulated
mkdir -p "$tests"
python3 "$here/choose.py" "$cross" "$build" "$SLUICE_AMD64_ROOT" >"$tests/CTestTestfile.cmake.new"
mv "$tests/CTestTestfile.cmake.new" "$tests/CTestTestfile.cmake"
python3 "$source/tests/check.py" "$tests" check-amd64 -j "$jobs" "$@"
