#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# packaging/deps.sh installs packages without starting their servers, and leaves the machine's policy as it was, also when
# it is interrupted and when two of them run at the same time. The servers are those of two small packages, in a minimal
# system.
. "$(dirname "$0")/libpackages.sh"
[ "$(id -u)" = 0 ] || skip root
needs_command debootstrap debootstrap
has_namespaces || skip namespaces
root=$work/root
fresh_root "$root"

# package NAME: a package whose installation starts a server, as debhelper would write it, and waits if /wait exists
package() {
	mkdir -p "$1/DEBIAN" "$1/etc/init.d"
	cat >"$1/DEBIAN/control" <<-END
		Package: $1
		Version: 1
		Architecture: all
		Maintainer: test <test@example.org>
		Description: test
	END
	cat >"$1/DEBIAN/postinst" <<-END
		#!/bin/sh
		set -e
		mkdir -p /etc/rc2.d
		ln -sf ../init.d/$1 /etc/rc2.d/S01$1
		invoke-rc.d $1 start || exit 1
		: >/installing
		while [ -e /wait ]; do sleep 0.05; done
	END
	cat >"$1/etc/init.d/$1" <<-END
		#!/bin/sh
		### BEGIN INIT INFO
		# Provides: $1
		# Required-Start:
		# Required-Stop:
		# Default-Start: 2 3 4 5
		# Default-Stop: 0 1 6
		### END INIT INFO
		[ "\$1" != start ] || : >/started
	END
	chmod 755 "$1/DEBIAN/postinst" "$1/etc/init.d/$1"
	dpkg-deb --root-owner-group -b "$1" "$root/repository/${1}_1_all.deb" >/dev/null
}
mkdir -p "$root/repository" "$root/packaging"
package test-server
package other-server
(cd "$root/repository" && dpkg-scanpackages . >Packages 2>/dev/null)
rm -rf "$root"/etc/apt/sources.list*
echo 'deb [trusted=yes] file:/repository ./' >"$root/etc/apt/sources.list"
cp "$SOURCE/packaging/deps.sh" "$root/packaging/"
printf 'check\ttest-server\nbench\tother-server\n' >"$root/packaging/deps.apt"

# As on a machine that has been started, where alone servers are started: an init system in run level 2.
ln -s /bin/true "$root/sbin/init"
printf '#!/bin/sh\necho N 2\n' >"$root/sbin/runlevel"
chmod 755 "$root/sbin/runlevel"

cat >"$root/inside.sh" <<'END'
set -eu
fail() { echo "deps.sh, inside: $*" >&2; exit 1; }
await() { for try in $(seq 6000); do [ "$1" "$2" ] && return; sleep 0.05; done; fail "no $2"; }
policy=/usr/sbin/policy-rc.d
reset() { dpkg --purge test-server other-server >/dev/null 2>&1 || true; rm -f /started /installing /wait $policy; }
installed() { [ "$(dpkg-query -W -f '${db:Status-Abbrev}' "$1" 2>/dev/null)" = "ii " ]; }

# Without deps.sh, the server starts.
apt-get update -q
apt-get install -y test-server
[ -e /started ] || fail "the package does not start its server"

reset
sh packaging/deps.sh check
installed test-server || fail "the package was not installed"
[ ! -e /started ] || fail "the server was started"
[ ! -e $policy ] || fail "$policy is left"
sh packaging/deps.sh check

# The policy of an administrator is used and kept.
reset
printf '#!/bin/sh\nexit 0\n' >$policy
chmod 755 $policy
cp -p $policy /tmp/policy
sh packaging/deps.sh check
[ -e /started ] || fail "the policy of the machine was not used"
cmp $policy /tmp/policy || fail "the policy of the machine was changed"
[ -x $policy ] || fail "the policy of the machine is not executable any more"

# Interrupted while the package is installed: the policy is removed at the end.
for signal in INT TERM HUP; do
	reset
	touch /wait
	env --default-signal=INT,TERM,HUP sh packaging/deps.sh check &
	pid=$!
	await -e /installing
	[ -e $policy ] || fail "there is no policy during the installation"
	kill -$signal $pid
	rm /wait
	wait $pid && fail "deps.sh ignores SIG$signal" || true
	[ ! -e $policy ] || fail "$policy is left after SIG$signal"
	[ ! -e /started ] || fail "the server was started"
done

# Killed: the next one replaces what is left.
reset
touch /wait
sh packaging/deps.sh check &
pid=$!
await -e /installing
kill -KILL $pid
rm /wait
while pidof apt-get >/dev/null; do sleep 0.05; done
[ -e $policy ] || fail "kill -9 has removed the policy"
dpkg --purge test-server
sh packaging/deps.sh check
[ ! -e $policy ] || fail "$policy of a killed deps.sh is left"

# Two at the same time: the second one starts while the first one installs, and still has a policy when that one has ended.
reset
touch /wait
sh packaging/deps.sh check &
first=$!
await -e /installing
sh packaging/deps.sh bench >/tmp/second 2>&1 &
second=$!
await -s /tmp/second
rm /wait
wait $first || fail "the first deps.sh failed"
wait $second || fail "the second deps.sh failed: $(cat /tmp/second)"
installed test-server && installed other-server || fail "a package was not installed"
[ ! -e /started ] || fail "one deps.sh has removed the policy of another"
[ ! -e $policy ] || fail "$policy is left"
# The lock is not kept by those who wait for it.
flock -n /var/lib/dpkg true || fail "the lock is left"
echo "inside: passed"
END
in_root "$root" sh /inside.sh >"$packages/deps.log" 2>&1 || fail "in the minimal system: $(tail -n 30 "$packages/deps.log")"
check_eq "$(tail -n 1 "$packages/deps.log")" "inside: passed"
