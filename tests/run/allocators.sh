#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Programs with another allocator behave as without Sluice, whether they are linked with it or the user preloads it, and
# also if Sluice is disabled. An allocator may call the guest while it initializes itself, so the guest must not call
# anything that allocates memory.
. "$(dirname "$0")/libtorture.sh"

# check_allocates: the trace has all calls of prog/allocates
check_allocates() {
	check_eq "$(lost)" 0 "lost"
	check_rows 400 'function == "pwrite" and file == "file"'
}

# allocator PACKAGE LIBRARY
allocator() {
	local library name=$2
	library=$(PATH=$PATH:/sbin:/usr/sbin ldconfig -p | sed -n "s/.*$name .*=> //p" | head -1)
	if [ -z "$library" ]; then
		skip_case "$1"
		return
	fi
	case_begin "linked with $name"
	${CC:-cc} -O1 -I "$SOURCE/tests/prog" -o linked "$SOURCE/tests/prog/allocates.c" -pthread \
		-Wl,--no-as-needed "$library" || wrong "cannot be linked"
	both "$work/linked"
	check_allocates
	check_sound

	case_begin "linked with $name, disabled"
	bare "$work/linked"
	captured env SLUICE_DISABLE=1 "$work/linked"
	same_code
	same_out
	same_err
	check_rows 0 'function == "pwrite"'

	case_begin "$name is preloaded by the user"
	export LD_PRELOAD=$library
	both "$prog/allocates"
	unset LD_PRELOAD
	check_allocates
	check_eq "$captured_rc" 0 "exit code"

	case_begin "$name is preloaded by a script"
	both sh -c "LD_PRELOAD=$library\${LD_PRELOAD:+:\$LD_PRELOAD} exec \"\$0\"" "$prog/allocates"
	check_allocates
}
allocator libjemalloc2 libjemalloc.so.2
allocator 'libgoogle-perftools4*' libtcmalloc.so.4
allocator 'libtcmalloc-minimal4*' libtcmalloc_minimal.so.4
allocator 'libmimalloc*' 'libmimalloc\.so\.[23]'
allocator libtbbmalloc2 libtbbmalloc_proxy.so.2

# Redis is linked with jemalloc. The server runs until it is told to stop, and saves its data.
if ! command -v redis-server >/dev/null || ! command -v redis-cli >/dev/null; then
	skip redis-server
fi
case_begin "redis-server"
cat >session.sh <<'END'
redis-server --port 0 --unixsocket "$PWD/socket" --save '' --daemonize no --logfile "$PWD/log" --dir "$PWD" &
server=$!
ask() { redis-cli -s "$PWD/socket" "$@"; }
for i in $(seq "$1"); do
	[ "$(ask ping 2>/dev/null)" = PONG ] && break
	kill -0 $server || exit 9
	sleep 0.05
done
ask set key value
ask get key
ask save
ask shutdown nosave >/dev/null 2>&1
code=0
wait $server || code=$?
ls dump.rdb
rm -f log socket dump.rdb
exit $code
END
both sh "$work/session.sh" "$polls"
check_eq "$bare_rc" 0 "exit code"
check_has "$(cat captured.out)" value "output"
