#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# A real systemd starts the installed units, as the first process of namespaces of its own, on a copy of this machine's
# files that only exists in memory. The first client starts the daemon, which has its own user and its sandbox, and does
# what it must: it collects the processes of two users, waits for the database, reads the policy again, and continues
# after kill -9. The reasoner of the site runs beside a PostgreSQL that systemd has started.
. "$(dirname "$0")/libtest.sh"
. "$(dirname "$0")/../libpg.sh"
[ "$(id -u)" = 0 ] || skip root "units under systemd"
systemd=$(command -v /usr/lib/systemd/systemd /lib/systemd/systemd | head -n 1) || true
[ -n "$systemd" ] && [ "$(systemctl --version 2>/dev/null | awk 'NR == 1 { print $2 + 0 }')" -ge 250 ] || skip systemd
command -v useradd >/dev/null || skip passwd
[ -n "$pg_bin" ] && id -u postgres >/dev/null 2>&1 || skip postgresql
unshare --pid --mount --uts --ipc --cgroup --net --fork true 2>/dev/null || skip namespaces
unshare --mount sh -c 'mount -t tmpfs none /mnt && mkdir /mnt/up /mnt/work /mnt/both &&
	mount -t overlay -o lowerdir=/,upperdir=/mnt/up,workdir=/mnt/work none /mnt/both' 2>/dev/null || skip mounts

# systemd gets a control group of its own, in the hierarchy of version 2.
hierarchy=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/mounts)
group=$hierarchy$(sed -n 's/^0:://p' /proc/self/cgroup)
group=${group%/}/sluice-test-$$
[ -n "$hierarchy" ] && mkdir "$group" 2>/dev/null || skip cgroups
at_exit 'find "$group" -depth -type d -exec rmdir {} + 2>/dev/null'

# The first process of the box: arranges its files and becomes systemd. All mounts end with its namespace. Settings of the
# kernel are read-only, and capabilities that concern the whole machine are gone.
cat >init.sh <<'END'
set -eu
box=$1 build=$2 systemd=$3
mount -t tmpfs tmpfs "$box"
mkdir "$box/up" "$box/work" "$box/root"
DESTDIR=$box/up cmake --install "$build" >"$box/install.log" || { cat "$box/install.log" >&2 && exit 1; }
mount -t overlay -o lowerdir=/,upperdir="$box/up",workdir="$box/work" overlay "$box/root"
cd "$box/root"
mount -t proc proc proc
mount --bind proc/sys proc/sys
mount -o remount,bind,ro proc/sys
mount -t sysfs -o ro sysfs sys
mount -t cgroup2 cgroup2 sys/fs/cgroup
mount -t tmpfs -o mode=755 tmpfs dev
for device in null zero full random urandom tty; do
	: >"dev/$device"
	mount --bind "/dev/$device" "dev/$device"
done
mkdir dev/pts dev/shm
mount -t devpts -o newinstance,ptmxmode=666 devpts dev/pts
ln -s pts/ptmx dev/ptmx
ln -s /proc/self/fd dev/fd
mount -t tmpfs -o mode=1777 tmpfs dev/shm
mount -t tmpfs -o mode=755 tmpfs run
mount -t tmpfs -o mode=1777 tmpfs tmp
# Nothing of this machine is started but what every system needs.
rm -rf etc/fstab etc/systemd/system etc/sluice.conf etc/sluice.policy var/lib/sluice
mkdir -p etc/systemd/system box/old
: >etc/machine-id
printf '[Unit]\nRequires=basic.target\nAfter=basic.target\n' >etc/systemd/system/box.target
pivot_root . box/old
umount -l /box/old
# Services see what is mounted later, as on a real system; nothing propagates to this machine.
mount --make-rshared /
exec env -i container=sluice-test PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin setpriv \
	--bounding-set=-sys_module,-sys_time,-sys_rawio,-sys_boot,-syslog,-audit_control,-mac_admin,-mac_override,-wake_alarm \
	"$systemd" --unit=box.target --log-target=journal --show-status=false
END
mkdir box
(
	echo $BASHPID >"$group/cgroup.procs"
	exec setpriv --pdeathsig KILL unshare --pid --fork --kill-child --mount --propagation private --uts --ipc --cgroup --net \
		bash "$work/init.sh" "$work/box" "$BUILD" "$systemd"
) >init.log 2>&1 </dev/null &
outside=$!
at_exit 'kill -KILL $outside 2>/dev/null; wait $outside 2>/dev/null; wait_for "end of the box" group_is_empty'
group_is_empty() {
	! grep -q 'populated 1' "$group/cgroup.events" 2>/dev/null
}

