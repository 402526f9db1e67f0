#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# cppcheck reports nothing but what cppcheck.txt suppresses.
set -eu
. "$SOURCE/tests/libskip.sh"
command -v cppcheck >/dev/null || skip cppcheck
cd "$SOURCE"
. tests/lint/libcommands.sh
# It has no header files of the system, and no macros of the compiler.
cppcheck --quiet -j 2 --project="$commands/compile_commands.json" --enable=warning,performance,portability \
	'-DElfW(type)=Elf64_##type' "-D__$(uname -m)__=1" --inline-suppr --error-exitcode=1 --suppressions-list=tests/lint/cppcheck.txt
