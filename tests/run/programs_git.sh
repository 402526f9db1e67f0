#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Real programs: git, which forks, executes, maps, renames and locks.
. "$(dirname "$0")/libtorture.sh"
command -v git >/dev/null || skip git

export GIT_CONFIG_NOSYSTEM=1 GIT_AUTHOR_NAME=A GIT_AUTHOR_EMAIL=a@example.com GIT_COMMITTER_NAME=C
export GIT_COMMITTER_EMAIL=c@example.com GIT_AUTHOR_DATE="1600000000 +0000" GIT_COMMITTER_DATE="1600000000 +0000"

program "git init, commit, branch, merge, clone, gc, fsck" 5000 '
git init -q -b main repo
cd repo
i=0
while [ $i -lt 20 ]; do
	mkdir -p dir$((i % 5))
	seq 1 $((i * 50 + 10)) >dir$((i % 5))/file$i
	git add -A
	git commit -q -m "commit $i"
	i=$((i + 1))
done
git checkout -q -b side HEAD~5
echo side >side
git add side
git commit -q -m side
git checkout -q main
git merge -q -m merge side
git log --oneline | md5sum
git tag -a -m tagged v1
git gc -q
git fsck --strict 2>&1
cd ..
git clone -q --no-hardlinks repo clone
git clone -q --bare repo bare.git
cd clone
git fsck --strict 2>&1
git log --stat | md5sum
git rev-parse HEAD
git grep -c 100 | sort | head -5
git mv side other
git commit -q -a -m moved
git push -q ../bare.git HEAD:refs/heads/pushed
git -C ../bare.git rev-parse pushed
git diff HEAD~3 --stat | tail -1
git archive HEAD | md5sum
git stash list
git status --short
cd ..
# Indexes contain inode numbers and times, and several threads may divide packs differently.
for r in repo clone; do
	git -C $r ls-files -s | md5sum
	git -C $r cat-file --batch-all-objects --batch-check | sort | md5sum
done
rm -rf repo/.git clone/.git bare.git
'
check_least 20 'file.endswith("/index.lock") and function.startswith("open")'
