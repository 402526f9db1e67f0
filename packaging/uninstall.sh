#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# usage: uninstall.sh MANIFEST
# Removes the files that MANIFEST lists (one path per line, as CMake writes it), and the directories of Sluice that
# are empty afterwards. DESTDIR is put in front of each path. Files that are already gone are not an error.
set -eu
manifest=$1
[ -f "$manifest" ] || { echo "$manifest: not found; only 'make install' from this build tree can be undone" >&2; exit 1; }

listed() {
	# The last line of a manifest has no newline.
	while read -r path || [ -n "$path" ]; do
		printf '%s\n' "${DESTDIR:-}$path"
	done <"$manifest"
}

listed | while read -r path; do
	if [ -e "$path" ] || [ -L "$path" ]; then
		echo "removing $path"
		rm -f -- "$path"
	fi
done
# Only directories below one that is called sluice: shared directories such as bin/ are not removed.
listed | sed -n 's|\(.*/sluice\)/.*|\1|p' | sort -u | while read -r directory; do
	[ ! -d "$directory" ] || find "$directory" -depth -type d -empty -delete
done
