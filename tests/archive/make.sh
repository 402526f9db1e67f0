#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# make.sh COMMIT: builds an earlier commit of Sluice and lets it write one file of each kind that it can write. The
# files go to COMMIT.tar.xz beside this script, together with what that commit itself says about them. Must be run by
# root, because the files shall not show the name of this host. BUILT=DIR uses a build tree that exists;
# WITHOUT=ranks leaves out the trace of a parallel program, which is large.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
commit=$(git -C "$here" rev-parse --short=8 "${1:?missing COMMIT}")
tree=$(mktemp -d "${TMPDIR:-/tmp}/sluice-old.XXXXXX")
trap 'git -C "$here" worktree remove --force "$tree/source" 2>/dev/null; rm -rf "$tree"' EXIT
if [ -z "${BUILT:-}" ]; then
	git -C "$here" worktree add --detach "$tree/source" "$commit"
	BUILT=$tree/build
	cmake -S "$tree/source" -B "$BUILT" -G Ninja -DCMAKE_BUILD_TYPE=Debug -DCMAKE_C_FLAGS_DEBUG=-O0 -DSLUICE_WEB=OFF
	ninja -C "$BUILT" sluice capture
fi
mkdir "$tree/bin" "$tree/files"
cp "$BUILT/sluice" "$BUILT/libsluice.so" "$tree/bin"
for share in machines platforms sites; do
	[ ! -d "$BUILT/$share" ] || cp -r "$BUILT/$share" "$tree/bin"
done
cp "$here/write.sh" "$here/collective.c" "$here/rows.py" "$here/figures.py" "$tree"
# The same directory and host for all, so that the files do not depend on where they were made.
unshare --mount --uts bash -c '
	hostname node1
	mkdir -p /tmp/sluice-archive
	mount --bind "$1" /tmp/sluice-archive
	cd /tmp/sluice-archive
	exec env -i PATH="/usr/bin:/bin" WITHOUT="$2" bash write.sh' - "$tree" "${WITHOUT:-}"
rmdir /tmp/sluice-archive
tar -S --sort=name --owner=0 --group=0 --numeric-owner --mtime=@0 -C "$tree/files" -c . | xz -9e >"$here/$commit.tar.xz"
ls -l "$here/$commit.tar.xz"
