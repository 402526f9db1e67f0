#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# usage: dist.sh OUTPUT_DIRECTORY
# Writes the release OUTPUT_DIRECTORY/sluice-VERSION.tar.gz and prints its path. It contains the files of the repository as
# they are in the working tree, the file COMMIT, and the bundled web application as web/dist, so that packages can be built
# without git, npm and a network. The same sources give the same bytes: all times are SOURCE_DATE_EPOCH, by default the time
# of the commit.
#
#	WEB_DIST=DIR	a folder that contains the bundled application. By default npm bundles it.
#	WEB_DIST=none	leave the application out; 'sluice serve' has only its API then
set -eu
umask 022
export LC_ALL=C TZ=UTC
source=$(cd "$(dirname "$0")/.." && pwd)
mkdir -p "$1"
output=$(cd "$1" && pwd)
work=$(mktemp -d "$output/dist.XXXXXX")
trap 'rm -rf "$work"' EXIT
version=$(sed -n 's/^#define SLUICE_VERSION_[A-Z]* //p' "$source/include/sluice/sluice.h" | paste -sd .)
tree=$work/sluice-$version
mkdir "$tree"

case ${WEB_DIST:=} in
'' | none | /*) ;;
*) WEB_DIST=$PWD/$WEB_DIST ;;
esac
cd "$source"
if [ -e .git ]; then
	# Files that were removed from the working tree, but not from the index, are not listed.
	git ls-files --cached --others --exclude-standard -z |
		while IFS= read -r -d '' file; do [ ! -e "$file" ] || printf '%s\0' "$file"; done |
		tar -c --null --files-from=- | tar -x -C "$tree"
	git rev-parse HEAD >"$tree/COMMIT"
	[ -z "$(git status --porcelain)" ] || echo modified >>"$tree/COMMIT"
	: "${SOURCE_DATE_EPOCH:=$(git log -1 --format=%ct)}"
else
	tar -c --exclude='./build*' --exclude="./${output#"$source/"}" . | tar -x -C "$tree"
	: "${SOURCE_DATE_EPOCH:=$(stat -c %Y CMakeLists.txt)}"
fi

if [ "$WEB_DIST" = none ]; then
	rm -rf "$tree/web/dist"
elif [ -n "$WEB_DIST" ]; then
	[ -s "$WEB_DIST/index.html" ] || { echo "dist.sh: $WEB_DIST has no index.html" >&2; exit 1; }
	rm -rf "$tree/web/dist"
	cp -r "$WEB_DIST" "$tree/web/dist"
elif [ ! -d "$tree/web/dist" ]; then
	if ! node=$(command -v node) || ! npm=$(command -v npm); then
		echo "dist.sh: node or npm is missing; install them, or set WEB_DIST=none" >&2
		exit 1
	fi
	cmake -DSOURCE="$source/web" -DLOOK="$source/src/observe/page/look.css" -DTREE="$work/web" -DOUTPUT="$work/table.c" \
		-DNODE="$node" -DNPM="$npm" -DWANTED=ON -P "$source/web/build.cmake" >&2
	cp -r "$work/web/dist" "$tree/web/dist"
fi

tar -C "$work" --sort=name --format=gnu --mtime="@$SOURCE_DATE_EPOCH" --owner=0 --group=0 --numeric-owner \
	--mode=u+rwX,go+rX,go-w -c "sluice-$version" | gzip -9n >"$work/tar.gz"
mv "$work/tar.gz" "$output/sluice-$version.tar.gz"
echo "$output/sluice-$version.tar.gz"
