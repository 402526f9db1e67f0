#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# A process of Sluice is killed with SIGKILL at a random moment: recorder (the collector), watcher or launcher of
# `sluice run`, a tuning, or a prober. The program's result does not change, every trace has all calls of the program, and
# no process is left. SLUICE_LONG=1 kills each 200 times, several at a time.
. "$(dirname "$0")/libtest.sh"
kills=5
[ -z "$long" ] || kills=200
kills=${KILLS:-$kills}

cat >kill.py <<'END'
import concurrent.futures, json, os, random, shutil, signal, subprocess, sys, threading, time

sluice, signals, work, limit = sys.argv[1], sys.argv[2], sys.argv[3], float(sys.argv[4])
kills = int(sys.argv[5])
victims = sys.argv[6:]

def read(path, mode="r"):
    try:
        with open(path, mode) as f:
            return f.read()
    except OSError:
        return b"" if "b" in mode else ""

def stat(pid):
    """Name, state and parent of a process."""
    text = read("/proc/%d/stat" % pid)
    name, rest = text[text.find("(") + 1:text.rfind(")")], text[text.rfind(")") + 2:].split()
    return (name, rest[0], int(rest[1])) if len(rest) > 1 else ("", "", 0)

def pids():
    return [int(name) for name in os.listdir("/proc") if name.isdigit()]

def child(parent, name):
    for pid in pids():
        found = stat(pid)
        if found[2] == parent and found[0] == name:
            return pid
    return 0

def marked(mark):
    """Living processes that inherited the environment of a trial."""
    return [pid for pid in pids()
            if mark in read("/proc/%d/environ" % pid, "rb").split(b"\0") and stat(pid)[1] not in "ZX"]

def wait_until(what, condition):
    until = time.time() + limit
    while not condition():
        if time.time() > until:
            raise Exception(what)
        time.sleep(0.05)

def kill(pid):
    try:
        os.kill(pid, signal.SIGKILL)
        return True
    except (ProcessLookupError, PermissionError):
        return False

def find(victim, launcher):
    if victim in ("launcher", "tuner", "prober", "companion"):
        return launcher if stat(launcher)[1] not in ("Z", "X", "") else 0
    recorder = child(launcher, "sluice-recorder")
    return recorder if victim == "recorder" or not recorder else child(recorder, "sluice-watcher")

