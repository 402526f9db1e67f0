#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# `sluice version --json` says how Sluice was built, with and without a repository; nothing depends on the folder of the
# build.
. "$(dirname "$0")/libtest.sh"

for program in sluice sluiced sluice-lab; do
	check_rc 0 "$BUILD/$program" version --json
	check_json out sluice.version/1
	cp out "$program.json"
done
cmp sluice.json sluiced.json
cmp sluice.json sluice-lab.json
check_eq "$(json_get out '["version"]')" "$(sed -n 's/^#define SLUICE_VERSION_[A-Z]* //p' "$SOURCE/include/sluice/sluice.h" | paste -sd .)"
check_eq "$(json_get out '["build"]["architecture"]')" "$(uname -m)" architecture
check_has "$(json_get out '["build"]["compiler"]')" " " compiler
check_eq "$(json_get out '["abi"]["plugin"]')" "$(sed -n 's/^#define SLUICE_PLUGIN_ABI //p' "$SOURCE/include/sluice/plugin.h")" "ABI of plug-ins"
for key in mpi hdf5 netcdf pnetcdf uring; do
	[[ $(json_get out "[\"interfaces\"][\"$key\"]") == [0-9]*.[0-9]* ]] || fail "no version of the interface of $key"
done
for key in glibc zstd jansson inih xxhash sqlite zlib mxml microhttpd; do
	[[ $(json_get out "[\"libraries\"][\"$key\"]") == [0-9]* ]] || fail "no version of $key"
done
# The application is known from the table that was compiled, not from what was wanted.
web=False
! grep -q '"/index.html"' "$BUILD/generated/web_table.c" || web=True
check_eq "$(json_get out '["parts"]["web"]')" "$web" "the web application"
! grep -F "$BUILD" out || fail "the facts name the folder of the build"
! grep -F "$SOURCE" out || fail "the facts name the folder of the sources"

# facts: what the build knows of the sources in the folder tree/
facts() {
	cmake -DSOURCE="$work/tree" -DWEB_TABLE="$work/table.c" -DOUTPUT="$work/facts.h" -P "$SOURCE/src/cli/facts.cmake" || fail facts.cmake
	cut -d' ' -f3 facts.h | paste -sd ' '
}
mkdir tree
: >table.c
check_eq "$(facts)" "NULL false false" "sources without a commit"
echo '{ "/index.html",' >table.c
echo 0123abcd >tree/COMMIT
check_eq "$(facts)" '"0123abcd" false true' "a release"
echo modified >>tree/COMMIT
check_eq "$(facts)" '"0123abcd" true true' "a release of modified sources"
echo '$Format$' >tree/COMMIT
check_eq "$(facts)" "NULL false true" "a file that is no commit"
# Nothing is written, and so nothing compiled, if nothing has changed.
touch -d @1 facts.h
facts >/dev/null
check_eq "$(stat -c %Y facts.h)" 1 "time of the facts"
type git >/dev/null 2>&1 || skip_case git "sources in a repository"
if type git >/dev/null 2>&1; then
	rm tree/COMMIT
	echo 1 >tree/file
	git -C tree init -q
	git -C tree add file
	git -C tree -c user.name=x -c user.email=x@example.org commit -qm x
	check_eq "$(facts)" "\"$(git -C tree rev-parse HEAD)\" false true" "a repository"
	echo new >tree/untracked
	check_eq "$(facts | cut -d' ' -f2)" false "modified by an untracked file"
	echo 2 >tree/file
	check_eq "$(facts)" "\"$(git -C tree rev-parse HEAD)\" true true" "a modified repository"
fi
