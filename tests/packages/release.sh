#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The release has what packages need, and the same bytes whenever and wherever it is made. A build of it knows its commit.
. "$(dirname "$0")/libpackages.sh"
if [ -s "$BUILD/web/dist/index.html" ]; then
	export WEB_DIST=$BUILD/web/dist
else
	# packaging/dist.sh would ask npm as well, and the build could not.
	export WEB_DIST=none
	skip_case web "the web application in packages"
fi
logged dist bash "$SOURCE/packaging/dist.sh" "$packages"
mkdir again
(umask 077 && TZ=Asia/Tokyo LC_ALL=C bash "$SOURCE/packaging/dist.sh" again >/dev/null)
cmp "$release" "again/sluice-$version.tar.gz" || fail "two releases of the same sources differ"
(SOURCE_DATE_EPOCH=1 bash "$SOURCE/packaging/dist.sh" again >/dev/null)
! cmp -s "$release" "again/sluice-$version.tar.gz" || fail "the time of a release is not that of SOURCE_DATE_EPOCH"

tar -xzf "$release"
cd "sluice-$version"
for file in CMakeLists.txt LICENSE packaging/debian/rules packaging/rpm/sluice.spec .github/workflows/check.yml; do
	[ -s "$file" ] || fail "$file is not in the release"
done
[ ! -e .git ] || fail "the release has a repository"
if [ -e "$SOURCE/.git" ]; then
	check_eq "$(head -n 1 COMMIT)" "$(git -C "$SOURCE" rev-parse HEAD)" "commit of the release"
fi
# A release of a release is the same.
[ ! -d web/dist ] || WEB_DIST=
SOURCE_DATE_EPOCH=1 bash packaging/dist.sh "$work/third" >/dev/null
cmp "$work/again/sluice-$version.tar.gz" "$work/third/sluice-$version.tar.gz" || fail "the release of a release differs"
