#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Installs the libraries that an installed Sluice needs. Their packages are named after their versions, which differ between
# releases, so the newest of each is looked up.
set -eu
apt-get update -q
for pattern in 'libzstd[0-9]+' 'libjansson[0-9]+' 'libinih[0-9]+' 'libxxhash[0-9]+' 'libsqlite3-[0-9]+' 'zlib[0-9]+g' \
	'libmxml[0-9]+' 'libmicrohttpd[0-9]+' 'libpq[0-9]+'; do
	package=$(apt-cache search --names-only "^$pattern(t64)?\$" | cut -d' ' -f1 | sort -V | tail -n 1)
	[ -n "$package" ] || { echo "no package matches $pattern" >&2; exit 1; }
	set -- "$@" "$package"
done
DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "$@"
