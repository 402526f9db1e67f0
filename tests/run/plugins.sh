# SPDX-License-Identifier: BSD-3-Clause
# Settings load plug-ins, and no failure of a plug-in affects the program.
# Papers: SIOX-2, SIOX-4, SIOX-5, SIOX-15, SIOX-19, SIOX-28, SIOX-64, SIOX-69, SIOX-AC-16, SIOX-AC-18.
. "$(dirname "$0")/libtest.sh"
: "${SOURCE:?names the source tree}" "${CC:=cc}"
# A killed collector leaves its spools behind.
export SLUICE_SPOOL_DIR=$work/spool
mkdir "$SLUICE_SPOOL_DIR"

# plugin NAME [MACRO...]: compiles tests/prog/plugins/broken.c; the macro selects one of its cases
broken() {
	local name=$1
	shift
	"$CC" -Wall -Wextra -Werror -shared -fPIC -I"$SOURCE/include" "$@" -DNAME="\"$name\"" \
		-o "$work/$name.so" "$SOURCE/tests/prog/plugins/broken.c"
}

for skeleton in async_skeleton inline_skeleton; do
	"$CC" -Wall -Wextra -Werror -shared -fPIC -I"$SOURCE/include" -o "$work/$skeleton.so" \
		"$SOURCE/examples/plugins/$skeleton.c"
done

# A program with known calls: 100 writes of 512 bytes, its output and its exit code.
cat >program.c <<'EOF'
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
int main(int argc, char **argv)
{
	char block[512] = "x";
	int fd = open("data", O_RDWR | O_CREAT | O_TRUNC, 0600);

	for (int i = 0; i < atoi(argv[argc - 1]); i++)
		if (pwrite(fd, block, sizeof(block), i * 512L) != 512)
			return 1;
	close(fd);
	puts("output");
	fputs("errors\n", stderr);
	return 7;
}
EOF
"$CC" -O1 -o program program.c

# notes: prints kind, source, name and value of each note
notes() {
	"$sluice" trace convert --format text t.sluice t.txt
	sed -n 's/^#note\t.*\tsource=\(.*\)\tkind=\(.*\)\tname=\(.*\)\tvalue=\(.*\)/\2 \1 \3: \4/p' t.txt
	rm t.txt
}

# recorded LOAD [OPTION...]: runs the program with these plug-ins, which must not affect it
recorded() {
	local load=$1 rc=0
	shift
	rm -f t.sluice
	timeout "$limit" "$sluice" --set plugins.load="$load" --set stats.period=0 "$@" run -o t.sluice -- \
		./program 100 >out 2>err || rc=$?
	check_eq "$rc" 7 "exit code with $load"
	check_eq "$(cat out)" output "output with $load"
	check_eq "$(grep -v '^sluice run: warning:' err)" errors "standard error with $load"
	notes >found
	check_eq "$("$sluice" print t.sluice | grep -c " POSIX pwrite" || true)" 100 \
		"calls in the trace with $load"
}

# note KIND SOURCE NAME: prints the value of the note
note() {
	sed -n "s|^$1 $2 $3: ||p" found
}

# A plug-in is loaded by its path in a settings file, with an option.
cat >"$XDG_CONFIG_HOME/sluice/config" <<EOF
[plugins.POSIX]
load = $work/async_skeleton.so
[plugin.async_skeleton]
slow_us = 50000000
EOF
recorded ""
check_eq "$(cat err)" errors
check_eq "$(note report async_skeleton process/bytes)" 51200
check_eq "$(note report async_skeleton process/slow)" 0
posix=$(note report async_skeleton process/calls)
[ "$posix" -ge 102 ] || fail "the plug-in saw $posix calls"
check_eq "$(note cost watcher 'calls delivered')" "$(note cost watcher 'calls produced')"
# It sees only its layer: puts() and fputs() are STDIO, which is recorded but not delivered to it.
[ "$(note cost watcher 'calls produced')" -gt "$posix" ] || fail "POSIX alone is as much as all layers"

# A plug-in that two sections name is loaded once and sees all layers.
recorded "$work/async_skeleton.so"
check_eq "$(note report async_skeleton process/calls)" "$(note cost watcher 'calls produced')"

# Settings can remove it again.
rm "$XDG_CONFIG_HOME/sluice/config"
recorded ""
check_eq "$(grep -Ev " overhead |^program " found)" ""

# The plug-in rejects an option.
recorded "$work/async_skeleton.so" --set plugin.async_skeleton.slow_us=often
check_words "$(note refused async_skeleton 'not used')" slow_us microseconds
check_words "$(cat err)" warning async_skeleton slow_us

# A plug-in that cannot be loaded is reported with the place of the setting, and the others work.
printf '[plugins]\nload = nonsense\n[plugins.Posix]\nload = x\n' >"$SLUICE_ETC"
timeout "$limit" "$sluice" run -o t.sluice -- true 2>err
notes >found
check_has "$(note refused nonsense 'not used')" "unknown plug-in"
check_has "$(note refused nonsense 'not used')" "($SLUICE_ETC:2)"
check_has "$(note refused plugins.Posix 'not used')" "POSIX STDIO"
check_has "$(cat err)" "$SLUICE_ETC:4"
timeout "$limit" "$sluice" run -q -o t.sluice -- true 2>err
check_eq "$(cat err)" ""
rm "$SLUICE_ETC"
recorded "relative/x.so $work/async_skeleton.so"
check_has "$(cat err)" "absolute path"
check_eq "$(note report async_skeleton process/bytes)" 51214
recorded "$work/missing.so"
check_words "$(cat err)" missing.so "No such file"
"$CC" -shared -o none.so -x c /dev/null
recorded "$work/none.so"
check_has "$(cat err)" "sluice_plugin"

