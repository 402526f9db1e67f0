#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# cppcheck reports nothing but what cppcheck.txt suppresses.
set -eu
command -v cppcheck >/dev/null || { echo "skipped: cppcheck is not installed"; exit 77; }
cd "$SOURCE"
. tests/lint/libcommands.sh
cppcheck --quiet -j 2 --project="$commands/compile_commands.json" --enable=warning,performance,portability \
	--inline-suppr --error-exitcode=1 --suppressions-list=tests/lint/cppcheck.txt
