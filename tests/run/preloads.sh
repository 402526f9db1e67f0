#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Which library is preloaded, by which name, and when none is.
. "$(dirname "$0")/libtest.sh"

# copy DIRECTORY: a copy of the product that finds its library beside it
copy() {
	mkdir -p "$1"
	cp "$BUILD/sluice" "$BUILD/libsluice.so" "$1"
}

# The dynamic linker splits LD_PRELOAD at blanks and colons: such a library cannot be preloaded, and its parts must not
# be taken for libraries. The program runs all the same.
for directory in "with blank" "with:colon"; do
	copy "$work/$directory"
	check_rc 23 "$work/$directory/sluice" run -- "$prog/plain"
	check_words "$(cat err)" unrecorded blank colon
	! grep -q 'ld.so' err || fail "the dynamic linker complains: $(cat err)"
	check_rc 0 "$work/$directory/sluice" run --quiet -- sh -c 'echo "${LD_PRELOAD-none}"'
	check_eq "$(cat out)" none "LD_PRELOAD"
done

# A copy without the link for AddressSanitizer still records.
copy "$work/plain"
check_rc 23 "$work/plain/sluice" run --quiet -o trace -- "$prog/plain"
check_rc 0 "$work/plain/sluice" print trace
check_has "$(cat out)" plain.file "trace"

# The name that is preloaded is a link to the library, and all processes of the run use the same one.
check_rc 0 "$sluice" run --quiet -- sh -c 'echo "$LD_PRELOAD"; sh -c "echo \"\$LD_PRELOAD\""'
check_eq "$(sort -u out | wc -l)" 1 "number of different values"
[ "$(head -1 out)" -ef "$BUILD/libsluice.so" ] || fail "$(head -1 out) is not libsluice.so"
