#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""usage: cluster_load.py SEED MOVERS THREADS STAY_S REST_S DIRECTORY...
       cluster_load.py write THREADS DIRECTORY

As bench_forecast_load, but each stay at a target is a batch job of Slurm that writes there (`write`). Prints the same lines
"SECONDS_SINCE_1970 MOVER TARGET", when a job has started or ended. Cancels its jobs on SIGTERM."""
import os
import random
import shlex
import signal
import subprocess
import sys
import threading
import time

REST_CHANCE = 0.25

WRITE_BYTES = 1 << 20
WRITES_PER_THREAD = 32  # places that a thread writes to in turn: together more than the cache of a mount


def write_forever(threads, directory):
    """Threads write as fast as possible to a file that has no name."""
    path = f"{directory}/load.{os.getpid()}"
    fd = os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR)
    os.unlink(path)
    block = bytes(WRITE_BYTES)

    def write(number):
        while True:
            for i in range(WRITES_PER_THREAD):
                os.pwrite(fd, block, (number * WRITES_PER_THREAD + i) * WRITE_BYTES)

    for number in range(threads - 1):
        threading.Thread(target=write, args=(number,), daemon=True).start()
    write(threads - 1)


if sys.argv[1] == "write":
    write_forever(int(sys.argv[2]), sys.argv[3])

seed, movers, writers, stay_s, rest_s = map(int, sys.argv[1:6])
directories = sys.argv[6:]
draw = random.Random(seed)
lock = threading.Lock()
at = [None] * movers
jobs = set()


def slurm(*words):
    return subprocess.run(words, check=True, stdout=subprocess.PIPE, text=True).stdout.strip()


def state_of(job):
    return slurm("squeue", "--noheader", f"--jobs={job}", "--states=all", "--format=%T")


def note(mover, target):
    print(f"{time.time():.3f} {mover} {target}", flush=True)


def choose(mover):
    """Reserves a target that has no mover, or none."""
    with lock:
        free = [i for i in range(len(directories)) if i not in at]
        at[mover] = None if draw.random() < REST_CHANCE else draw.choice(free)
        return at[mover], max(draw.expovariate(1), 0.25)


def stay(mover, target, seconds):
    command = "exec " + shlex.join([sys.executable, os.path.abspath(__file__), "write", str(writers), directories[target]])
    job = slurm("sbatch", "--parsable", "--output=/dev/null", "--ntasks=1", f"--wrap={command}")
    with lock:
        jobs.add(job)
    while (state := state_of(job)) != "RUNNING":
        if state not in ("PENDING", "CONFIGURING"):
            sys.exit(f"cluster_load.py: job {job} is {state}")
        time.sleep(0.2)
    note(mover, target)
    time.sleep(seconds)
    slurm("scancel", job)
    while state_of(job) in ("RUNNING", "COMPLETING"):
        time.sleep(0.2)
    note(mover, -1)
    with lock:
        jobs.remove(job)


def move(mover):
    while True:
        target, share = choose(mover)
        if target is None:
            note(mover, -1)
            time.sleep(share * rest_s)
        else:
            stay(mover, target, share * stay_s)


def end(*_):
    with lock:
        left = list(jobs)
    if left:
        slurm("scancel", *left)
    sys.exit(0)


for number in range(movers):
    threading.Thread(target=move, args=(number,), daemon=True).start()
signal.signal(signal.SIGTERM, end)
signal.signal(signal.SIGINT, end)
while True:
    signal.pause()
