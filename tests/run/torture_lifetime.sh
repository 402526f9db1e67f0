#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Torture: code that runs before and after the library, libraries that are loaded and unloaded, other preloaded
# libraries, and an allocator that does I/O itself.
. "$(dirname "$0")/libtorture.sh"

case_begin "constructors run before the library, destructors after it"
both "$prog/lifetime" plain
check_sound
for text in constructor main atexit destructor; do # preinit comes before libc itself
	check_rows 1 "function == 'write' and file == 'notes' and size == $((${#text} + 1))"
done
check_rows 1 'function == "fputs" and file == "flushed"'

case_begin "quick_exit"
both "$prog/lifetime" quick
check_sound
check_rows 1 'function == "write" and file == "notes" and size == 7'

case_begin "a library is opened and closed five times, and does I/O each time"
both "$prog/lifetime" load "$prog/plugin.so" 5
check_sound
check_rows 5 'function == "write" and file == "plugin.notes" and size == 6'
check_rows 10 'function == "write" and file == "plugin.notes" and size == 5'
check_rows 5 'function == "fputs" and file == "plugin.stream"'

# preloaded ORDER LIBRARY COMMAND...: preloads the library before or after libsluice
preloaded() {
	local list='$0:$LD_PRELOAD'
	[ "$1" = before ] || list='$LD_PRELOAD:$0'
	bare sh -c 'LD_PRELOAD=$0 exec "$@"' "${@:2}"
	captured sh -c "LD_PRELOAD=$list exec \"\$@\"" "${@:2}"
	same_code
	same_out
	same_err
}

for order in before after; do
	case_begin "the constructor of another library opens files, $order libsluice"
	preloaded $order "$prog/plugin.so" "$prog/plain"
	cmp bare/plugin.notes captured/plugin.notes || wrong "the library's notes differ"
	check_eq "$(lost)" 0 "lost"
	check_rows 1 'function == "write" and file == "plugin.notes" and size == 6'
	check_rows 1 'function == "write" and file == "plugin.notes" and size == 5'
	check_rows 1 'function == "write" and file == "plain.file"'

	case_begin "another library counts write(), $order libsluice"
	preloaded $order "$prog/counter.so" "$prog/plain"
	cmp bare/counted captured/counted || wrong "the library counted $(cat captured/counted), bare $(cat bare/counted)"
	check_eq "$(lost)" 0 "lost"
	check_rows 1 'function == "write" and file == "plain.file"'

	case_begin "an allocator does its own I/O, $order libsluice"
	preloaded $order "$prog/allocator.so" "$prog/allocates"
	check_eq "$(lost)" 0 "lost"
	check_rows 400 'function == "pwrite" and file == "file"'
	check_least 1000 'function == "write" and file == "/dev/null"'
done

case_begin "sluice run keeps the user's preloaded libraries, after its own"
rm -f "$work/counted"
LD_PRELOAD=$prog/counter.so "$sluice" run -o "$work/trace" -- sh -c 'echo $LD_PRELOAD' >out
case $(cat out) in
*/libsluice.so:"$prog/counter.so") ;;
*) wrong "LD_PRELOAD is $(cat out)" ;;
esac
