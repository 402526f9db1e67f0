# SPDX-License-Identifier: BSD-3-Clause
# Helpers of the benchmarks that are shell scripts; to be sourced. It sets failed, keys and missed.
failed=0 keys= missed=

say() {
	printf '%s\n' "$*"
}

# miss TEXT: notes a missed threshold or a failure
miss() {
	missed="${missed}missed: $*
"
	failed=$((failed + 1))
}

# key NAME VALUE: adds a figure to the closing line
key() {
	keys="$keys $1=$2"
}

# bars FILE: reads the lines "key NAME VALUE" and "missed: TEXT" that an evaluation has written
bars() {
	local line
	while read -r line; do
		case $line in
		"key "*) key ${line#key } ;;
		missed:*) miss "${line#missed: }" ;;
		esac
	done <"$1"
}

# finish NAME: prints what was missed and the closing line; fails if a threshold was missed
finish() {
	printf '%s' "$missed"
	say "bench $1:$keys failed=$failed"
	[ $failed = 0 ]
}

# isolate DIRECTORY: settings of the user must not affect the measurement
isolate() {
	local variable
	for variable in $(compgen -e SLUICE_ || true); do
		unset "$variable"
	done
	export LC_ALL=C HOME=$1 SLUICE_ETC=/dev/null XDG_CONFIG_HOME=$1 XDG_DATA_HOME=$1
	export SLUICE_TRACE_DIR=$1/runs SLUICE_STORE_PATH=$1/store.db
}

# workspace KEEP BASE: enters the directory of the benchmark and sets work: KEEP, which stays, or if that is empty a new
# directory in BASE, which is removed at the end
workspace() {
	if [ -n "$1" ]; then
		mkdir -p "$1"
		work=$(cd "$1" && pwd)
	else
		work=$(mktemp -d "$2/sluice-bench.XXXXXX")
		trap 'cd /; rm -rf "$work"' EXIT
	fi
	cd "$work"
	isolate "$work"
}

# less A B: succeeds if A < B
less() {
	awk -v a="$1" -v b="$2" 'BEGIN { exit !(a < b) }'
}

# ratio A B: A / B, or 0
ratio() {
	awk -v a="$1" -v b="$2" 'BEGIN { printf "%.4f\n", (b > 0 ? a / b : 0) }'
}

# median FILE: the median of a file with one number per line
median() {
	sort -g "$1" | awk '{ v[NR] = $1 } END { print NR % 2 ? v[(NR + 1) / 2] : (v[NR / 2] + v[NR / 2 + 1]) / 2 }'
}

# told FILE EXPRESSION: evaluates a Python expression on the JSON object d in FILE
told() {
	python3 -c 'import json, sys
d = json.load(open(sys.argv[1]))
print(eval(sys.argv[2], {"d": d}))' "$1" "$2"
}