# in_box COMMAND...: runs a command in the box, as root and with a clean environment
in_box() {
	local first
	first=$(pgrep -P $outside) || fail "systemd has ended: $(cat "$work/init.log")"
	nsenter --target "$first" --all env -i PATH="$path" HOME=/root LC_ALL=C "$@"
}

# as USER COMMAND...: runs a command in the box as a user of it, in /tmp/USER
as() {
	local user=$1
	shift
	in_box runuser -u "$user" -- env -C "/tmp/$user" "$@"
}

state() {
	cat "$work/init.log"
	in_box systemctl status --no-pager sluiced.socket sluiced.service sluice-watch.service
	in_box journalctl --no-pager --quiet | tail -n 40
}

# property UNIT NAME
property() {
	in_box systemctl show --value --property "$2" "$1"
}

property_is() {
	[ "$(property "$1" "$2")" = "$3" ]
}

# status_is EXPRESSION VALUE
status_is() {
	in_box sluiced status --json >status 2>/dev/null || return 1
	[ "$(json_get status "$1" 2>/dev/null)" = "$2" ]
}

# journal_has UNIT TEXT
journal_has() {
	in_box journalctl --no-pager --quiet --output=cat --unit "$1" >"$work/journal" && grep -q "$2" "$work/journal"
}

# rows_are NUMBER QUERY
rows_are() {
	[ "$(as postgres psql -qXAt -d "$database options='-c search_path=sluice'" -c "SELECT count(*) FROM $2" 2>"$work/err")" = "$1" ]
}

# record USER PROGRAM [ARGUMENT]...: what a user of the node does; the site preloads the library
record() {
	as "$1" setsid env LD_PRELOAD="$library" "${@:2}" >"$work/out" 2>&1 || fail "\"$*\": $(cat "$work/out")"
}

# The directories that were configured, such as /usr/local/bin
prefix=$(sed -n 's|^CMAKE_INSTALL_PREFIX:[^=]*=||p' "$BUILD/CMakeCache.txt")
path=$prefix/sbin:$prefix/bin:$pg_bin:/usr/sbin:/usr/bin:/sbin:/bin
database="dbname=sluice host=/run/box-database"
is_up() {
	in_box systemctl is-active --quiet box.target 2>/dev/null
}
wait_for "start of systemd" pgrep -P $outside -x systemd >/dev/null
wait_for "start of the system" is_up

# What an administrator does. A prefix that systemd does not search needs links.
in_box bash -c '
	case $1 in
	/usr | /usr/local) ;;
	*)
		ln -s "$1"/lib/systemd/system/sluice* /etc/systemd/system/
		mkdir -p /etc/sysusers.d /etc/tmpfiles.d
		ln -s "$1/lib/sysusers.d/sluice.conf" /etc/sysusers.d/
		ln -s "$1/lib/tmpfiles.d/sluice.conf" /etc/tmpfiles.d/
		systemctl daemon-reload
		systemd-sysusers
		systemd-tmpfiles --create ;;
	esac
	for user in ann bob; do
		id -u $user >/dev/null 2>&1 || useradd --no-create-home --home-dir /tmp/$user --shell /bin/sh $user
	done
	for user in ann bob postgres; do
		mkdir -p -m 700 /tmp/$user && chown $user: /tmp/$user
	done
	mkdir /box/bin
' - "$prefix" || fail "cannot prepare the box"
library=$(in_box find "$prefix" -name libsluice.so -not -path '*/libasan*')
in_box tee /box/bin/patterns <"$prog/patterns" >/dev/null
in_box tee /box/bin/writes <"$prog/writes" >/dev/null
in_box chmod 755 /box /box/bin /box/bin/patterns /box/bin/writes
in_box tee /etc/sluice.conf >/dev/null <<END
[site]
database = $database
metrics = 127.0.0.1:9187
[health]
interval = 500ms
END
printf '[policy]\nrule = mode=trace program=patterns\n' | in_box tee /etc/sluice.policy >/dev/null

as postgres initdb -D /tmp/postgres/data -A peer -E UTF8 --locale=C --no-sync >out 2>&1 || fail "$(cat out)"
in_box tee /etc/systemd/system/box-database.service >/dev/null <<END
[Service]
Type=notify
User=postgres
RuntimeDirectory=box-database
ExecStart=$pg_bin/postgres -D /tmp/postgres/data -c unix_socket_directories=/run/box-database -c listen_addresses= -c fsync=off
END
in_box systemctl daemon-reload
in_box systemctl start box-database.service || fail "PostgreSQL does not start"
as postgres createdb -h /run/box-database sluice
as postgres sluice site init --database "$database" >out 2>&1 || fail "$(cat out)"
as postgres sluice site grant --node --database "$database" sluice >out 2>&1 || fail "$(cat out)"
as postgres sluice site grant --database "$database" ann bob >out 2>&1 || fail "$(cat out)"

