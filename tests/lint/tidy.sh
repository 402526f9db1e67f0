#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# clang-tidy reports nothing. Nearly all of its time goes into the paths through functions: the analyzer gives up a
# function after a number of states, which is a sixth of its default unless SLUICE_LONG is set.
set -eu
. "$SOURCE/tests/libskip.sh"
command -v clang-tidy >/dev/null || skip clang-tidy
cd "$SOURCE"
. tests/lint/libcommands.sh

states=40000
[ -z "${SLUICE_LONG:-}" ] || states=225000
analyzer_options() {
	printf -- '--extra-arg=%s ' -Xclang -analyzer-config -Xclang "max-nodes=$states"
}
failed=0
# shellcheck disable=SC2046 # one word per option
xargs -P 2 -n 4 clang-tidy --quiet -p "$commands" $(analyzer_options) <"$commands/files" 2>"$commands/noise" || failed=1
[ $failed = 0 ] || grep -v 'warnings generated\|Suppressed' "$commands/noise" || true
exit $failed
