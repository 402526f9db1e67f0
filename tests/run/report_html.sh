#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The report as a web page: content, safety of hostile names, bounded size, and files that are never replaced. What a
# browser makes of it is tested by page_browser.sh.
. "$(dirname "$0")/libtest.sh"
page_check=$SOURCE/tests/run/page.py

# check_page FILE [TEXT]...: the page is valid; its tables are listed in the file "tables"
check_page() {
	python3 "$page_check" "$@" >tables 2>tables.err || fail "$1 is no valid page: $(tail -n 3 tables.err)"
}

# rows TABLE: the number of rows of a table of the last page
rows() {
	sed -n "s/^$1 //p" tables
}

# Names and commands that try to become markup or script.
evil='</script><img src=x onerror=alert(1)>'
quote='" onmouseover="alert(2)'
mkdir data
printf x >"data/a<b>&amp;'$quote.dat"
printf x >'data/<!-- --><script>alert(3).dat'
cat >evil.sh <<END
for file in data/*; do cat "\$file" >/dev/null; done
END
check_rc 0 "$sluice" run --quiet -o t.sluice -- sh evil.sh "$evil" "$quote"
check_rc 0 "$sluice" report --html page.html t.sluice
check_page page.html "$evil" "$quote" "a<b>&amp;'" 'alert(3)' 'most time in'
check_eq "$(cat out)" "" "output of report --html"
[ "$(rows functions)" -ge 3 ] && [ "$(rows files)" -ge 2 ] && [ "$(rows layers)" -ge 1 ] ||
	fail "rows are missing: $(cat tables)"

# An existing file, directory or link is never replaced without --force.
cp page.html before.html
check_rc 1 "$sluice" report --html page.html t.sluice
check_words "$(cat err)" page.html exists --force
cmp page.html before.html || fail "an existing file was changed"
ln -s nowhere.html link.html
check_rc 1 "$sluice" report --html link.html t.sluice
[ ! -e nowhere.html ] || fail "a link was followed"
mkdir folder.html
check_rc 1 "$sluice" report --force --html folder.html t.sluice
echo precious >page.html
check_rc 0 "$sluice" report --force --html page.html t.sluice
cmp page.html before.html || fail "the same trace gave another page"
check_rc 1 "$sluice" report --html missing/page.html t.sluice
check_words "$(cat err)" missing/page.html

# Misuse and garbage leave no file behind.
for option in --json --survey --plugin=histogram; do
	check_rc 2 "$sluice" report --html new.html $option t.sluice
done
head -c 20000 /dev/urandom >garbage.sluice
check_rc 1 "$sluice" report --html new.html garbage.sluice
[ ! -e new.html ] || fail "a failed report left a file"

# A hand-made trace: ranks, hosts, notes and statistics that somebody else wrote, and more rows than a page shows.
check_rc 0 "$sluice" trace convert t.sluice t.txt
statistic=$(grep -c '^#statistic' t.txt || true)
{
	cat t.txt
	for kind in report anomaly applied caution degraded refused cost; do
		printf '#note\ttime_ns=5\tprocess=-1\thost=<i>\tsource=<s>\tkind=%s\tname=<n>/</td>\tvalue=</table>%s\n' $kind "$evil"
	done
	seq -f "#note	time_ns=%.0f	process=-1	host=h	source=s	kind=anomaly	name=n	value=v" 3000
	printf '#statistic\tnumber=%s\thost=<h>\tname=</h2>\tunit=<u>\treduction=mean\tscale=1\n' "$statistic"
	printf '#sample\tstatistic=%s\ttime_ns=1000000000\tperiod_ns=1000000000\tvalue=5\n' "$statistic"
} >many.txt
check_rc 0 "$sluice" report --html many.html many.txt
check_page many.html "</table>$evil" '</h2>' 'are not on this page'
[ "$(rows notes)" -lt 3007 ] && [ "$(rows notes)" -ge 100 ] || fail "$(rows notes) notes are shown"
[ "$(rows node)" -ge 1 ] || fail "statistics are missing"

# Thousands of files with long names, and all characters need an escape: the page stays below its limit, which page.py
# checks.
python3 - >long.txt <<'END'
print("#sluice-text\t1")
print("#run", "uuid=%032x" % 1, "command=" + '"<' * 5000, "host=h", "started_ns=1", sep="\t")
print("#clock", "source=monotonic", "tick0=0", "num=1", "den=1", "error_ns=0", sep="\t")
print("#call", "number=0", "name=none", "layer=POSIX", "class=control", "failure=never", "fields=", sep="\t")
print("#call", "number=1", "name=open", "layer=POSIX", "class=open", "failure=never", "fields=", sep="\t")
print("#process", "process=0", "parent=-1", "first_thread=0", "pid=1", "ppid=1", "rank=-1", "ranks=0", "host=h", "program=p", sep="\t")
for i in range(3000):
    print("#file", "id=%d" % (i + 1), "path=/%s%d" % ('"' * 3000, i), sep="\t")
print("start_ns duration_ns process id parent layer call result error file file2 present link link2 handle size offset flags "
      "mode".replace(" ", "\t"))
for i in range(3000):
    print(1000 * i, 500, 0, i + 1, 0, "POSIX", "open", 3, 0, i + 1, 0, 1, "-", "-", "-", "-", "-", "-", "-", sep="\t")
print("#end", "duration_ns=5000000", "exit_status=0", "complete=1", sep="\t")
END
check_rc 0 "$sluice" report --html long.html long.txt
check_page long.html 'more files are not on this page'

# An incomplete trace says so.
head -c $(($(stat -c %s t.sluice) * 2 / 3)) t.sluice >cut.sluice
if "$sluice" report --html cut.html cut.sluice >out 2>err; then
	check_page cut.html incomplete
fi
