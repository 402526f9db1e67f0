#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# No test is skipped unnoticed. Every NEED of skip and skip_case is a package that make installs for the tests, or a name
# of tests/needs.txt. All programs of the tests were built. tests/check.py counts a test with a skipped case as skipped,
# and rejects skips because of packages.
set -eu
unset SLUICE_REPEAT
. "$SOURCE/tests/libskip.sh"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
known=$work/known
{
	grep -v '^#' "$SOURCE/tests/needs.txt" | cut -f 1
	sed -n -E 's/^([a-z]+,)*(check|programs|packages|cluster)(,[a-z]+)*[[:space:]]+//p' "$SOURCE/packaging/deps.apt"
} >"$known"

# unknown_needs FILE...: prints each skip whose NEED is not known. A variable is checked when the test runs.
unknown_needs() {
	local line need
	grep -HnoE '(^|[[:space:];&|{(])skip(_case)?[[:space:]]+("[^"]*"|'"'[^']*'"'|[^[:space:];)]+)' "$@" |
		grep -v 'lib\(skip\|test\)\.sh:' | while read -r line; do
		need=$(sed -E "s/.*skip(_case)?[[:space:]]+//; s/[\"']//g" <<<"$line")
		[[ $need != *\$* || $need == *" "* ]] || continue
		grep -qxF -- "$need" "$known" || echo "${line#"$SOURCE/"}: unknown need \"$need\"; see tests/libskip.sh"
	done
}
mapfile -t scripts < <(find "$SOURCE/tests" -name '*.sh' ! -path '*/lint/skips.sh')
unknown=$(unknown_needs "${scripts[@]}")
[ -z "$unknown" ] || { echo "$unknown"; exit 1; }
printf 'skip root\n[ -x a ] || skip_case "no MPI here"\n' >"$work/planted.sh"
[ "$(unknown_needs "$work/planted.sh" | grep -c 'planted.sh:2:.*"no MPI here"')" = 1 ] ||
	{ echo "skips: an unknown need was not reported"; exit 1; }

# package_of FLAVOR WORD...: the package that a program of kernels/mpi.cmake needs most
package_of() {
	local flavor=$1
	case " ${*:2} " in
	*" FORTRAN "*) echo gfortran ;;
	*" HDF5 "*) [ "$flavor" = serial ] && echo libhdf5-dev || echo "libhdf5-$flavor-dev" ;;
	*" PNETCDF "*) echo libpnetcdf-dev ;;
	*" NETCDF "*) [ "$flavor" = serial ] && echo libnetcdf-dev || echo libnetcdf-mpi-dev ;;
	*" URING "*) echo liburing-dev ;;
	*) [ "$flavor" = serial ] && echo gcc || echo "lib$flavor-dev" ;;
	esac
}

# missing_programs: prints the packages of programs that were not built. NetCDF and PnetCDF exist for one MPI only. MULTI and
# LARGE depend on the version of a library; run/current_libraries reports what it skips.
missing_programs() {
	local kind name words
	sed -n -E 's/^[[:space:]]*(mpi|serial)_program\(([a-z0-9_]+) (.*)\)$/\1 \2 \3/p' \
		"$SOURCE/tests/mpi/CMakeLists.txt" "$SOURCE/kernels/CMakeLists.txt" | grep -vwE 'MULTI|LARGE' | while read -r kind name words; do
		if [ "$kind" = serial ]; then
			[ -x "$BUILD/mpi/serial/$name" ] || package_of serial $words
			continue
		fi
		case $words in
		*NETCDF*) ls "$BUILD"/mpi/*/"$name" >/dev/null 2>&1 || package_of mpich $words ;;
		*)
			[ -x "$BUILD/mpi/mpich/$name" ] || package_of mpich $words
			[ -x "$BUILD/mpi/openmpi/$name" ] || package_of openmpi $words
			;;
		esac
	done
	[ -x "$BUILD/prog/uring" ] || echo liburing-dev
	[ -x "$BUILD/prog/libaio" ] || echo libaio-dev
}

# The last line of check.py, and how it treats each kind of result.
cat >"$work/CTestTestfile.cmake" <<'END'
add_test(good sh -c "exit 0")
add_test(bad sh -c "exit 1")
add_test(partly bash partly.sh)
add_test(package sh -c "echo 'skipped: requires libmpich-dev'; exit 77")
add_test(silent sh -c "exit 77")
add_test(absent "/nowhere/absent")
add_test(once sh -c "mkdir once && exit 1; exit 0")
set_tests_properties(partly package silent PROPERTIES SKIP_RETURN_CODE 77)
END
# counted EXPECTED CODE [CTEST_OPTION]...: check.py ends with the expected counts and code
counted() {
	local code=0
	python3 "$SOURCE/tests/check.py" "$work" title "${@:3}" >"$work/out" 2>&1 || code=$?
	[ "$(tail -n 1 "$work/out") $code" = "title: $1 $2" ] || { echo "skips: expected $1:"; cat "$work/out"; exit 1; }
}
echo '. "$SOURCE/tests/run/libtest.sh"; (skip_case root "a case"); true' >"$work/partly.sh"
mkdir "$work/bin"
printf '#!/bin/sh\n' >"$work/bin/apt-get"
chmod +x "$work/bin/apt-get"
PATH=$work/bin:$PATH
SLUICE_DEPS='' counted "1 passed, 5 failed, 1 skipped" 1
grep -q '^skipped: partly: .*root: a case$' "$work/out" || { cat "$work/out"; exit 1; }
SLUICE_DEPS=skip counted "2 passed, 3 failed, 2 skipped" 1
SLUICE_DEPS='' counted "1 passed, 0 failed, 1 skipped" 0 -R 'good|partly'
SLUICE_DEPS='' counted "0 passed, 1 failed, 0 skipped" 1 -R package
# Only as many failures as SLUICE_REPEAT says are repeated, and a test that passes only then is named.
rmdir "$work/once"
SLUICE_REPEAT=1 counted "1 passed, 2 failed, 0 skipped" 1 -R 'good|bad|once'
rmdir "$work/once"
SLUICE_REPEAT=2 counted "2 passed, 1 failed, 0 skipped" 1 -R 'good|bad|once'
rmdir "$work/once"
SLUICE_REPEAT=1 counted "2 passed, 0 failed, 0 skipped" 0 -R 'good|once'
grep -q '^unstable: once: ' "$work/out" || { cat "$work/out"; exit 1; }

missing=$(missing_programs | sort -u)
[ -z "$missing" ] || { for package in $missing; do skip_note "$package" "programs of the tests"; done; exit 77; }
