#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Torture: children that share the memory of their parent, and programs that execute other programs.
. "$(dirname "$0")/libtorture.sh"

case_begin "vfork and _exit: the child's close and dup2 are not the parent's"
both "$prog/forks" vfork_exit
check_sound
check_rows 2 'function == "write" and file == "log" and of(relation)["function"] == "open"'
check_rows 1 'function == "write" and file == "other" and of(relation)["function"] == "open"'
check_rows 0 'function in ("close", "dup2")'

case_begin "vfork and exec"
both "$prog/forks" vfork_exec
check_sound
check_rows 2 'function == "write" and file == "log"'
check_rows 1 'function == "write" and file == "other" and p == 0'
check_least 1 'file == "other" and p == 1'

case_begin "vfork in a child of vfork"
both "$prog/forks" vfork_twice
check_sound
check_rows 0 'function == "close"'
check_rows 1 'function == "write" and file == "log" and of(relation)["function"] == "open"'

case_begin "vfork a hundred times, with half of the programs missing"
both "$prog/forks" vfork_many
check_sound
check_rows 100 'function == "write" and file == "log"'

case_begin "posix_spawn"
both "$prog/forks" spawn
check_sound
check_rows 1 'function == "write" and file == "log" and p == 0'
check_least 1 'file == "spawned" and p == 1'

case_begin "system and popen"
both "$prog/forks" shells
check_sound
check_rows 2 'function == "popen" and error == 0'
check_rows 1 'function == "write" and file == "log" and p == 0'
check_least 1 'file == "piped"'

case_begin "four programs in a chain in one process, each after a failed exec"
both "$prog/forks" chain 3
check_sound
for link in 0 1 2 3; do
	check_rows 2 "function == 'write' and file == 'link$link' and p == $((3 - link))"
done
check_eq "$(json_get report.json '["run"]["processes"]')" 4 "processes"
