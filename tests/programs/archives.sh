#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# tar and rsync on a tree with links, sparse files, long names and special modes.
. "$(dirname "$0")/libprograms.sh"
need tar tar
need gzip gzip
need rsync rsync

make_tree='
make_tree() {
	mkdir -p tree/deep/$(printf "long%.0s" $(seq 40))
	i=0
	while [ $i -lt 300 ]; do
		mkdir -p tree/d$((i % 17))/sub
		seq 1 $((i * 13 % 997 + 1)) >tree/d$((i % 17))/file$i
		i=$((i + 1))
	done
	ln tree/d0/file0 tree/d1/hard
	ln -s ../d0/file0 tree/d2/symbolic
	ln -s nowhere tree/d2/dangling
	truncate -s 3M tree/sparse
	printf middle | dd of=tree/sparse bs=1 seek=1000000 conv=notrunc status=none
	head -c 2000000 /dev/zero | tr "\0" x >tree/large
	: >"tree/with blank and ü"
	chmod 4755 tree/d3/file3
	chmod 700 tree/d4
	find tree -exec touch -h -d "2020-02-02 02:02:02" {} +
}
make_tree
'

compare_script "tar: formats, compressors, sparse files, incremental and multi-volume archives" "$make_tree"'
options="--sort=name --owner=0 --group=0 --numeric-owner"
for format in gnu pax ustar v7; do
	tar $options --format=$format --exclude="long*" -cf $format.tar tree 2>/dev/null || true
	mkdir $format
	tar -xpf $format.tar -C $format
	tar --compare -f $format.tar
	tar -tf $format.tar | wc -l
done
rm -f pax.tar # holds times of access and process numbers
tar $options -S -cf sparse.tar tree/sparse
mkdir sparse
tar -xSf sparse.tar -C sparse
cmp tree/sparse sparse/tree/sparse
for program in gzip bzip2 xz zstd; do
	command -v $program >/dev/null || continue
	tar $options -c -I $program -f tree.$program tree/d1 tree/d2
	tar -t -I $program -f tree.$program | md5sum
	rm tree.$program
done
tar $options --listed-incremental=state -cf full.tar tree
echo more >>tree/d5/file5
rm tree/d6/file6
touch -d "2021-01-01" tree/d5/file5 tree/d6
tar $options --listed-incremental=state -cf more.tar tree
mkdir restored
tar --listed-incremental=/dev/null -xpf full.tar -C restored
tar --listed-incremental=/dev/null -xpf more.tar -C restored
diff -r --no-dereference tree restored/tree
rm -f state full.tar more.tar
tar $options -M -L 500 -cf v1.tar -f v2.tar -f v3.tar -f v4.tar -f v5.tar -f v6.tar -f v7.tar -f v8.tar -f v9.tar tree/d1 tree/d3 tree/large
cat v?.tar | wc -c
tar --delete -f gnu.tar tree/d1/hard
tar -rf gnu.tar tree/d1/hard
tar -uf gnu.tar tree/d2
tar $options -cf - tree | tar -xf - -C sparse
rm -f v?.tar *.tar'

normalize() {
	sed -E 's/[0-9.,]+ bytes\/sec/? bytes\/sec/; s/^(File list (generation|transfer) time: ).*/\1?/; s/[0-9]{4}\/[0-9\/]+ [0-9:]+ \[[0-9]+\]/?/; s/^(Total bytes (sent|received)): .*/\1: ?/; s/sent [0-9,]+ bytes  received [0-9,]+ bytes/sent ? received ?/'
}
compare_script "rsync: copies, deltas, deletions, links, batches, daemon" "$make_tree"'
rsync -aHS --stats tree/ copy/
diff -r --no-dereference tree copy
echo changed >>tree/large
rm tree/d7/file7
rsync -aH --inplace --no-whole-file --delete -i tree/ copy/
diff -r --no-dereference tree copy
rsync -a --checksum -n -i tree/ copy/
rsync -a --link-dest="$PWD/copy" tree/ linked/
test tree/d8/file8 -ef tree/d8/file8 && test copy/d8/file8 -ef linked/d8/file8
rsync -az --compress-level=9 --exclude="d1*" --max-size=100k tree/ partial/
find partial | sort | md5sum
rsync -a --write-batch=batch tree/d1/ batched/
rsync -a --read-batch=batch again/
diff -r batched again
rm -f batch batch.sh
rsync -a --fsync --preallocate --backup --suffix=.old tree/d3/ batched/
rsync -a --files-from=/dev/stdin tree/ listed/ <<LIST
d1/file1
d2/file2
LIST
ls listed
cat >rsyncd.conf <<CONF
use chroot = no
munge symlinks = no
address = 127.0.0.1
pid file = $PWD/rsyncd.pid
log file = $PWD/rsyncd.log
[data]
path = $PWD/served
read only = false
uid = $(id -u)
gid = $(id -g)
CONF
mkdir served
port=$(python3 -c "import socket; s = socket.socket(); s.bind((\"127.0.0.1\", 0)); print(s.getsockname()[1])")
rsync --daemon --no-detach --port=$port --config=rsyncd.conf </dev/null &
daemon=$!
for i in $(seq 1200); do
	rsync -q rsync://127.0.0.1:$port/ 2>/dev/null && break
	sleep 0.05
done
rsync -aH tree/ rsync://127.0.0.1:$port/data/
diff -r --no-dereference tree served
rsync -aH --delete rsync://127.0.0.1:$port/data/d1/ fetched/
diff -r tree/d1 fetched
! rsync -a rsync://127.0.0.1:$port/missing/ x 2>/dev/null
kill $daemon
wait $daemon || true
rm -f rsyncd.*'
