#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# User b tries to act as user a, or as root, by creating the files that they are about to use.
. "$(dirname "$0")/libtest.sh"
. "$(dirname "$0")/libusers.sh"
compile_attack
python=/usr/bin/python3
[ -x $python ] || python=python3

# calls FILE: number of functions whose calls were recorded
calls() {
	"$sluice" report --json "$1" >report.json 2>report.err || fail "no report of $1: $(cat report.err)"
	json_get report.json '["functions"].__len__()'
}

# The name of a removed spool directory cannot be taken by b, although a process of a still has it in its environment.
as a "$sluice" run -q -o t.sluice -- sh -c 'echo "$SLUICE_SPOOL" >spool; (
	while [ ! -e go ]; do sleep 0.05; done; /bin/true; /bin/true; touch went) >/dev/null 2>&1 &'
spool=$(cat "$users/a/spool")
[ ! -e "$spool" ] || fail "the spool directory is left: $spool"
as b sh -c 'mkdir -p "$0" && chmod 777 "$0" && "$1/bin/mkcontrol" "$0/control" /tmp/none "$1/bin/evil.so" &&
	chmod 666 "$0/control"' "$spool" "$users" 2>err && fail "b has taken over $spool"
as a touch go
for try in $(seq $polls); do
	[ ! -e "$users/a/went" ] || break
	sleep 0.05
done
[ -e "$users/a/went" ] || fail "the background process did not end"
no_evil "the spool"

