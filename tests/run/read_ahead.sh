#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The plug-in read_ahead in real processes: which programs it advises, for which blocks and when, and that the cause
# of its advice distinguishes it from that of the program.
# Papers: SIOX-42, SIOX-63, SIOX-AC-6.
. "$(dirname "$0")/libtest.sh"
export SLUICE_STATS_PERIOD=0 SLUICE_PLUGINS_LOAD= SLUICE_PLUGINS_ACT=read_ahead

# One access ahead, independent of the load of the machine, also for files that are cached.
cat >"$XDG_CONFIG_HOME/sluice/config" <<EOF
[plugin.read_ahead]
depth_max = 1
dormant = no
EOF
dd if=/dev/urandom of=data bs=1k count=2000 status=none

# observed CASE STRIDE TIMES: runs the program without and with capture, which must print the same; the trace is in t
observed() {
	local bare
	bare=$("$prog/strides" "$1" data "$2" "$3")
	check_rc 0 "$sluice" run -q -o t.sluice -- "$prog/strides" "$1" data "$2" "$3"
	check_eq "$(cat out)" "$bare" "output of $1"
	"$sluice" print --csv t.sluice >t
	rm t.sluice
}

# advised: prints the offset of each advice and, as "after", the number of the read that is its cause
advised() {
	python3 - t <<'EOF'
import csv, sys
rows = list(csv.DictReader(open(sys.argv[1])))
reads = {}
for row in rows:
    if row["function"] in ("read", "pread") and "data" in row["file"]:
        reads[row["id"]] = len(reads) + 1
for row in rows:
    if row["function"] == "posix_fadvise":
        print(row["offset"], row["size"], "after", reads.get(row["cause"], "none"))
EOF
}

expected() { # FIRST LAST STRIDE
	for ((i = $1; i <= $2; i++)); do
		echo "$((i * $3)) 1024 after $i"
	done
}

observed forward 20480 12
check_eq "$(advised)" "$(expected 6 12 20480)" "advice of strides by pread"
observed seeking 20480 12
check_eq "$(advised)" "$(expected 6 12 20480)" "advice of strides by lseek and read"
observed forward 1024 50
check_eq "$(advised)" "" "advice of sequential reading"
observed scattered 20480 90
check_eq "$(advised)" "" "advice of random reading"
observed socketed 0 50
check_eq "$(advised)" "" "advice of a socket"

# A child process starts again with its own accesses.
observed forked 20480 6
check_eq "$(advised | cut -d' ' -f1,2)" "$(printf '122880 1024\n245760 1024')" "advice of a process and its child"

observed threaded 20480 12
check_eq "$(advised | wc -l)" 28 "advice of four threads"

# Options and statistics.
cat >"$XDG_CONFIG_HOME/sluice/config" <<EOF
[plugin.read_ahead]
threshold = 2
depth = 3
depth_max = 3
EOF
observed forward 20480 4
check_eq "$(advised | cut -d' ' -f1 | xargs)" "81920 102400 122880" "advice of three accesses ahead"

cat >"$XDG_CONFIG_HOME/sluice/config" <<EOF
[plugin.read_ahead]
depth = many
EOF
observed forward 20480 12
check_eq "$(advised)" "" "advice with a wrong option"
check_rc 0 "$sluice" run -q -o t.sluice -- "$prog/strides" forward data 20480 12
check_rc 0 "$sluice" report t.sluice
check_has "$(cat out)" "Invalid argument" "error of an invalid option"

# Without the plug-in nothing is advised; in counters mode it works.
rm "$XDG_CONFIG_HOME/sluice/config"
SLUICE_PLUGINS_ACT= observed forward 20480 12
check_eq "$(advised)" "" "advice without the plug-in"
check_rc 0 "$sluice" run -q --mode counters -o t.sluice -- "$prog/strides" forward data 20480 12
check_rc 0 "$sluice" report t.sluice
grep -Eq 'advice given( =)? [1-9]' out || fail "no advice in counters mode: $(cat out)"

# The advice of the program has priority, and the report says that there was a conflict.
cat >own.c <<'END'
#define _GNU_SOURCE
#include <fcntl.h>
#include <unistd.h>
int main(void)
{
	char block[1024];
	int fd = open("data", O_RDONLY);

	posix_fadvise(fd, 0, 0, POSIX_FADV_RANDOM);
	for (int i = 0; i < 20; i++)
		if (pread(fd, block, sizeof(block), i * 20480) < 0)
			return 1;
	return 0;
}
END
"$CC" -o own own.c
check_rc 0 "$sluice" run -q -o t.sluice -- ./own
"$sluice" print --csv t.sluice >t
check_eq "$(advised)" "0 0 after none" "advice where the program gives its own"
"$sluice" report t.sluice >out
check_line out program: posix_fadvise "(read_ahead)"
