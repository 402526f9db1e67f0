#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# In a minimal system, the packages install with the packages that they depend on and nothing else, work for a user and as a
# daemon, and leave nothing behind when they are purged, except data and the account that data may belong to.
. "$(dirname "$0")/libpackages.sh"
[ "$(id -u)" = 0 ] || skip root
needs_command debootstrap debootstrap
has_namespaces || skip namespaces
ls "$debs"/sluice_*.deb >/dev/null 2>&1 || fail "the packages were not built"
root=$work/root
fresh_root "$root"
mkdir "$root/debs"
cp "$debs"/*.deb "$root/debs"
rm -f "$root"/debs/*-dbgsym_*

cat >"$root/inside.sh" <<'END'
set -eu
fail() { echo "chroot.sh, inside: $*" >&2; exit 1; }
printf '#!/bin/sh\nexit 101\n' >/usr/sbin/policy-rc.d
chmod 755 /usr/sbin/policy-rc.d
apt-get update -q
# Everything but the kernels, which need two MPI libraries.
main="sluice libsluice libsluice-dev sluiced sluice-doc"
files=$(for name in $main; do ls /debs/${name}_*.deb; done)
# What apt would install besides: the dependencies. They are installed first, so that what the packages leave behind is all
# that differs afterwards.
apt-get install -s --no-install-recommends $files >/tmp/plan
needed=$(sed -n 's/^Inst \([^ ]*\) .*/\1/p' /tmp/plan | grep -vxE "$(echo $main | tr ' ' '|')" || true)
echo "dependencies:" $needed
apt-get install -y --no-install-recommends $needed
snapshot() {
	find / -xdev \( -path /proc -o -path /tmp -o -path /var/log -o -path /var/cache -o -path /var/lib/apt \
		-o -path /var/lib/dpkg -o -path /debs -o -path /home -o -path /etc/.pwd.lock \) -prune -o -print | sort
}
useradd -m user
snapshot >/tmp/before
cut -d: -f1 /etc/passwd /etc/group | sort >/tmp/accounts

# dpkg alone: a missing dependency would be an error.
dpkg -i $files
[ "$(dpkg-query -W -f '${db:Status-Abbrev}\n' $main | sort -u)" = "ii " ] || fail "a package is not installed"
apt-get check

as_user() { (cd /home/user && setpriv --reuid=user --regid=user --clear-groups env HOME=/home/user USER=user "$@"); }
as_user sluice version --json >/tmp/version
grep -q "\"version\": *\"$VERSION\"" /tmp/version || fail "version: $(cat /tmp/version)"
cp /etc/passwd /home/user/data.txt
code=0
as_user sluice run -- sh -c 'cat data.txt; exit 7' >/tmp/out 2>/tmp/err || code=$?
[ $code = 7 ] || fail "sluice run: $code: $(cat /tmp/err)"
cmp /tmp/out /home/user/data.txt
as_user sluice report >/tmp/report || fail "sluice report"
grep -q data.txt /tmp/report || fail "the report lacks the file: $(cat /tmp/report)"
as_user sluice doctor >/tmp/doctor || fail "sluice doctor: $(cat /tmp/doctor)"
grep -q "/usr/lib/.*/sluice/.*libsluice.so" /tmp/doctor || fail "doctor: $(cat /tmp/doctor)"
as_user sluice lab reproduce table3 >/dev/null || fail "sluice lab"
[ "$(as_user sluice report --json | head -c 1)" = "{" ] || fail "sluice report --json"
# The server needs a library that is loaded when it starts.
as_user sh -c 'sluice serve --socket ~/socket & server=$!
	for try in $(seq 300); do [ -S ~/socket ] && break; kill -0 $server || exit 1; sleep 0.1; done
	[ -S ~/socket ] && kill $server' >/tmp/serve 2>&1 || fail "sluice serve: $(cat /tmp/serve)"

# The units, the account and the directories of the daemon.
for unit in sluiced.service sluiced.socket sluice-watch.service; do
	systemd-analyze verify --man=no "$(ls /lib/systemd/system/$unit /usr/lib/systemd/system/$unit 2>/dev/null | head -n 1)" >/tmp/verify 2>&1 ||
		fail "$unit: $(cat /tmp/verify)"
	! grep -F "$unit" /tmp/verify || fail "$unit: $(cat /tmp/verify)"
	[ -z "$(find /etc/systemd -name $unit)" ] || fail "$unit was enabled without being asked"
