#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# usage: deb.sh RELEASE.tar.gz OUTPUT_DIRECTORY [DPKG_BUILDPACKAGE_OPTION]...
# Builds the Debian source package and the binary packages of a release that packaging/dist.sh has written. They are the
# only files that are left in OUTPUT_DIRECTORY. Requires the packages of packaging/deps.apt with the purpose "packages".
set -eu
release=$(realpath "$1")
mkdir -p "$2"
output=$(cd "$2" && pwd)
shift 2
version=$(basename "$release" .tar.gz)
version=${version#sluice-}
cp "$release" "$output/sluice_$version.orig.tar.gz"
tar -x -z -C "$output" -f "$release"
cd "$output/sluice-$version"
cp -r packaging/debian debian
dpkg-buildpackage -us -uc "$@"
cd ..
rm -rf "sluice-$version"
