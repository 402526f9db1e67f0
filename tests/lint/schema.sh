#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The tables in docs/reference/site.md are those of src/store/schema.c.
set -eu
: "${BUILD:?names the build tree}" "${SOURCE:?names the source tree}"
expected=$("$BUILD/prog/schema")
actual=$(sed -n '/^| table | since /,/^$/p' "$SOURCE/docs/reference/site.md")
[ "$actual" = "$expected" ] || {
	diff <(echo "$actual") <(echo "$expected") >&2 || true
	echo "docs/reference/site.md: replace the list of tables by the output of $BUILD/prog/schema" >&2
	exit 1
}
