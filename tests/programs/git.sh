#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# git at scale: 300 commits of 2000 files, clones over each transport, gc, fsck, rebase, bisect, worktrees, bundles.
. "$(dirname "$0")/libprograms.sh"
need git git
export GIT_CONFIG_NOSYSTEM=1 GIT_AUTHOR_NAME=A GIT_AUTHOR_EMAIL=a@example.com GIT_COMMITTER_NAME=C
export GIT_COMMITTER_EMAIL=c@example.com GIT_AUTHOR_DATE="1600000000 +0000" GIT_COMMITTER_DATE="1600000000 +0000"

# Indexes contain inode numbers and times, and threads may divide packs differently: the objects are compared.
compare_script "import, gc, fsck, clones" '
git init -q -b main repo
cd repo
i=0
{
	while [ $i -lt 300 ]; do
		echo "commit refs/heads/main"
		echo "committer C <c@example.com> $((1600000000 + i)) +0000"
		printf "data 10\ncommit%04d\n" $i
		k=0
		while [ $k -lt 20 ]; do
			echo "M 100644 inline dir$((i % 30))/file$(((i * 20 + k) % 2000))"
			printf "data 23\ncontents %06d %06d\n" $i $k
			k=$((k + 1))
		done
		i=$((i + 1))
	done
} | git fast-import --quiet
git reset -q --hard
git log --oneline | wc -l
git ls-files | wc -l
git gc -q --aggressive --prune=now
git repack -q -a -d -f --depth=20 --window=20
git fsck --full --strict 2>&1
git count-objects | cut -d, -f1
cd ..
git clone -q --no-hardlinks repo local
git clone -q --bare "file://$PWD/repo" bare.git
git clone -q --depth 5 "file://$PWD/repo" shallow
git -C shallow log --oneline | wc -l
git clone -q --mirror repo mirror.git
git -C shallow fetch -q --unshallow
git -C shallow log --oneline | wc -l
for r in local bare.git shallow mirror.git; do
	git -C $r fsck --full 2>&1
	git -C $r cat-file --batch-all-objects --batch-check | sort | md5sum
done
git -C local diff --stat HEAD~100 | tail -1
git -C local log -p --format=%H -- dir3 | md5sum
git -C local blame dir3/file60 | wc -l
git -C local grep -c "contents 0001" | wc -l
git -C local archive HEAD | tar -tf - | wc -l
git -C repo bundle create -q ../all.bundle --all
git clone -q all.bundle unbundled
git -C unbundled rev-parse HEAD
rm -rf */.git *.git all.bundle'

compare_script "rebase, merge, bisect, worktree, stash, patches" '
git init -q -b main repo
cd repo
seq 1 500 >numbers
git add numbers
git commit -q -m base
for i in $(seq 30); do
	sed -i "${i}s/.*/changed $i/" numbers
	echo $i >added$i
	git add -A
	git commit -q -m "change $i"
done
git checkout -q -b topic HEAD~20
for i in $(seq 20); do
	sed -i "$((400 + i))s/.*/topic $i/" numbers
	git commit -q -a -m "topic $i"
done
git rebase -q main
git log --oneline | wc -l
git checkout -q -b conflicting HEAD~10
sed -i "490s/.*/one/" numbers
git commit -q -a -m one
git checkout -q -b other HEAD~1
sed -i "490s/.*/two/" numbers
git commit -q -a -m two
! git merge -q conflicting >/dev/null 2>&1
git merge --abort
git merge -q -X ours -m merged conflicting
git bisect start -q HEAD HEAD~8 >/dev/null
git bisect run sh -c "! grep -q \"topic 5\" numbers" 2>&1 | grep "first bad" | md5sum
git bisect reset >/dev/null 2>&1
git worktree add -q ../tree topic
git -C ../tree status --short
echo local >>../tree/numbers
git -C ../tree stash -q
git -C ../tree stash pop -q
git -C ../tree diff --stat | tail -1
git -C ../tree checkout -q -- .
git format-patch -q -o ../patches main..topic
git checkout -q -b applied main
git am -q ../patches/*.patch
git diff --stat topic
git cherry-pick -x other~1 >/dev/null
git revert --no-edit HEAD >/dev/null
git log --graph --oneline --all | wc -l
git -c core.fsyncMethod=fsync -c core.fsync=all commit -q --allow-empty -m synced
git filter-branch -f --msg-filter "sed s/topic/subject/" main..applied >/dev/null 2>&1
git log --oneline | md5sum
git gc -q
git fsck --strict 2>&1
git ls-files -s | md5sum
cd ..
rm -rf repo/.git tree/.git patches'
