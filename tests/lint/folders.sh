#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# No folder of src/, lab/ or tests/unit holds more than 25 .c files: a larger one needs sub-folders.
set -eu
cd "$SOURCE"
limit=25

# large_folders FOLDER...: the folders that hold too many files, with their numbers of files
large_folders() {
	find "$@" -name '*.c' -printf '%h\n' | sort | uniq -c |
		awk -v limit=$limit '$1 > limit { printf "%s holds %d .c files; the limit is %d\n", $2, $1, limit }'
}

found=$(large_folders src lab tests/unit)
[ -z "$found" ] || { echo "$found"; exit 1; }

# The check itself works.
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/full"
for i in $(seq $((limit + 1))); do
	: >"$work/full/$i.c"
done
[ "$(large_folders "$work" | wc -l)" = 1 ] || { echo "a folder that is too large was not reported"; exit 1; }
