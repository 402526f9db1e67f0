#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Torture: all descriptors closed, very high and very many descriptors, paths relative to other directories, and
# unreadable arguments.
. "$(dirname "$0")/libtorture.sh"

for how in range from loop; do
	case_begin "all descriptors are closed by $how"
	both "$prog/descriptors" $how
	check_sound
	check_rows 1 'function == "write" and file == "before" and error == 0'
	check_rows 2 'function == "write" and file == "after" and of(relation)["file"] == "after"'
	check_rows 1 'function == "write" and error == 9 and not relation'
done

case_begin "standard descriptors are closed and opened as files"
both "$prog/descriptors" standard
check_sound
check_rows 3 'function == "open" and handle in (0, 1, 2)'
check_rows 1 'function == "write" and file == "in"'
check_rows 1 'function == "printf" and file == "out"'
check_rows 1 'function in ("fprintf", "fwrite") and file == "err"'

case_begin "the program prints to a closed standard output"
both "$prog/descriptors" closed_output
check_eq "$captured_rc" 16 "exit code"
check_sound

case_begin "everything is closed: no descriptor of Sluice is visible"
both "$prog/descriptors" all_closed
check_eq "$captured_rc" 1 "number of the child's first descriptor"
check_sound
check_rows 1 'function == "write" and file == "second" and p == 1'

case_begin "dup2 and F_DUPFD give high numbers"
both "$prog/descriptors" high
check_sound
check_rows 3 'function == "write" and file == "high"'
check_rows 1 'function == "write" and of(relation).get("function") == "fcntl"'
check_rows 3 'function == "close" and error == 9 or function == "write" and error == 9'

n=100000
if ! (ulimit -n 100100) 2>/dev/null; then
	n=$(($(ulimit -Hn) - 200))
	echo "only $n files can be open here"
fi
case_begin "$n files are open at the same time"
both "$prog/descriptors" many $n
rm -rf bare captured
check_eq "$(lost)" 0 "lost"
check_rows $n 'function == "write" and file == of(relation)["file"] and size == 1 and handle == of(relation)["handle"]'
check_rows $n 'function == "close" and file and error == 0'

case_begin "names are relative to directories"
both "$prog/descriptors" relative
check_sound
for name in one a/two a/b/three a/b/../four a/five six a/nine; do
	check_rows 1 "function == 'write' and file == '$name' and p == 0"
done
check_rows 1 'function == "write" and file == "a/seven" and p == 1'
check_rows 1 'function == "write" and file == "a/../eight" and p == 1'

case_begin "the program changes its root directory"
if [ "$(id -u)" = 0 ]; then
	unrecorded=1
	both "$prog/descriptors" new_root 100
	check_sound
	check_rows 100 'function == "pwrite" and file == "root/inside"'
	check_rows 1 'function == "write" and file == "out" and p == 0'
	# Calls beyond the space of the existing chunks are counted, and the program is not affected.
	bare "$prog/descriptors" new_root 50000
	captured "$prog/descriptors" new_root 50000
	same_code
	same_out
	same_files
	n=$(($(rows 'function == "pwrite"') + $(lost))) # other calls may be lost as well
	[ $n -ge 50000 ] && [ $n -le 50020 ] || wrong "$n of 50000 writes recorded or lost"
else
	skip_case root "$case"
fi

case_begin "system calls bypass libc"
both "$prog/descriptors" behind
check_sound

case_begin "arguments that cannot be read: results and errors are the same"
both "$prog/faults" all
check_sound
# Paths of failed calls are recorded if they can be read.
check_rows 1 'function == "open" and file == "/nonexistent/x" and error == 2'
check_least 5 'error == 14 and not file'

case_begin "a pipe has no reader"
both "$prog/faults" broken_pipe
both "$prog/faults" broken_pipe ignore
check_sound
check_rows 1 'function == "write" and error == 32'