# systemd waits until the daemon says that it is ready, which it does when the policy is published.
in_box systemctl enable --now --quiet sluiced.service || fail "the daemon does not start"
check_eq "$(property sluiced.service ActiveState)" active "daemon"
check_eq "$(property sluiced.socket ActiveState)" active "its socket"
check_eq "$(in_box systemctl is-enabled sluiced.socket)" enabled "its socket at the next boot"
status_is '["rules"]' 1 || fail "no policy when the daemon is ready: $(cat status)"
check_eq "$(in_box stat -c '%U %a' /run/sluice/spools)" "sluice 3733" "directory of the spools"

# The daemon is not there, but its socket is: the first process that records starts it.
in_box systemctl stop sluiced.service 2>/dev/null
check_eq "$(property sluiced.service ActiveState)" inactive "daemon that was stopped"
for user in ann bob; do
	record $user /box/bin/patterns small_writes file
done
wait_for "run of ann" rows_are 1 "run WHERE owner = 'ann' AND program = 'patterns' AND complete = 1"
wait_for "run of bob" rows_are 1 "run WHERE owner = 'bob' AND program = 'patterns' AND complete = 1"
rows_are 2 "run WHERE activities > 0 AND bytes_written > 0 AND duration_ns > 0" || fail "runs without calls"
rows_are 2 "(SELECT DISTINCT run FROM run_process WHERE program = '/box/bin/patterns') x" || fail "processes without a program"
as ann sluice site query --database "$database" "SELECT DISTINCT owner FROM run" >out 2>&1 || fail "$(cat out)"
check_has "$(cat out)" ann
! grep -q bob out || fail "ann sees the runs of bob: $(cat out)"

# A user's own recording reaches the site as well, from a directory that the daemon cannot enter.
as ann sluice --set site.use=yes run -q -o own.sluice -- /box/bin/patterns small_writes file >out 2>&1 || fail "$(cat out)"
wait_for "run that ann has recorded" rows_are 2 "run WHERE owner = 'ann'"

# The sandbox is in force, in both processes.
keeper=$(property sluiced.service MainPID)
worker=$(in_box pgrep -P "$keeper" -x sluiced-worker)
user=$(in_box id -u sluice)
for pid in "$keeper" "$worker"; do
	in_box cat "/proc/$pid/status" >process
	for line in "Uid: $user $user $user $user" "CapPrm: 0000000000000000" "CapEff: 0000000000000000" \
		"CapBnd: 0000000000000000" "CapAmb: 0000000000000000" "NoNewPrivs: 1" "Seccomp: 2"; do
		tr -s '\t ' ' ' <process | grep -qx "$line" || fail "process $pid of the daemon lacks \"$line\": $(cat process)"
	done
done
# sandboxed COMMAND...: runs a command as the daemon sees the files
sandboxed() {
	in_box nsenter --target "$worker" --mount setpriv --reuid sluice --regid sluice --clear-groups "$@"
}
for place in /etc /usr /var/lib /dev /home; do
	! in_box nsenter --target "$worker" --mount sh -c ": >$place/x" 2>/dev/null || fail "the sandbox permits to write to $place"
done
for place in /var/lib/sluice /run/sluice; do
	sandboxed sh -c ": >$place/x && rm $place/x" || fail "the daemon cannot write to $place"
done
! sandboxed ls /root >/dev/null 2>&1 || fail "the daemon can read the files of root"
for unit in sluiced.service sluice-watch.service; do
	in_box systemd-analyze security --threshold=30 --no-pager $unit >security 2>&1 || fail "$unit: $(tail -n 1 security)"
done

# The sandbox does not hide on which file system a file is: one of its own, also if it was mounted after the daemon was
# started, or that of the system. Names of users are not shown.
in_box mkdir -p /home/own /home/late /home/none
in_box mount -t tmpfs -o mode=1777 tmpfs /home/own
in_box systemctl restart sluiced.service
in_box mount -t tmpfs -o mode=1777 tmpfs /home/late
in_box chmod 1777 /home/none
for place in own late none; do
	record bob /box/bin/patterns small_writes /home/$place/file
done
for place in "own /home/own" "late /home/late" "none /"; do
	wait_for "file system of ${place% *}" rows_are 1 "run_file WHERE path = '/home/${place% *}/file' AND filesystem = '${place#* }'"
done
of_bob="run WHERE owner = 'bob' AND id NOT IN (SELECT run FROM run_file WHERE path LIKE '/home/%')"

