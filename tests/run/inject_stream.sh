#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# stdio_buffer_size: streams get a larger buffer, with the same data and fewer calls; what the program sets is kept.
. "$(dirname "$0")/libtest.sh"
export SLUICE_STORE_PATH=$work/store.db

echo '{"schema": "sluice.params/1", "parameters": [{"name": "stdio_buffer_size", "value": "64K"}]}' >params.json


# parameters: prints the records of parameters
parameters() {
	"$sluice" print trace | grep "posix_parameters" || true
}

# By default the class is not allowed.
check_rc 0 "$sluice" run -p params.json -o trace -- "$prog/streams" lines
check_has "$(cat err)" "params.allow = semantics"
check_eq "$(parameters)" "" "records"
cp lines bare
export SLUICE_PARAMS_ALLOW=semantics
check_rc 0 "$sluice" run -p params.json -o trace -- "$prog/streams" lines
check_eq "$(cat out)" written
cmp bare lines || fail "the data differs"
check_has "$(parameters)" 'name="stdio_buffer_size=65536"'
check_has "$(parameters)" 'set="stdio_buffer_size=65536"'
check_has "$(parameters)" "stdio_buffer_size=!streams"

# What the program sets is kept, and data of a stream that is never closed is written at exit.
check_rc 0 "$sluice" run -p params.json -o trace -- "$prog/streams" own
check_eq "$(cat out)" 1000 "buffer of the program"
check_eq "$(cat left)" "left open"
check_rc 0 "$sluice" run -p params.json -o trace -- "$prog/streams" special
check_has "$(parameters)" "stdio_buffer_size=!file"
