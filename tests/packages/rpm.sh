#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The RPM packages: rpmbuild of this machine builds them from the release, and they have the same files as the Debian
# packages. rpmbuild does not know the packages of Debian, so it does not check BuildRequires.
. "$(dirname "$0")/libpackages.sh"
needs_command rpmbuild rpm
needs_command rpm2cpio rpm2cpio
needs_command cpio cpio
[ -s "$release" ] || fail "$release was not made"
spec=$SOURCE/packaging/rpm/sluice.spec
check_eq "$(sed -n 's/^Version: *//p' "$spec")" "$version" "version of the spec"

# The home of the test has no settings of rpm. Debugging information needs tools that Debian does not have.
rm -rf "$packages/rpm"
logged rpm rpmbuild -ba --nodeps --without debug --define "_topdir $packages/rpm" --define "_sourcedir $packages" \
	--define "_smp_mflags -j$(nproc)" "$spec"
rm -rf "$packages/rpm/BUILD" "$packages/rpm/BUILDROOT"
mapfile -t rpms < <(find "$packages/rpm/RPMS" -name '*.rpm' | sort)
check_eq ${#rpms[@]} 6 "number of packages"
[ -s "$(ls "$packages"/rpm/SRPMS/sluice-"$version"-*.src.rpm)" ] || fail "no source package"

# normal: the names of files, without what differs between the two kinds of packages: folders of libraries and units, files
# that each kind adds to the documents, compressed files
normal() {
	sed -E 's|^\./|/|; s|^/usr/lib/[a-z0-9_]+-linux-gnu/|/LIB/|; s|^/usr/lib64/|/LIB/|; s|^/usr/lib/(sluice\|cmake\|pkgconfig)/|/LIB/\1/|
		s|^/usr/lib/systemd|/lib/systemd|; s|/(vendor-completions\|site-functions)/|/ZSH/|; s|\.gz$||
		s|/usr/lib/(sysusers\|tmpfiles)\.d/sluiced?\.conf|/\1|' |
		grep -vE '^/usr/share/(licenses|lintian)/|^/usr/lib/debug|^/usr/lib/\.build-id|^/usr/share/doc/[^/]+/(changelog.*|copyright|NEWS\.Debian)$' | sort
}
# Debian packages by the names of the RPM packages.
declare -A names=([sluice]=sluice [libsluice]=libsluice [sluice-devel]=libsluice-dev [sluiced]=sluiced
	[sluice-kernels]=sluice-kernels [sluice-doc]=sluice-doc)
ls "$debs"/sluice_*.deb >/dev/null 2>&1 || fail "the Debian packages were not built"
for name in "${!names[@]}"; do
	rpm=$(printf '%s\n' "${rpms[@]}" | grep -E "/$name-$version-[^/]*\.rpm$") || fail "no package $name"
	rpm -qpl "$rpm" >list 2>/dev/null || fail "rpm -qpl $rpm"
	mkdir -p "root/$name"
	(cd "root/$name" && rpm2cpio "$rpm" | cpio -idm --quiet)
	(cd "root/$name" && find . ! -type d) | normal >"$name.rpm"
	dpkg-deb --fsys-tarfile "$debs/${names[$name]}"_*.deb | tar -t | grep -v '/$' | normal >"$name.deb"
	[ -s "$name.deb" ] || fail "the Debian package of $name is empty"
	diff "$name.deb" "$name.rpm" || fail "the files of $name differ from those of the Debian package"
done
# What finds a missing file.
! sed 1d sluice.rpm | diff sluice.deb - >/dev/null || fail "a missing file was not found"

# The unpacked packages work: the program finds its library relative to itself.
mkdir all
for name in sluice libsluice; do
	cp -r "root/$name/." all
done
check_rc 7 all/usr/bin/sluice run --quiet -- sh -c 'cat /etc/passwd; exit 7'
check_rc 0 all/usr/bin/sluice print
check_has "$(cat out)" '"/etc/passwd"'
check_rc 0 all/usr/bin/sluice version --json
check_json out sluice.version/1
# The library must not become a dependency of foreign packages, and needs nothing but libc.
check_eq "$(rpm -qp --provides "$(printf '%s\n' "${rpms[@]}" | grep /libsluice-)" 2>/dev/null | grep -c '\.so')" 0 "provided libraries"

if type rpmlint >/dev/null 2>&1; then
	rpmlint -r "$SOURCE/packaging/rpm/sluice.rpmlintrc" "$spec" >"$packages/rpmlint.log" 2>&1 || true
	check_has "$(cat "$packages/rpmlint.log")" " 0 errors" "rpmlint"
	# One error that rpmlint finds.
	sed 's|^%{_bindir}/sluice$|/usr/lib/sluice|' "$spec" >planted.spec
	! rpmlint -r "$SOURCE/packaging/rpm/sluice.rpmlintrc" planted.spec >planted.log 2>&1 || fail "rpmlint accepts a path that belongs to another architecture"
else
	skip_case rpmlint rpmlint
fi
