#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The time of a call of sluice/instrument.h without Sluice (bar: 2 ns) and under `sluice run`. BUILD names the build tree.
set -eu
. "$(dirname "$0")/libbench.sh"
build=$(realpath "${BUILD:-build}")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
isolate "$work"

"$build/bench/bench_instrument" >"$work/absent"
"$build/sluice" run --quiet -o "$work/trace" -- "$build/bench/bench_instrument" 20000 >"$work/present"

# ns FILE NAME: the time of a call, without that of the loop
ns() {
	awk -v name="$2" '$1 == "loop" { loop = $2 } $1 == name { print ($2 > loop ? $2 - loop : 0) }' "$work/$1"
}
printf '%-12s %14s %22s %14s\n' call "absent (ns)" "to a function call" "recorded (ns)"
function_ns=$(ns absent function)
for name in phase begin end pair target best; do
	absent=$(ns absent $name) present=$(ns present $name) # no figure for begin and end alone
	ratio=$(awk -v a="$absent" -v f="$function_ns" 'BEGIN { printf "%.2f", (f > 0 ? a / f : 0) }')
	printf '%-12s %14.2f %22s %14s\n' $name "$absent" "$ratio" "$(printf %.1f "${present:-0}")"
	key "${name}_absent_ns" "$(printf %.2f "$absent")"
	[ -z "$present" ] || key "${name}_present_ns" "$(printf %.1f "$present")"
	# A pair is two calls.
	bar=2
	[ $name != pair ] || bar=4
	awk -v a="$absent" -v b=$bar 'BEGIN { exit !(a < b) }' || miss "$name takes $absent ns without Sluice, bar $bar ns"
done
key function_ns "$(printf %.2f "$function_ns")"
finish instrument
