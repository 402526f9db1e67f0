#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Real programs: coreutils, findutils, tar and gzip on a tree. Output and trees are the same without and with capture.
. "$(dirname "$0")/libtorture.sh"

make_tree='mkdir tree
i=0
while [ $i -lt 20 ]; do
	mkdir -p tree/d$i/sub
	seq 1 $((i * 100 + 1)) >tree/d$i/numbers
	printf "line %d\n" $i >tree/d$i/sub/small
	: >tree/d$i/empty
	ln -s ../d0/numbers tree/d$i/link
	ln tree/d$i/numbers tree/d$i/sub/hard
	chmod 6$((i % 8))0 tree/d$i/sub/small
	touch -d "2020-01-01 00:00:$i" tree/d$i/numbers tree/d$i/sub/small
	i=$((i + 1))
done
mkfifo tree/fifo'

program "coreutils and findutils on a tree" 3000 "$make_tree" '
cp -a tree copy
cp -r tree/d1 plain
mv copy/d0 copy/moved
mv -f plain/numbers plain/renamed
find tree -type f -size +1k -print | sort
find copy -name small -exec cat {} + | wc
find tree -type l -printf "%p -> %l\n" | sort
find tree -name empty -print0 | sort -z | xargs -0 ls -1
find copy -newer tree/d0/numbers -type f | wc -l
md5sum tree/*/numbers | sha256sum
cat tree/*/numbers | sort -n -u | tail -3
sort -S 1M -T . tree/*/numbers -o sorted
tac tree/d5/numbers | head -5
dd if=sorted of=dd.out bs=777 count=10 skip=1 conv=notrunc status=none
dd if=/dev/zero of=sparse bs=1 count=0 seek=1M status=none
split -l 500 sorted part.
wc -c part.* | tail -1
comm -12 tree/d1/numbers tree/d2/numbers | wc -l
cut -c1 sorted | uniq -c
tr 0-9 a-j <sorted >letters
tee tee1 tee2 <tree/d3/numbers | tail -1
truncate -s 100 letters
install -m 640 -D tree/d4/numbers installed/a/b/c
ln -sf nowhere installed/dangling
readlink -f installed/a/../a
stat -c "%n %s %a" installed/a/b/c
chmod -R g+w copy
touch -r tree/d0/numbers installed/a/b/c
ls -lR --time-style=+%s copy/d3 | sed "s/root/x/g" | wc -l
du -b --apparent-size tree/d9/numbers
cmp tree/d1/numbers copy/d1/numbers
! cmp -s tree/d1/numbers tree/d2/numbers
! cat nonexistent 2>/dev/null
rm copy/d1/numbers
rm -r copy/d2 tree/d19
rmdir --ignore-fail-on-non-empty copy/d3/sub
shuf -n 3 --random-source=sorted tree/d9/numbers
sync sorted
rm tree/fifo copy/fifo
'

program "tar and gzip, there and back" 1000 "$make_tree" '
rm tree/fifo
tar --sort=name --mtime=@1600000000 --owner=0 --group=0 --numeric-owner -cf a.tar tree
tar --sort=name --mtime=@1600000000 --owner=0 --group=0 --numeric-owner -cf - tree | gzip -n -9 >b.tar.gz
gzip -n -k a.tar
gzip -t a.tar.gz b.tar.gz
mkdir one two
tar -xpf a.tar -C one
gzip -dc b.tar.gz | tar -xpf - -C two
diff -r one two
diff -r one/tree tree
tar -tzf a.tar.gz | wc -l
tar -tvf a.tar | md5sum
zcat a.tar.gz | md5sum
rm -r tree
'
