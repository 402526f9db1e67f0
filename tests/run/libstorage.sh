# SPDX-License-Identifier: BSD-3-Clause
# Data for tests of the pages about storage, node and model; to be sourced after libtest.sh and libmpi.sh. Everything is
# in the store and the directories of the test, as a user would have it.

hostile_name='<img src=x onerror=alert(1)>'

# make_probes: a system with known states up to now (lab), and real probes of two directories (here). Target oss-d cannot
# be forecast: its state is random.
make_probes() {
	export SLUICE_PROBE_SYSTEM=lab
	python3 - "$hostile_name" <<'END' >lab.txt
import math, random, sys, time
random.seed(3)
names = ["oss-a", "oss-b", "oss-c", "oss-d", sys.argv[1].replace("%", "%25").replace(" ", "%20")]
minutes = 2160
start = int(time.time()) // 60 * 60 - (minutes - 1) * 60
state = [0] * len(names)
for i in range(minutes):
    print("Timestamp: %d\nSystem: lab\nMethod: direct" % (start + i * 60))
    print("Node: load=%.3g cpu=%.3g iowait=%.3g dirty=%d" % (1 + sum(state), .1 + .1 * sum(state), .02 * sum(state), 1 << 20))
    for t in range(len(names)):
        if random.random() < (1 / 40 if state[t] else 1 / 80):
            state[t] ^= 1
        if minutes - i < 40:
            state[t] = int(t == 2)
    state[3] = int(random.random() < .2)
    if i % 5 == 0:
        print("All running jobs:")
        for j in range(2 + 3 * sum(state)):
            print("Job Id: %d\n    Job_Name = climate%d\n    Job_Owner = u%d@h\n    job_state = R\n    queue = batch\n"
                  "    Resource_List.nodect = %d\n    Resource_List.walltime = 02:00:00\n    resources_used.mem = 1024kb\n"
                  "    resources_used.vmem = 2048kb\n    resources_used.walltime = 00:10:00" % (100 + j, j, j, 8 if j < 2 else 400 + j))
    print("Performance:\nOSS id 1MB 1GB")
    for t, name in enumerate(names):
        probe = math.exp(math.log(.016 if state[t] and t != 3 else .008) + .25 * random.gauss(0, 1))
        truth = math.exp(math.log(2.7 if state[t] else 1.85) + (.15 if state[t] else .06) * random.gauss(0, 1))
        cell = "failed" if t == 1 and 1500 <= i < 1510 else "%.6gs" % probe
        print("%s %s %s" % (name, cell, "%.6gs" % truth if i % 10 == 9 else "-"))
END
	check_rc 0 "$sluice" forecast import lab.txt
	check_rc 0 "$sluice" forecast train --system lab --method logistic --history 20m --folds 4
	mkdir -p probed/a probed/b
	"$sluice" forecast probe --system here --every 100ms --reference-every 300ms --jobs-every 0 --sizes 64K,256K \
		"a=$work/probed/a" "b=$work/probed/b" >probe.out 2>probe.err &
	prober=$!
	at_exit "kill $prober 2>/dev/null || true"
	wait_for "probes of real directories" has_probes
	kill $prober
	wait $prober || true
}

# has_probes: both directories have several probes and a reference write, which takes as long as the machine needs
has_probes() {
	local target
	"$sluice" forecast export --system here >exported 2>/dev/null || return
	for target in a b; do
		[ "$(grep -cE "^$target [0-9.e-]+s" exported)" -ge 5 ] && grep -qE "^$target \S+ [0-9.e-]+s" exported || return
	done
}