class Trial:
    def __init__(self, victim, number):
        self.victim = victim
        self.place = "%s/%s-%d" % (work, victim, number)
        os.makedirs(self.place + "/spools")
        os.makedirs(self.place + "/here")
        self.mark = ("SLUICE_TEST_MARK=%s" % self.place).encode()
        self.environment = dict(os.environ, SLUICE_TEST_MARK=self.place, SLUICE_SPOOL_DIR=self.place + "/spools",
                                SLUICE_STORE_PATH=self.place + "/store", TMPDIR=self.place)

    def start(self, *words):
        self.err = open(self.place + "/err", "wb")
        return subprocess.Popen(words, cwd=self.place + "/here", env=self.environment, stdin=subprocess.DEVNULL,
                                stdout=self.err, stderr=self.err, start_new_session=True)

    def strike(self, process, span):
        """Kills the victim at a random moment; False if it had ended."""
        time.sleep(random.uniform(0, span))
        until = time.time() + span
        while time.time() < until:
            pid = find(self.victim, process.pid)
            if pid:
                return kill(pid)
            if process.poll() is not None:
                return False
            time.sleep(0.002)
        return False

    def record(self):
        """A program under `sluice run`."""
        process = self.start(sluice, "run", "-o", self.place + "/trace", "--", signals, "stream", "600", "2")
        struck = self.strike(process, 0.9)
        code = process.wait(limit)
        # A signal to a process that has just exited has no effect.
        if self.victim == "launcher":
            struck = code == -9
        if code != (-9 if self.victim == "launcher" and struck else 15):
            raise Exception("exit code %d" % code)
        wait_until("the run does not end", lambda: not marked(self.mark))
        if struck and self.victim == "launcher" and not os.path.exists(self.place + "/here/count"):
            # It was killed while it was loaded, before it could start anything.
            if os.listdir(self.place + "/spools"):
                raise Exception("spools of a run that was not started")
            return False
        for name in os.listdir(self.place + "/spools"):
            if not os.listdir(self.place + "/spools/" + name):
                continue  # killed just before it removed the directory itself
            subprocess.run([sluice, "trace", "recover", self.place + "/spools/" + name], check=True,
                           env=self.environment, stdout=self.err, stderr=self.err)
        count = int(read(self.place + "/here/count"))
        report = subprocess.run([sluice, "report", "--json", self.place + "/trace"], env=self.environment,
                                capture_output=True, check=True).stdout
        report = json.loads(report)
        calls = sum(f["calls"] for f in report["functions"] if f["function"].startswith("pwrite"))
        if calls != count + count // 100 or report["losses"]["activities"]:
            raise Exception("%d writes, %d recorded, %d lost" % (count + count // 100, calls,
                                                                 report["losses"]["activities"]))
        return struck

    def no_orphan(self):
        wait_until("processes are left: %s" % [(pid, stat(pid)) for pid in marked(self.mark)],
                   lambda: not marked(self.mark))

    def tune(self):
        """The trials start processes that ignore signals, have their own sessions and have lost their parents."""
        script = "trap '' TERM HUP; echo x >data; (setsid sleep 300 &); (sleep 300 & sleep 300) & sleep 300"
        process = self.start(sluice, "tune", "--", "sh", "-c", script)
        struck = self.strike(process, 1.5)
        if not struck:
            process.kill()
        process.wait()
        self.no_orphan()
        return struck

    def probe(self):
        with open(self.place + "/site.ini", "w") as f:
            f.write("[jobs]\nreader = pbs\ncommand = sleep 300 | cat\n[targets]\na = .\n")
        process = self.start(sluice, "forecast", "probe", "--site", self.place + "/site.ini", "--every", "50ms",
                             "--reference-every", "100ms", "--sizes", "64K", "--jobs-every", "5m", "--system", "here")
        struck = self.strike(process, 1)
        if not struck:
            process.kill()
        process.wait()
        self.no_orphan()
        if os.listdir(self.place + "/here"):
            raise Exception("files are left: %s" % os.listdir(self.place + "/here"))
        return struck

    def accompany(self):
        """A prober with a command: the command runs on."""
        process = self.start(sluice, "forecast", "probe", "--while", "--every", "50ms", "--sizes", "64K", "--jobs-every",
                             "0", "--reference-every", "0", "--target", self.place, "--system", "here", "--", signals,
                             "stream", "600", "2")
        wait_until("the command does not start", lambda: read(self.place + "/here/count"))
        struck = self.strike(process, 0.5)
        process.wait()
        self.no_orphan()
        count = int(read(self.place + "/here/count"))
        if os.stat(self.place + "/here/file").st_size != min(count, 1000):
            raise Exception("the command did not end well")
        return struck

    def run(self):
        work = {"tuner": self.tune, "prober": self.probe, "companion": self.accompany}.get(self.victim, self.record)
        try:
            struck = work()
            self.err.close()
            shutil.rmtree(self.place)
            return struck
        except Exception as error:
            for pid in marked(self.mark):
                kill(pid)
            raise Exception("%s: %s: %s" % (self.place, error, read(self.place + "/err")[-2000:]))

lock, numbers = threading.Lock(), {}

def worker(victim):
    done = 0
    while True:
        with lock:
            numbers.setdefault(victim, 0)
            if numbers[victim] >= 0 and targets[victim] <= 0:
                return done
            numbers[victim] += 1
            number = numbers[victim]
        if Trial(victim, number).run():
            done += 1
            with lock:
                targets[victim] -= 1

targets = {victim: kills for victim in victims}
for victim in victims:
    began = time.time()
    with concurrent.futures.ThreadPoolExecutor(8 if kills > 20 else 2) as pool:
        done = sum(f.result() for f in [pool.submit(worker, victim) for _ in range(8 if kills > 20 else 2)])
    print("%s: killed %d times in %d runs, %.0f s" % (victim, done, numbers[victim], time.time() - began), flush=True)
END

victims=${VICTIMS:-recorder watcher launcher tuner prober companion}
# shellcheck disable=SC2086
python3 kill.py "$sluice" "$prog/signals" "$work" "$limit" "$kills" $victims || fail "a kill had an effect"