# systemctl reload makes the daemon read the policy again; a broken one is reported and does not replace it.
printf '[policy]\nrule = mode=trace program=patterns\nrule = mode=counters program=writes\n' | in_box tee /etc/sluice.policy >/dev/null
in_box systemctl reload sluiced.service
wait_for "new policy" status_is '["rules"]' 2
printf '[policy]\nrule = mode=nonsense\n' | in_box tee /etc/sluice.policy >/dev/null
in_box systemctl reload sluiced.service
wait_for "complaint about the policy in the journal" journal_has sluiced.service 'sluice.policy.*nonsense'
status_is '["rules"]' 2 || fail "a broken policy replaces the one in force"
printf '[policy]\nrule = mode=trace program=patterns\nrule = mode=counters program=writes\n' | in_box tee /etc/sluice.policy >/dev/null

# The load of processes that are only counted reaches the database, and the metrics can be read.
as bob setsid env LD_PRELOAD="$library" /box/bin/writes steady 4096 1000 /tmp/bob/stop >/dev/null 2>&1 &
counted=$!
at_exit "kill $counted 2>/dev/null || true"
wait_for "load of bob" rows_are 1 "node_load WHERE owner = 'bob' AND bytes_written > 0"
in_box touch /tmp/bob/stop
wait $counted
in_box python3 -c 'import urllib.request as u; print(u.urlopen("http://127.0.0.1:9187/metrics").read().decode())' >metrics ||
	fail "no metrics"
check_has "$(cat metrics)" sluice_io_operations_total

# Without the database, rows wait on disk.
in_box systemctl kill --signal=STOP box-database.service
record ann /box/bin/patterns small_writes file
queue_waits() {
	in_box sluiced status --json >status && [ "$(json_get status '["queue"]["frames"]')" -gt 0 ]
}
wait_for "queue" queue_waits

# kill -9 of the whole daemon while its queue is not empty, and a process that finds only the socket until systemd has
# started the daemon again: no call is missing and no run is there twice. What is being collected at that moment may be
# stored as incomplete.
in_box systemctl kill --signal=KILL sluiced.service
record bob /box/bin/patterns small_writes file
wait_for "restart" property_is sluiced.service NRestarts 1
wait_for "daemon after the restart" property_is sluiced.service ActiveState active
in_box systemctl kill --signal=CONT box-database.service
all="activities = (SELECT activities FROM run WHERE owner = 'ann' ORDER BY id LIMIT 1)"
wait_for "third run of ann" rows_are 3 "run WHERE owner = 'ann' AND $all"
wait_for "second run of bob" rows_are 2 "$of_bob AND $all"

# Without the socket, a process leaves its records in a file of its user. The next daemon finds it, and the group of the
# directory lets it read the file.
in_box systemctl stop sluiced.socket sluiced.service
record bob /box/bin/patterns small_writes file
in_box systemctl start sluiced.service
wait_for "third run of bob" rows_are 3 "$of_bob AND $all"
rows_are 0 "(SELECT uuid FROM run GROUP BY uuid HAVING count(*) > 1) x" || fail "runs are there twice"

# The reasoner: two nodes are slow on the same file system, and the daemon of this node, which uses it, hears of it.
in_box systemctl enable --now --quiet sluice-watch.service
wait_for "reasoner" property_is sluice-watch.service SubState running
watch=$(property sluice-watch.service MainPID)
check_eq "$(in_box stat -c %U "/proc/$watch")" sluice "user of the reasoner"
as postgres psql -qX -d "$database options='-c search_path=sluice'" -v ON_ERROR_STOP=1 >out 2>&1 <<'END' || fail "$(cat out)"
INSERT INTO anomaly (node, subject, owner, job, target, started_ns, cause, detail, value)
SELECT n, 'node', '', '', '/scratch', extract(epoch FROM now())::bigint * 1000000000, '', 'slow', 9 FROM unnest(ARRAY['n1', 'n2']) n;
INSERT INTO node_load (node, owner, job, target, bytes_read, bytes_written, operations, updated_ns)
SELECT n, 'ann', '1', '/scratch', 1, 1, 1, extract(epoch FROM now())::bigint * 1000000000 FROM unnest(ARRAY['n1', 'n2']) n;
NOTIFY sluice_anomaly;
END
wait_for "verdict" rows_are 1 "anomaly WHERE subject = 'system' AND target = '/scratch'"
wait_for "verdict in the journal" journal_has sluice-watch.service /scratch

# Both end cleanly when they are told to, and leave no processes.
in_box systemctl stop sluice-watch.service sluiced.socket sluiced.service
for unit in sluice-watch.service sluiced.service; do
	check_eq "$(property $unit Result)" success "result of $unit"
	check_eq "$(property $unit ActiveState)" inactive "state of $unit"
done
! in_box pgrep -u sluice || fail "processes of the daemon are left"
