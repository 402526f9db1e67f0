# SPDX-License-Identifier: BSD-3-Clause
# Reports acceptance checks of the papers; see tests/papers.py. To be sourced after libtest.sh. The condition is an
# expression of awk. The value appears in docs/reference/paper-tables.md.

# paper_print ID CONDITION VALUE...: prints the value; succeeds if the condition is true
paper_print() {
	local held=holds
	awk "BEGIN { exit !($2) }" || held="does not hold"
	echo "paper $1 $held: ${*:3}"
	[ "$held" = holds ]
}

# paper_holds ID CONDITION VALUE...: the test fails if the check does not hold
paper_holds() {
	paper_print "$@" || fail "$1 does not hold: ${*:3}"
}

# paper_missed ID CONDITION VALUE...: the check does not hold; the test fails if it does, so that the table is corrected
paper_missed() {
	! paper_print "$@" || fail "$1 holds now: use paper_holds"
}

# paper_report ID CONDITION VALUE...: the result depends on the machine (grade H): it is not asserted
paper_report() {
	paper_print "$@" || :
}