# A run works, too, if b has occupied the name of a's directory of spools.
rm -rf /dev/shm/sluice-"$uid_a"
as b mkdir -m 777 /dev/shm/sluice-"$uid_a"
check_rc 0 as a "$sluice" run -q -o t.sluice -- sh -c 'echo "$SLUICE_SPOOL" >spool; cat spool'
[ "$(calls "$users/a/t.sluice")" -gt 0 ] || fail "nothing was recorded with an occupied directory"
check_eq "$(ls /dev/shm/sluice-"$uid_a")" "" "files in the directory of b"
case $(cat "$users/a/spool") in
/dev/shm/sluice-$uid_a/*) fail "the spool was in the directory of b" ;;
esac
rm -rf /dev/shm/sluice-"$uid_a"

# Everything is private, whatever the umask is.
for mask in 000 022 077; do
	rm -rf "$users/a/.local" "$users/a"/t.*
	as a sh -c 'umask '$mask'; "$0" run -q -o t.sluice -- sh -c "stat -c %a \$SLUICE_SPOOL \$SLUICE_SPOOL/* >modes"
		"$0" run -q -o t.db --format sqlite -- cat modes; "$0" run -q -o t.txt --format text -- cat modes
		"$0" run -q -- cat modes; "$0" trace convert t.sluice t2.db' "$sluice" >/dev/null
	check_eq "$(sort -u "$users/a/modes" | tr '\n' ' ')" "600 700 " "modes of the spool with umask $mask"
	check_eq "$(cd "$users/a" && stat -c %a t.sluice t.db t.txt t2.db .local/share/sluice/store.db \
		.local/share/sluice/runs/*.sluice | sort -u)" 600 "modes of files with umask $mask"
	check_eq "$(cd "$users/a" && stat -c %a .local/share/sluice .local/share/sluice/runs | sort -u)" 700 "directories"
done

# A job in a shared directory: b has created the directory of the parts, with parameters for a.
shared=$users/shared
mkdir -m 1777 "$shared"
as b mkdir -m 777 "$shared/steal"
hash=$("$python" - <<'END'
# XXH64 of the job's id with the number of ranks as seed
M = (1 << 64) - 1
P = (0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9, 0x85EBCA77C2B2AE63, 0x27D4EB2F165667C5)
h, data = (2 + P[4] + 2) & M, b"77"
for byte in data:
    h ^= byte * P[4] & M
    h = ((h << 11 | h >> 53) & M) * P[0] & M
for shift, prime in ((33, P[1]), (29, P[2]), (32, 1)):
    h = (h ^ h >> shift) * prime & M
print("%016x" % h)
END
)
for directory in "job-77-cp.sluice.parts" "job-77-cp.sluice-$uid_a.parts"; do
	as b sh -c 'mkdir "$0" && printf "sluice-parameters 1 parameters\nlayout\t*\t*\tspread_directories\t%s\n" "$1" \
		>"$0/$2-parameters" && printf yes >"$0/$2-parameters.verdict" && chmod 666 "$0"/* && chmod 777 "$0"' \
		"$shared/$directory" "$shared/steal" "$hash"
	echo secret | as a tee secret >/dev/null
	rm -f "$users/a/copy"
	check_rc 0 as a PMI_RANK=0 PMI_SIZE=2 MPI_LOCALNRANKS=1 PBS_JOBID=77 SLUICE_TRACE_DIR="$shared" \
		"$sluice" run -- cp secret copy
	check_eq "$(ls "$shared/steal")" "" "files that b received"
	[ -f "$users/a/copy" ] && [ ! -L "$users/a/copy" ] || fail "the file of a is not in its place"
	check_words "$(cat err)" "$shared/job-77-cp.sluice.parts" sluice-test-b
	part=$(ls "$shared"/job-77-cp.sluice-"$uid_a"*.parts/*.sluice)
	[ "$(calls "$part")" -gt 0 ] || fail "the part of a has no calls"
	check_eq "$(stat -c %u:%a "$part" "$(dirname "$part")" | tr '\n' ' ')" "$uid_a:600 $uid_a:700 " "modes of parts"
	rm -rf "$(dirname "$part")"
done

# Settings, plug-ins and store of another user are not used: root keeps the HOME of b, as with `sudo -E`.
as b "$sluice" run -q -o t.sluice -- true
as b sh -c 'mkdir -p .config/sluice && cp "$1/bin/evil.so" . &&
	printf "[plugins]\nload = %s/evil.so\n[trace]\ndir = %s/runs\n" "$HOME" "$HOME" >.config/sluice/config &&
	"$0" run -q -o t.sluice -- true' "$sluice" "$users" || fail "b cannot use a plug-in of b"
[ -e "$users/evil/$uid_b" ] || fail "the plug-in of b does not work, so that the test shows nothing"
unset XDG_CONFIG_HOME XDG_DATA_HOME SLUICE_TRACE_DIR
check_rc 0 env HOME="$users/b" "$sluice" run -o "$work/root.sluice" -- cat /dev/null
no_evil "settings"
check_words "$(cat err)" "$users/b/.config/sluice/config" sluice-test-b "$users/b/.local/share/sluice/store.db"
[ "$(calls "$work/root.sluice")" -gt 0 ] || fail "the run of root was not recorded"
export XDG_CONFIG_HOME=$HOME/.config XDG_DATA_HOME=$HOME/.local/share
check_rc 0 "$sluice" -c plugins.load="$users/b/evil.so" run -o "$work/root.sluice" -- true
check_words "$(cat err)" "$users/b/evil.so" sluice-test-b
no_evil "a plug-in"
check_rc 0 env SLUICE_STORE_PATH="$users/b/.local/share/sluice/store.db" "$sluice" run -o "$work/root.sluice" -- true
check_words "$(cat err)" store.db sluice-test-b
# Settings that others can change are refused, with the remedy.
printf '[capture]\nmode = off\n' >"$XDG_CONFIG_HOME/sluice/config"
chmod 664 "$XDG_CONFIG_HOME/sluice/config"
check_rc 0 "$sluice" run -o "$work/root.sluice" -- cat /dev/null
check_has "$(cat err)" "chmod go-w $XDG_CONFIG_HOME/sluice/config"
[ "$(calls "$work/root.sluice")" -gt 0 ] || fail "settings that others can write were used"
rm "$XDG_CONFIG_HOME/sluice/config"

# What the site's own file forbids is binding, even if the environment names another file. The test needs an /etc of its
# own.
cat >params.json <<END
{"schema": "sluice.params/1", "parameters": [{"name": "spread_directories", "value": "$work/spread"}]}
END
mkdir spread
cat >site.sh <<'END'
cp -a /etc etc && printf '[params]\n%s\n' "$1" >etc/sluice.conf && mount --bind etc /etc || exit 77
shift
exec "$@"
END
# site LINE COMMAND...: with this line in /etc/sluice.conf
site() {
	rm -rf etc
	check_rc 0 unshare -m sh site.sh "$@"
}
if ! unshare -m sh site.sh "" true 2>/dev/null; then
	skip_case mounts "restrictions in /etc/sluice.conf"
else
	free() {
		rm -f made "$work/spread"/*
		"$@" env SLUICE_ETC=/dev/null SLUICE_PARAMS_FORBID= SLUICE_PARAMS_ALLOW=semantics "$sluice" \
			--set params.forbid= run -o t.sluice --params params.json -- sh -c 'echo x >made'
	}
	free site "; nothing"
	check_eq "$(ls spread | wc -l)" 1 "placed files without restrictions"
	free site "forbid = spread_directories"
	check_eq "$(ls spread)" "" "placed files although the site forbids it"
	check_words "$(cat err)" spread_directories params.forbid
	free site "allow = safe"
	check_eq "$(ls spread)" "" "placed files beyond the limit of the site"
	check_words "$(cat err)" spread_directories params.allow
fi