done
case $(getent passwd sluice) in
sluice:*:/var/lib/sluice:/usr/sbin/nologin) ;;
*) fail "account: $(getent passwd sluice)" ;;
esac
[ "$(stat -c '%U %a' /run/sluice /run/sluice/spools | paste -sd ' ')" = "sluice 755 sluice 3733" ] ||
	fail "directories of the daemon: $(stat -c '%n %U %a' /run/sluice /run/sluice/spools)"
install -d -o sluice -g sluice -m 700 /var/lib/sluice # as the service does
printf '[policy]\nrule = mode=trace\n' >/etc/sluice.policy
setpriv --reuid=sluice --regid=sluice --clear-groups sluiced 2>/tmp/daemon &
daemon=$!
for try in $(seq 300); do
	sluiced status >/dev/null 2>&1 && break
	kill -0 $daemon || fail "sluiced has ended: $(cat /tmp/daemon)"
	sleep 0.1
done
sluiced status >/tmp/status || fail "sluiced does not answer: $(cat /tmp/daemon)"
as_user env LD_PRELOAD="$(ls /usr/lib/*/sluice/libsluice.so)" cat /etc/passwd >/dev/null
for try in $(seq 300); do
	found=$(find /var/lib/sluice/traces -name '*.sluice' 2>/dev/null | wc -l)
	[ "$found" -gt 0 ] && break
	sleep 0.1
done
[ "$found" -gt 0 ] || fail "the daemon has no trace: $(cat /tmp/daemon /tmp/status; find /var/lib/sluice)"
kill $daemon
wait $daemon || true
rm /etc/sluice.policy

# Documents and what developers need.
[ -s /usr/share/doc/sluice/docs/reference/plugins.md ] || [ -s /usr/share/doc/sluice/docs/reference/plugins.md.gz ] ||
	fail "sluice-doc has no documents"
for file in /usr/include/sluice/plugin.h /usr/lib/*/pkgconfig/sluice.pc /usr/lib/*/sluice/libsluice-link.a \
	/usr/share/man/man1/sluice-run.1.gz /usr/share/bash-completion/completions/sluice; do
	[ -s "$file" ] || fail "$file is missing"
done

# Purging keeps the traces that the daemon has collected; an administrator removes them.
dpkg --purge $main
[ "$(find /var/lib/sluice/traces -name '*.sluice' | wc -l)" = "$found" ] || fail "purging has removed data"
[ ! -e /run/sluice ] || fail "/run/sluice is left"
rm -rf /var/lib/sluice
# Without data, purging removes the directory as well.
dpkg -i $files >/dev/null
install -d -o sluice -g sluice -m 700 /var/lib/sluice
dpkg --purge $main
[ ! -e /var/lib/sluice ] || fail "an empty directory is left"
snapshot >/tmp/after
diff /tmp/before /tmp/after || fail "purging leaves files behind"
# An account is never removed: its number could be given to somebody else, with files that belong to it.
[ "$(cut -d: -f1 /etc/passwd /etc/group | sort | diff /tmp/accounts - | grep '^[<>]' | paste -sd ' ')" = "> sluice > sluice" ] ||
	fail "accounts: $(cut -d: -f1 /etc/passwd /etc/group | sort | diff /tmp/accounts -)"
# What finds leftovers.
touch /usr/share/sluice-left
! (snapshot | diff /tmp/before - >/dev/null) || fail "a file that is left was not found"
rm /usr/share/sluice-left

# The kernels, with their libraries.
dpkg -i $files >/dev/null
apt-get install -y --no-install-recommends /debs/sluice-kernels_*.deb
sluice lab kernel >/tmp/kernels
grep -q '^vpic .*mpich' /tmp/kernels && grep -q '^vpic .*openmpi' /tmp/kernels || fail "kernels: $(cat /tmp/kernels)"
! ldd /usr/libexec/sluice/kernels/*/* | grep 'not found' || fail "a kernel lacks a library"
dpkg --purge sluice-kernels $main
[ ! -e /usr/libexec/sluice ] || fail "/usr/libexec/sluice is left"
echo "inside: passed"
END
in_root "$root" env VERSION="$version" sh /inside.sh >"$packages/chroot.log" 2>&1 ||
	fail "in the minimal system: $(tail -n 30 "$packages/chroot.log")"
check_eq "$(tail -n 1 "$packages/chroot.log")" "inside: passed"
grep '^dependencies:' "$packages/chroot.log"