broken abi -DABI=99
recorded "$work/abi.so $work/async_skeleton.so"
check_has "$(cat err)" "plug-in ABI 99"
check_eq "$(note report async_skeleton process/bytes)" 51214
broken hookless -DNO_BATCH
recorded "$work/hookless.so"
check_words "$(cat err)" hook batch missing
broken kind -DKIND=5
recorded "$work/kind.so"
check_has "$(cat err)" "kind 5"
broken fails -DSTART='return -13'
recorded "$work/fails.so"
check_words "$(cat err)" "plug-in fails" "Permission denied"

# Crashes, exits and hangs while a plug-in is loaded.
broken load_crash -DLOAD='abort()'
recorded "$work/load_crash.so $work/async_skeleton.so"
check_words "$(cat err)" load_crash.so Aborted
check_eq "$(note report async_skeleton process/bytes)" 51214
broken load_exit -DLOAD='_exit(3)'
recorded "$work/load_exit.so"
check_words "$(cat err)" load_exit.so exits
broken load_hang -DLOAD='pause()'
recorded "$work/load_hang.so"
check_words "$(cat err)" load_hang.so "5 s"

# The same while it works. Delivered and dropped calls add up to the produced ones.
balance() {
	local dropped
	dropped=$(note degraded watcher 'calls dropped')
	check_eq "$(($(note cost watcher 'calls delivered') + ${dropped:-0}))" \
		"$(note cost watcher 'calls produced')" "delivered and dropped"
}
broken crash -DBATCH='raise(SIGSEGV)'
recorded "$work/crash.so"
check_words "$(note refused crash 'watcher ended early')" "signal 11 (Segmentation fault)" "plug-in crash"
check_eq "$(note cost watcher 'calls delivered')" 0
balance
broken start_crash -DSTART='abort()'
recorded "$work/start_crash.so"
check_words "$(cat err)" "signal 6 (Aborted)" "plug-in start_crash"
balance
broken leaves -DREPORT='_exit(0)'
recorded "$work/leaves.so"
check_words "$(cat err)" "exit code 0" "plug-in leaves"
balance
broken prints -DBATCH='printf("mine\n"); fflush(stdout); fputs("mine\n", stderr)'
recorded "$work/prints.so"
check_eq "$(cat err)" errors
broken hang -DBATCH='for (;;) pause()'
recorded "$work/hang.so"
check_words "$(cat err)" "10 s" killed "plug-in hang"
balance

# The watcher has no descriptors of the program or the collector, and ends with the collector.
"$sluice" --set plugins.load="$work/async_skeleton.so" run -q -o t.sluice -- sleep "$limit" &
run=$!
watcher=
for _ in $(seq $polls); do
	watcher=$(pgrep -P "$(recorder_of $run)" -x sluice-watcher || true)
	[ -z "$watcher" ] && sleep 0.05 && continue
	opened=$(readlink /proc/"$watcher"/fd/* | grep -v '^/proc/' | sort -u)
	[ "$opened" = /dev/null ] && break
done
check_eq "$opened" /dev/null "what the watcher has open"
kill -TERM "$watcher" # meant for the program, not for it
program=$(pgrep -P $run -x sleep)
kill -KILL "$(recorder_of $run)"
for _ in $(seq $polls); do
	kill -0 "$watcher" 2>/dev/null || break
	sleep 0.05
done
kill -0 "$watcher" 2>/dev/null && fail "the watcher outlives its collector"
kill "$program"
wait $run || true

# An in-line plug-in sees calls inside the program; this one drops pages that were read from the cache.
cat >reads.c <<'EOF'
#include <fcntl.h>
#include <unistd.h>
int main(void)
{
	static char block[4096];
	int fd = open("data", O_RDONLY);

	for (int i = 0; i < 12; i++)
		if (pread(fd, block, sizeof(block), i * 4096L) != sizeof(block))
			return 1;
	return 0;
}
EOF
"$CC" -O1 -o reads reads.c
# inline OPTION...: runs the program with the in-line skeleton
inline() {
	timeout "$limit" "$sluice" --set plugins.POSIX.load="$work/inline_skeleton.so" --set plugins.load= "$@" \
		run -o t.sluice -- ./reads >out 2>err || fail "reads failed: $(cat err)"
	notes >found
}
head -c 65536 /dev/zero >data
inline --set plugin.inline_skeleton.least=4096
check_eq "$(note applied inline_skeleton acts)" 12
check_eq "$(note cost inline_skeleton 'hooks called')" 12
check_eq "$("$sluice" print t.sluice | grep -c posix_fadvise)" 12 "advice in the trace"
# Whatever acts on a program says so.
check_words "$(cat err)" inline_skeleton "acts 12"
check_eq "$(wc -l <err)" 1 "lines of messages"
inline --set plugin.inline_skeleton.least=4097
check_eq "$(note applied inline_skeleton acts)" ""
check_eq "$(cat err)" ""
inline --set plugin.inline_skeleton.least=few
check_words "$(cat err)" inline_skeleton.so "1 process" "Invalid argument"
inline --set plugins.POSIX.load=
check_eq "$(grep inline_skeleton found)" ""

# Losses: with a queue that is too small for a plug-in that sleeps, every call is accounted for.
# It takes no more than a few calls per millisecond; the slowest program makes more.
broken sleeps -DBATCH='usleep(100000)'
timeout "$limit" "$sluice" --set plugins.load="$work/sleeps.so" --set plugins.queue=256K run -q -o t.sluice -- \
	./program 20000 >out 2>err || true
notes >found
balance
[ "$(note degraded watcher 'calls dropped')" -gt 0 ] || fail "no call was dropped"
[ "$(note cost watcher 'calls produced')" -ge 20000 ] || fail "not all were produced"