# make_models: hybrid.model of a machine that is described, from rows of a formula; and, if this machine has MPICH,
# here.model, measured and calibrated with the real library
make_models() {
	local models=$XDG_DATA_HOME/sluice
	mkdir -p machines "$models"
	export SLUICE_MACHINES=$work/machines
	printf '%s\n' '[machine]' 'name = testbed' 'title = Testbed (Lustre)' 'romio = lustre' '[nodes]' 'cores = 16' '[storage]' 'block = 4K' \
		'[defaults]' 'cb_buffer_size = 16M' 'node_aggregators = 16' 'striping_factor = 16' 'striping_unit = 16M' >machines/testbed.ini
	python3 - <<'END' >testbed.csv
import random
random.seed(7)
M = 1 << 20
print("platform,operation,placement,nodes,cores,senders,receivers,writers,bytes,round,repetition,seconds")
def row(op, n, s, r, w, b, seconds, repetitions=3):
    for i in range(repetitions):
        placed = "topology" if op[0] == "s" else ""
        print("testbed,%s,%s,%d,16,%d,%d,%r,%d,%d,%d,%.9g" % (op, placed, n, s, r, w, b, i, i, seconds * (1 + .01 * random.gauss(0, 1))))
for n in 8, 16, 32:
    for k in range(2, 19, 2):
        row("ar", n, 0, 0, 0, 1 << k, 1e-5 + 1e-9 * (1 << k))
        row("aa", n, 0, 0, 0, 1 << k, 2e-6 * (1 << k))
    for s in n, 4 * n, 16 * n:
        for r in n // 4, n, 4 * n:
            for b in 4, 8, 1024, M, 8 * M, 16 * M, 32 * M:
                row("aav", n, s, r, 0, b, 1e-4 + 1e-9 * b * s / r / 16, 1)
    for w in 0.25, 1, 4:
        for b in 8, 16, 32:
            row("s_lock", n, 0, 0, w, b * M, 0.1 + 0.8 * w + 0.01 * b * w)
            row("s_nl_full", n, 0, 0, w, b * M, 0.2 + 0.02 * b * w ** 0.7)
            for part in 0.1, 0.5, 0.9:
                row("s_nl_partial", n, 0, 0, w * part, b * M, 0.2 + 0.02 * b * (w * part) ** 0.7)
END
	check_rc 0 "$sluice" model fit --rows testbed.csv --learners linear,neighbors --candidates 3
	if ! mpi_has mpich elemental || ! mpi_has mpich collective_io; then
		skip_case libmpich-dev "calibrated model"
		return
	fi
	mkdir measured
	check_rc 0 timeout "$limit" "$sluice" model measure all -n 2 --mpi mpich --buffers 64K,1M,4M --repeat 2 --cache use \
		--dir measured --max-time 2s --platform here
	(cd measured && check_rc 0 timeout "$limit" "$sluice" model fit --platform here --learners linear,neighbors --candidates 2 \
		--folds 3 -o "$models/here.model")
	check_rc 0 timeout "$limit" "$sluice" model calibrate -m "$models/here.model" -n 2 --mpi mpich --dir measured --accesses 6 --repeat 1
}

# make_runs: a run that is as usual, and one whose writes become slow, both with node statistics, as runs/usual.sluice and
# runs/slow.sluice
make_runs() {
	mkdir -p runs
	# The load of this machine must not explain what the test slows down.
	printf '%s\n' '[health]' 'busy_percent = 100' 'interval = 1s' '[stats]' 'period = 20ms' '[plugin.histogram]' 'learn = 1000' >"$SLUICE_ETC"
	local name
	for name in usual slow; do
		SLOW_FROM=$([ $name = slow ] && echo 0 || echo 100000) SLOW_MS=$([ $name = slow ] && echo 20 || echo 0) \
			check_rc 0 "$sluice" run --quiet -o "runs/$name.sluice" -- \
			sh -c 'LD_PRELOAD=$LD_PRELOAD:$0 exec "$@"' "$prog/slow.so" "$prog/writes" alike "$([ $name = slow ] && echo 150 || echo 3000)"
	done
}

# make_site: a database of the site in which users load the storage now, and in which an anomaly lasts
make_site() {
	export SLUICE_SITE_DATABASE=$work/site.db
	check_rc 0 "$sluice" site init
	python3 - "$hostile_name" <<'END'
import sqlite3, sys, time
now = time.time_ns()
# The load counts for a minute; a test on a slow machine must not depend on that.
then = now + 3600 * 10**9
site = sqlite3.connect("site.db")
rows = [("n1", "ann", "4711", "/scratch", 2e8, 9e8, 800.), ("n2", "ann", "4711", "/scratch", 0., 6e8, 500.),
        ("n2", "bob", sys.argv[1], "/home", 1e7, 2e6, 4000.)]
site.executemany("INSERT INTO node_load VALUES (?, ?, ?, ?, ?, ?, ?, ?)", [r + (then,) for r in rows])
site.execute("INSERT INTO anomaly (node, subject, owner, job, target, started_ns, cause, detail, value) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
             ("n1", "node", "ann", "4711", "/scratch", now, "likely job", "calls on /scratch take 6 times as long as usual", 6.))
site.commit()
END
}
