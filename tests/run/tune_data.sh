#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# What trials wrote is compared, whatever becomes of it: a program that writes other data under a parameter is found, one
# that does not is not accused, and "identical" is only said after a comparison. tests/mpi/liar.c is the program.
. "$(dirname "$0")/libtest.sh"
. "$(dirname "$0")/../mpi/libmpi.sh"
mpi_has mpich liar || skip libmpich-dev
export TMPDIR=$work/tmp
mkdir "$TMPDIR" data
cd data
echo '{"schema":"sluice.params/1","parameters":[{"name":"romio_cb_write","value":"disable"}]}' >"$work/params.json"

# trial MANNER [WORD]: two runs without and one with the parameter, in a fresh directory; sets state, reason, compared
trial() {
	rm -rf -- *
	mkdir elsewhere another
	head -c 2000000 /dev/zero >input
	head -c 100 /dev/zero >old
	: >runs
	"$prog/trial" "$sluice" -c -b 2 -p "$work/params.json" "${options[@]}" -- "$BUILD/mpi/mpich/liar" "$@" \
		>"$work/figures" 2>"$work/err" || fail "trial $*: $(cat "$work/err")"
	state=$(sed -n 's/^state=//p' "$work/figures" | tail -1)
	reason=$(sed -n 's/^reason=//p' "$work/figures" | tail -1)
	compared=$(sed -n 's/^compared=//p' "$work/figures" | tail -1)
}
options=()

# manner MANNER EXPECTED WHERE: without a lie the comparison says EXPECTED (a start of it), and a lie is found in WHERE
manner() {
	trial "$1"
	check_eq "$state" good "$1: state ($reason)"
	[[ $compared == "$2"* ]] || fail "$1: \"$compared\" does not start with \"$2\""
	[ -z "$3" ] && return
	trial "$1" lie
	check_eq "$state" wrong "$1: state of a lie ($compared)"
	check_has "$reason" "$3" "$1: reason"
}

manner plain "identical: 1 file, 19.5 KiB" "out differs"
manner rename "identical: 1 file, 19.5 KiB" "out differs"
manner rename-directory "identical: 1 file, 19.5 KiB" "made/out differs"
manner replace-second "identical: 2 files" "out differs"
manner replace-first "identical: 2 files" "out (version 1) differs"
manner remove "identical: 1 file, 19.5 KiB" "out (version 1) differs"
manner truncate "identical: 2 files" "out (version 1) differs"
manner append "identical: 1 file, 19.6 KiB" "old differs"
manner update "identical: 1 file, 100 B" "old differs"
manner empty "not compared: all files are empty" "instead of 0"
manner two "identical: 2 files, 39.1 KiB" "two differs"
manner one-more "identical: 1 file" "two is not written"
manner random-and-plain "partly: 1 of 2 files, 19.5 KiB; random differs between runs" "out differs"
manner random "not compared: no file could be compared; random differs" ""
manner holes "partly: 1 file, 15.5 KiB; 4.00 KiB of out differ" "out differs"
manner log "partly: 1 file, " "log differs in line 2"
manner minute "partly: 1 of 2 files, 19.5 KiB; stamp differs between runs" "out differs"
manner stdout "identical: standard output, 1 of 1 lines" "standard output differs in line 1"
manner process-name "identical: 1 file, 19.5 KiB" "out."
manner elsewhere "identical: 1 file, 19.5 KiB" "another/out differs"
manner fork "identical: 1 file, 19.5 KiB" "out differs"
manner map "identical: 1 file, 19.5 KiB" "out differs"
manner nothing "not compared: the program wrote no file" ""

# Runs that fail or hang are not compared.
trial fail lie
check_eq "$(sed -n 's/^state=//p' "$work/figures" | tr '\n' ' ')" "failed good failed " "random failure"
check_eq "$compared" "" "comparison of a run that failed"
options=(-l 5)
trial hang lie
check_eq "$state" slow "a run that hangs"
check_eq "$compared" "" "comparison of a run that hangs"
options=()

# A verify command counts if nothing can be compared, and is mentioned otherwise.
options=(-v true)
trial random
check_has "$compared" "verified: "
trial plain
check_words "$compared" identical --verify
options=()

# The result of a tuning says it, in words, in JSON and in the knowledge base.
echo '{"schema": "sluice.space/1", "dimensions": [{"name": "romio_cb_write", "values": [null, "disable"]}]}' >"$work/space.json"
# tune OPTION... -- MANNER [WORD]
tune() {
	local arguments=()
	while [ "$1" != -- ]; do
		arguments+=("$1")
		shift
	done
	shift
	rm -f out random
	# A run that the machine delays must not be aborted as slow: it would not be compared.
	check_rc 0 "$sluice" tune --space "$work/space.json" --search exhaustive --runs 8 --repeat 1 --pairs 4 --no-ablation \
		--timeout-factor 1000 "${arguments[@]}" -- "$BUILD/mpi/mpich/liar" "$@"
}
tune --json -- rename lie
check_json "$work/out" sluice.tune/1
check_eq "$(json_get "$work/out" '["data"]')" "not compared" "data of a lie"
check_eq "$(json_get "$work/out" '["states"]["wrong"] > 0')" True "wrong runs"
check_eq "$(json_get "$work/out" '["proof"]["holds"]')" False "proof of a lie"
tune --json -- random
check_eq "$(json_get "$work/out" '["data"]')" "not compared" "data that varies"
check_has "$(json_get "$work/out" '["compared"]')" "random differs"
tune --json -- slow
check_eq "$(json_get "$work/out" '["data"]')" "identical" "data"
check_rc 0 "$sluice" kb tunings
check_words "$(cat "$work/out")" identical "not compared"
# It is much faster, but maybe not while the machine is busy.
"$sluice" kb list >"$work/list" || true
if entry=$(grep -m 1 " identical " "$work/list"); then
	check_rc 0 "$sluice" kb show "${entry%% *}"
	check_words "$(cat "$work/out")" "identical: 1 file"
	check_rc 0 "$sluice" run --summary --tune=apply -- "$BUILD/mpi/mpich/liar" slow
	check_words "$(cat "$work/err")" "identical: 1 file"
fi
