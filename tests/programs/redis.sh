#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# redis-server with an append-only file that every command syncs, on a unix socket: clients, benchmark, snapshot,
# rewrite in a forked child, restart. The data after the restart is the same without and with capture.
. "$(dirname "$0")/libprograms.sh"
need redis-server redis-server redis-cli redis-benchmark

server='
start() {
	redis-server --port 0 --unixsocket "$PWD/socket" --dir "$PWD" --appendonly yes --appendfsync always --save "" \
		--daemonize no --logfile "$PWD/log" --enable-debug-command yes --io-threads 2 &
	server=$!
	for i in $(seq 6000); do
		[ "$(redis-cli -s socket ping 2>/dev/null)" = PONG ] && return
		kill -0 $server
		sleep 0.05
	done
	exit 1
}
stop() {
	redis-cli -s socket shutdown nosave || true
	wait $server
}
finished() { # FIELD: waits until a child of the server has ended
	while [ "$(redis-cli -s socket info persistence | tr -d "\r" | sed -n "s/^$1://p")" != 0 ]; do
		sleep 0.05
	done
}
'
compare_script "redis: append-only file, snapshot, rewrite, restart" "$server"'
start
for i in $(seq 200); do
	echo "SET key$i value$i"
	echo "INCRBY counter $i"
	echo "RPUSH list $i"
	echo "HSET hash field$i $i"
	echo "ZADD sorted $i member$i"
	echo "XADD stream $i-1 field $i"
done | redis-cli -s socket | md5sum
redis-cli -s socket eval "for i = 1, 1000 do redis.call(\"SADD\", \"set\", i) end return redis.call(\"SCARD\", \"set\")" 0
redis-benchmark -s socket -n 5000 -c 20 -P 4 -r 1000 -t set,get,incr,lpush,rpop,sadd,hset -q >/dev/null
redis-cli -s socket flushdb
seq 1 2000 | sed "s/.*/SET big& &/" | redis-cli -s socket --pipe | tail -1
redis-cli -s socket bgsave >/dev/null
finished rdb_bgsave_in_progress
redis-cli -s socket info persistence | tr -d "\r" | grep -E "^(rdb_last_bgsave_status|aof_last_write_status)"
redis-cli -s socket bgrewriteaof >/dev/null
finished aof_rewrite_in_progress
redis-cli -s socket info persistence | tr -d "\r" | grep aof_last_bgrewrite_status
redis-cli -s socket set last one
redis-cli -s socket dbsize
redis-cli -s socket debug digest
redis-cli -s socket debug reload
redis-cli -s socket debug digest
stop
start
redis-cli -s socket dbsize
redis-cli -s socket debug digest
stop
redis-check-aof appendonlydir/appendonly.aof.manifest | tail -1
redis-check-rdb dump.rdb >/dev/null
ls appendonlydir
rm -rf log dump.rdb appendonlydir socket'
