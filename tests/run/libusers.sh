# SPDX-License-Identifier: BSD-3-Clause
# Helpers for tests with two unprivileged users; to be sourced after libtest.sh. Only root can create users, so the test
# is skipped otherwise. It sets:
#   $users   a directory that everybody can enter. $users/a and $users/b are the homes of the users, and $users/bin has
#            copies of the program and its library. All of it is removed at the end, and so are the users.
#   $uid_a, $uid_b
[ "$(id -u)" = 0 ] || skip root "attacks of another user"
command -v useradd >/dev/null && command -v userdel >/dev/null || skip passwd
command -v runuser >/dev/null && command -v flock >/dev/null || skip util-linux

# The names of the users are fixed, so that one test at a time uses them. The lock is not inherited by as().
exec {users_lock}>/var/lock/sluice-test-users
flock "$users_lock"

users_remove() {
	local user pid
	for user in sluice-test-a sluice-test-b; do
		id -u $user >/dev/null 2>&1 || continue
		for pid in $(ps -o pid= -u $user); do
			kill -KILL "$pid" 2>/dev/null || true
		done
		rm -rf /dev/shm/sluice-"$(id -u $user)"{,-*} /tmp/sluice-"$(id -u $user)"{,-*}
		userdel -f $user >/dev/null 2>&1 || true
	done
	rm -rf "$users"
}

users=$(mktemp -d /tmp/sluice-users.XXXXXX)
at_exit users_remove
chmod 755 "$users"
mkdir "$users/bin"
cp "$BUILD/sluice" "$BUILD/libsluice.so" "$users/bin"
sluice=$users/bin/sluice
for user in a b; do
	id -u sluice-test-$user >/dev/null 2>&1 ||
		useradd --no-create-home --home-dir "$users/$user" --shell /bin/sh sluice-test-$user ||
		fail "cannot create a user"
	mkdir -m 700 "$users/$user"
	chown sluice-test-$user: "$users/$user"
done
uid_a=$(id -u sluice-test-a)
uid_b=$(id -u sluice-test-b)

# as USER [NAME=VALUE]... COMMAND...: runs the command as user a or b, in the user's home and with a clean environment
as() {
	local home=$users/$1 name=sluice-test-$1
	shift
	(
		cd "$home"
		exec {users_lock}>&-
		exec runuser -u "$name" -- env -i PATH="$PATH" HOME="$home" LC_ALL=C SLUICE_ETC="$users/etc.conf" \
			SLUICE_OVERHEAD_BUDGET=0 "$@"
	)
}

# compile_attack: builds $users/bin/mkcontrol, which writes a control page of a dead run, and $users/bin/evil.so, a
# plug-in that leaves the name of its user in $users/evil
compile_attack() {
	mkdir -m 1777 "$users/evil"
	cat >mkcontrol.c <<'END'
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "contract/spool.h"
/* mkcontrol FILE TRACE [PLUGIN]; the id of the run is empty, as in an old page */
int main(int argc, char **argv)
{
	struct control *c = calloc(1, sizeof(*c));
	FILE *f = fopen(argv[1], "w");

	c->magic = CONTROL_MAGIC;
	c->version = SPOOL_VERSION;
	c->mode = CAPTURE_TRACE;
	c->chunks_max = 1000;
	c->collector_pid = 1 << 22; /* no such process */
	c->collector_start = 12345;
	c->clock_num = c->clock_den = 1;
	c->skip[0] = '\n';
	strcpy(c->trace, argv[2]);
	if (argc > 3) {
		strcpy(c->plugins[0].name, argv[3]);
		c->plugins[0].layers = ~0u;
	}
	return !f || fwrite(c, sizeof(*c), 1, f) != 1 || fclose(f);
}
END
	cat >evil.c <<'END'
#include <stdio.h>
#include <unistd.h>
__attribute__((constructor)) static void act(void)
{
	char path[4096];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%u", EVIL, (unsigned)geteuid());
	f = fopen(path, "w");
	if (f)
		fclose(f);
}
END
	"${CC:-cc}" -D_GNU_SOURCE -I"$SOURCE/src" -I"$SOURCE/include" -o "$users/bin/mkcontrol" mkcontrol.c
	"${CC:-cc}" -D_GNU_SOURCE -DEVIL="\"$users/evil\"" -shared -fPIC -o "$users/bin/evil.so" evil.c
}

# no_evil [WHAT]: the plug-in did not run as anybody else than its owner b
no_evil() {
	local file
	for file in "$users/evil"/*; do
		[ ! -e "$file" ] || [ "${file##*/}" = "$uid_b" ] || fail "${1:-b} ran code as user ${file##*/}"
	done
}
