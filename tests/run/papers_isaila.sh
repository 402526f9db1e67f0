#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The acceptance checks of the paper on models of collective I/O, on the simulated Vesta with both laws of contention, with
# the bounds of the paper. Takes many minutes.
# Papers: HYB-43, HYB-47 to HYB-51.
. "$(dirname "$0")/libtest.sh"
. "$(dirname "$0")/libpapers.sh"

check_rc 0 "$sluice" lab reproduce isaila --json
mv out isaila.json

# facts LAW: shell variables with the numbers of one law
facts() {
	python3 - isaila.json "$1" <<'PYTHON'
import json, sys

law = sys.argv[2]
sheets = {s["name"]: s["rows"] for s in json.load(open(sys.argv[1]))["sheets"]}
of = lambda name: sheets["%s_%s" % (name, law)]
say = lambda name, value: print("%s=%s" % (name, value if isinstance(value, int) else "%.4f" % value))

for r in of("table2"):
    say("r2_" + r["model"], r["r2"])
methods = {r["method"]: r for r in of("figure9")}
for name, method in (("hybrid", "hybrid (published)"), ("ml", "ml"), ("rs", "random, expected")):
    for key in ("most", "better", "worse"):
        say("%s_%s" % (name, key), int(methods[method][key]))
    for key in ("mean", "q05"):
        say("%s_%s" % (name, key), methods[method][key])
sizes = {r["method"]: r for r in of("figure10")}
for runs in (99, 66, 33):
    say("mean_%d" % runs, sizes["ml, %d runs" % runs]["mean"])
say("won_33", sizes["ml, 33 runs"]["won_percent"])
noise = {(r["method"], r["sigma"]): r for r in of("figure11")}
clean = noise["hybrid (published)", 0]
say("change", max(abs(r[k] / clean[k] - 1) for (m, sigma), r in noise.items() if m == "hybrid (published)" and sigma <= 0.5
                  for k in ("mean", "q05", "q25", "q50", "q75", "q95")) * 100)
say("ml_clean", noise["ml", 0]["mean"])
say("ml_noise", noise["ml", 0.001]["mean"])
PYTHON
}

for law in queue share; do
	facts $law >facts.$law
	cat facts.$law
	. ./facts.$law
	paper_missed HYB-AC-8 "$r2_aa >= 0.8 && $r2_aav >= 0.8 && $r2_ar >= 0.8 && $r2_s_nl_partial >= 0.8 &&
		$r2_s_lock >= 0.74 && $r2_s_lock <= 0.84 && $r2_s_nl_full < $r2_s_lock && $r2_s_nl_full < $r2_s_nl_partial" \
		"\`$law\` aa $r2_aa, aav $r2_aav, ar $r2_ar, s_nl_partial $r2_s_nl_partial, s_lock $r2_s_lock, s_nl_full $r2_s_nl_full"
	paper_missed HYB-AC-11 "$ml_most == 6 && $ml_better == 5 && $ml_worse == 5 && $hybrid_most == 6 && $hybrid_better == 11 &&
		$hybrid_worse == 2 && $hybrid_mean > $ml_mean && $ml_mean > $rs_mean" \
		"\`$law\` ml $ml_most, $ml_better, $ml_worse; hybrid $hybrid_most, $hybrid_better, $hybrid_worse;" \
		"means $hybrid_mean, $ml_mean, $rs_mean"
	paper_holds HYB-AC-12 "$hybrid_q05 > $ml_q05" "\`$law\` hybrid $hybrid_q05, ml $ml_q05"
	falls="$mean_99 > $mean_66 && $mean_66 > $mean_33 && $won_33 >= 45 && $won_33 <= 55"
	means="\`$law\` $mean_99 -> $mean_66 -> $mean_33; $won_33 % of choices with 33 runs beat the default"
	if [ $law = queue ]; then
		paper_holds HYB-AC-13 "$falls" "$means"
	else
		paper_missed HYB-AC-13 "$falls" "$means"
	fi
	paper_missed HYB-AC-14 "$change <= 5 && $ml_noise < $ml_clean" \
		"\`$law\` hybrid changes by $change %; ml $ml_clean clean, $ml_noise at 0.001"
done
