#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The Debian packages: built twice, in different folders and with another umask, locale, time zone and number of jobs, they
# have the same bytes; lintian finds no errors.
. "$(dirname "$0")/libpackages.sh"
needs_command dpkg-buildpackage dpkg-dev
needs_command dh debhelper
needs_command lintian lintian
[ -s "$release" ] || fail "$release was not made"

# Caches of compilers would compare a result with itself.
export CCACHE_DISABLE=1
rm -rf "$debs" "$packages/second"
(logged deb-first env -u MAKEFLAGS DEB_BUILD_OPTIONS="parallel=$(nproc)" sh "$SOURCE/packaging/deb.sh" "$release" "$debs")
(
	umask 077
	logged deb-second env -u MAKEFLAGS LC_ALL=C.UTF-8 LANG=C.UTF-8 TZ=Asia/Tokyo HOME=/nonexistent USER=somebody \
		DEB_BUILD_OPTIONS="parallel=$(($(nproc) + 1))" sh "$SOURCE/packaging/deb.sh" "$release" "$packages/second/of/another/length"
)
chmod -R go+rX "$packages/second"
mkdir first second
cp "$debs"/*.deb first
cp "$packages"/second/of/another/length/*.deb second
[ "$(ls first | wc -l)" -ge 10 ] || fail "packages are missing: $(ls first)"
same_files first second || fail "the packages depend on how they are built"
rm -rf "$packages/second"

# What finds a difference: one byte of one file in one package.
package=$(ls first/sluice_*.deb)
cp -r first planted
dpkg-deb -R "$package" planted.tree
echo >>planted.tree/usr/share/sluice/machines/vesta.ini
dpkg-deb --root-owner-group -b planted.tree "planted/$(basename "$package")" >/dev/null
! same_files first planted >differences || fail "a difference was not found"
check_has "$(cat differences)" vesta.ini

logged lintian lintian --fail-on error "$debs"/*.changes
# One error that lintian finds: a file outside of the standard directories.
mkdir -p planted.tree/opt/sluice/bin planted.tree/usr/local/bin
cp planted.tree/usr/bin/sluice planted.tree/usr/local/bin/
dpkg-deb --root-owner-group -b planted.tree "planted/$(basename "$package")" >/dev/null
if lintian --fail-on error "planted/$(basename "$package")" >lintian.out 2>&1; then
	fail "lintian accepts a program in /usr/local"
fi
