#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Every header compiles without another header before it.
set -eu
cd "$SOURCE"
failed=0
flags="-std=gnu17 -D_GNU_SOURCE -Wall -Wextra -Werror -Wno-unused-function -Wno-unused-const-variable -fsyntax-only"
while read -r header; do
	# As an include, because a main file would cause warnings about its guard and its static functions.
	# shellcheck disable=SC2086
	printf '#include "%s"\n' "$PWD/$header" |
		${CC:-cc} $flags -Isrc -Iinclude -I. -I"$BUILD/generated" -x c - ||
		{ echo "$header does not compile without other headers"; failed=1; }
done < <(find src lab include -name '*.h' | sort)
exit $failed
