#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# usage: stack.py LIBRARY LIMIT [FUNCTION...]
# Prints the stack that each FUNCTION of the library needs (default: all exported ones), if it is LIMIT bytes or more.
# Frame sizes come from the unwind tables, calls from the disassembly. Functions of other libraries count as 0: a wrapper
# calls the function that the program would have called anyway.
import bisect, re, subprocess, sys

# Calls through pointers: the caller (a prefix of its name), and the functions that it may call.
POINTERS = {
    "attach": ["guest_joined", "inline_forget"],
    "guest_joined": ["read_ahead_start", "history_start", "model_hints_start"],
    "thread_leave": ["inline_flush"],
    "process_leave": ["inline_flush"],
    "prctl": ["guest_sealed"],
    "syscall_sealing": ["guest_sealed"],
    "hook_run": ["read_ahead_after", "history_answer", "model_hints_answer"],
}

# Functions of libraries that need far more stack themselves.
LIBRARIES = r"H5|P?MPI_|nc_|ncmpi_"

def run(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True, errors="replace").stdout

def read_frames(library, start):
    """Sorted addresses, and the distance of the stack pointer from the caller's frame that is valid from there."""
    rows = {}
    for line in run("readelf", "-W", "--debug-dump=frames-interp", library).splitlines():
        m = re.search(r"FDE .*pc=([0-9a-f]+)\.\.", line)
        if m: # a function without changes of its frame has no rows
            rows[int(m[1], 16)] = start
        m = re.match(r"([0-9a-f]{16}) (\w+)([+-]\d+)\s", line)
        if m:
            rows[int(m[1], 16)] = int(m[3]) if m[2] in ("rsp", "sp") else None
    at = sorted(rows)
    return at, [rows[a] for a in at]

def read_code(library, start):
    """Functions: name -> list of (target, bytes in use), and name -> largest frame."""
    calls, sizes, starts, name = {}, {}, {}, None
    at, used = read_frames(library, start)
    text = run("objdump", "-d", "--no-show-raw-insn", library).splitlines()
    # Static functions of several files may have the same name: all but the first get a number.
    for line in text:
        m = re.match(r"([0-9a-f]+) <(.+)>:$", line)
        if m:
            name = m[2] if m[2] not in sizes else "%s#%d" % (m[2], len(starts))
            starts[int(m[1], 16)] = name
            calls[name], sizes[name] = [], 0
    for line in text:
        m = re.match(r"([0-9a-f]+) <(.+)>:$", line)
        if m:
            name = starts[int(m[1], 16)]
            continue
        m = re.match(r"\s*([0-9a-f]+):\s+(\S+)\s*(.*)", line)
        if not m or name is None:
            continue
        i = bisect.bisect_right(at, int(m[1], 16)) - 1
        now = used[i] if i >= 0 else 0
        if now is None:
            now = sizes[name]
        sizes[name] = max(sizes[name], now)
        target = re.search(r"\b([0-9a-f]+) <[^>+@]+(?:\+0x([0-9a-f]+))?>", m[3])
        if not target or "@plt" in m[3] or "*" in m[3]:
            continue
        target = starts.get(int(target[1], 16) - int(target[2] or "0", 16))
        if target is None:
            continue
        if m[2] in ("call", "bl"):
            calls[name].append((target, now))
        elif m[2].startswith("j") or m[2] in ("b",) or m[2].startswith("b."):
            if target != name:
                calls[name].append((target, now - start))
    return calls, sizes

def base(name):
    return re.sub(r"\.(cold|isra|constprop|part)(\.\d+)*|#\d+", "", name)

def main():
    library, limit, wanted = sys.argv[1], int(sys.argv[2]), sys.argv[3:]
    # On x86-64, the return address is on the stack.
    calls, sizes = read_code(library, 8 if "X86-64" in run("readelf", "-h", library) else 0)
    if max(sizes.values(), default=0) < 200:
        sys.exit("stack: the frames of %s cannot be read" % library)
    for name in list(calls):
        for target in POINTERS.get(base(name), []):
            calls[name] += [(other, sizes[name]) for other in calls if base(other) == target]
    missing = [t for f, targets in POINTERS.items() for t in [f] + targets if t not in map(base, calls)]
    if missing and "attach" in calls:
        sys.exit("stack: update the table of pointers, %s does not exist" % ", ".join(missing))
    depth = {}

    def deepest(name, above=()):
        if name in depth or name not in calls:
            return depth.get(name, (0, ()))
        best = (sizes[name], ())
        for target, now in calls[name]:
            if target in above or target == name:
                continue
            below = deepest(target, above + (name,))
            # The jump into a cold part keeps the frame, which the part's own table contains.
            total = below[0] if base(target) == base(name) else now + below[0]
            if total > best[0]:
                best = (total, (target,) + below[1])
        if len(above) < 1 or not any(t in above for t, _ in calls[name]):
            depth[name] = best
        return best

    if not wanted:
        wanted = [line.split()[-1].split("@")[0] for line in run("nm", "-D", "--defined-only", library).splitlines()
                  if line.split()[-2] in "TWi" and not re.match(LIBRARIES, line.split()[-1])]
    bad = sorted(((deepest(name), name) for name in wanted), reverse=True)
    for (total, path), name in bad:
        if total >= limit:
            print("stack: %s needs %d bytes: %s" % (name, total, " > ".join(
                "%s (%d)" % (f, sizes.get(f, 0)) for f in (name,) + path)))
    print("stack: the largest need is %d bytes" % (bad[0][0][0] if bad else 0), file=sys.stderr)

sys.setrecursionlimit(10000)
main()
