# SPDX-License-Identifier: BSD-3-Clause
# Reports what a test cannot check on this machine; to be sourced. A NEED is what is missing: a package that
# packaging/deps.apt lists for the purpose "check", "programs", "packages" or "cluster", or a name of needs.txt.
# tests/check.py evaluates the lines.

# skip_note NEED [CASE]: prints the line of a skipped test, or of one of its cases
skip_note() {
	echo "skipped: requires $1${2:+: $2}"
}

# skip NEED [CASE]: ends the test; ctest reports it as skipped
skip() {
	skip_note "$@"
	exit 77
}
