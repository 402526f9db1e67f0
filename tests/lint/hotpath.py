#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# usage: hotpath.py OBJDUMP LIBRARY [FUNCTION]...
# Disassembles wrappers of the preloaded library, for x86-64 or aarch64. Prints one line per instruction of a wrapper that
# locks memory or enters the kernel: "hotpath: FUNCTION: INSTRUCTION". With functions given, prints for each the number of
# instructions of its fast path and of the whole wrapper, too; without, it examines all functions of libc that are
# wrapped, which call the real function through a pointer.
#
# The fast path reads the clock, calls the real function, reads the clock and returns, and calls nothing else: work that
# takes longer is always a call. Where there are several such paths, the shortest counts.
import heapq, re, subprocess, sys

# Reading and writing memory at once without other cores in between, and barriers.
LOCKED = {
    "x86-64": r"(lock|mfence)\b|(xacquire|xrelease)\b|xchg\w*\s.*\(",
    "aarch64": r"(ld|st)(a|l)?x[rp][bh]?\b|(ld|st)l?a?x[rp]|(ld|st)(add|clr|eor|set|[su]max|[su]min)(a|al|l)?[bh]?\b|"
               r"swp|cas|d[ms]b\b|bl\s.*<__aarch64_(cas|swp|ld)",
}
KERNEL = {"x86-64": r"(syscall|sysenter|int)\b", "aarch64": r"svc\b"}
CLOCK = {"x86-64": r"rdtsc\b", "aarch64": r"mrs\s.*cntvct_el0"}
INDIRECT = {"x86-64": r"(notrack )?callq?\s+\*", "aarch64": r"blr\b"}
# gcc's atomic operations that choose an instruction at run time are no calls of other work.
DIRECT = {"x86-64": r"callq?\b", "aarch64": r"bl\s(?!.*<__aarch64_)"}
RETURN = {"x86-64": r"(repz? )?retq?\b", "aarch64": r"ret\b"}
JUMP = {"x86-64": r"(notrack )?jmpq?\b", "aarch64": r"br?\s"}
# Of two threads that close the same handle, only one may take its link: one exchange, next to a system call.
EXCHANGING = r"(__|_IO_)?(f|p)?close(dir)?$|(__)?endmntent$"
EXCHANGE = {"x86-64": r"xchg\w*\s.*\(", "aarch64": r"swp|bl\s.*<__aarch64_swp"}
BRANCH = {"x86-64": r"j[a-z]+\b", "aarch64": r"b\.\w+|cbn?z|tbn?z"}


def disassemble(objdump, library):
    """Returns the architecture, and name -> list of (address, instruction)."""
    text = subprocess.run([objdump, "-d", "--no-show-raw-insn", library], check=True, capture_output=True,
                          text=True, errors="replace").stdout
    machine = "x86-64" if "elf64-x86-64" in text else "aarch64"
    functions, code = {}, None
    for line in text.splitlines():
        m = re.match(r"[0-9a-f]+ <(.+)>:$", line)
        if m:
            code = functions.setdefault(m[1], [])
            continue
        m = re.match(r"\s*([0-9a-f]+):\s+(\S.*?)\s*(//.*)?$", line)
        if m and code is not None:
            code.append((int(m[1], 16), m[2]))
    return machine, functions


def next_steps(machine, code, index, at):
    """The instructions that may follow the one at position `at`; None: the function returns."""
    text = code[at][1]
    if re.match(RETURN[machine], text):
        return None
    target = re.search(r"\b([0-9a-f]+) <", text)
    target = index.get(int(target[1], 16)) if target else None
    after = [at + 1] if at + 1 < len(code) else []
    if re.match(JUMP[machine], text):
        return [target] if target is not None else []
    if re.match(BRANCH[machine], text):
        return after + ([target] if target is not None else [])
    return after


def fast_path(machine, code):
    """The number of instructions of the fast path; None: there is none."""
    index = {address: at for at, (address, _) in enumerate(code)}
    # Steps: 0 before the clock is read, 1 before the real call, 2 before the clock is read again, 3 until the return.
    needs = [CLOCK[machine], INDIRECT[machine], CLOCK[machine]]
    seen, queue = set(), [(1, 0, 0)]
    while queue:
        length, at, step = heapq.heappop(queue)
        if (at, step) in seen:
            continue
        seen.add((at, step))
        text = code[at][1]
        if step < 3 and re.match(needs[step], text):
            step += 1
        elif re.match(INDIRECT[machine], text) or re.match(DIRECT[machine], text) or re.match(CLOCK[machine], text):
            continue
        after = next_steps(machine, code, index, at)
        if after is None and step == 3:
            return length
        for other in after or []:
            heapq.heappush(queue, (length + 1, other, step))
    return None


def breaches(machine, name, code):
    found = [text for _, text in code if re.match(LOCKED[machine], text) or re.match(KERNEL[machine], text)]
    exchanges = [text for text in found if re.match(EXCHANGE[machine], text)]
    if re.match(EXCHANGING, name) and len(exchanges) == 1:
        found.remove(exchanges[0])
    return found


def main():
    machine, functions = disassemble(sys.argv[1], sys.argv[2])
    wanted = sys.argv[3:]
    if not wanted:
        wanted = sorted(name for name, code in functions.items()
                        if "." not in name and not re.match(r"P?MPI|H5|nc_|ncmpi_", name) and fast_path(machine, code))
        print("hotpath: %s: %d wrappers examined" % (machine, len(wanted)), file=sys.stderr)
        if not wanted:
            sys.exit("hotpath: no wrapper was found in %s" % sys.argv[2])
    for name in wanted:
        parts = [part for part in functions if part == name or part.startswith(name + ".cold")]
        if not parts:
            sys.exit("hotpath: %s has no function %s" % (sys.argv[2], name))
        if sys.argv[3:]:
            fast = fast_path(machine, functions[name])
            if not fast:
                sys.exit("hotpath: %s has no path without calls of other functions" % name)
            print("%s %s fast=%d all=%d" % (machine, name, fast, sum(len(functions[part]) for part in parts)))
        for part in parts:
            for text in breaches(machine, name, functions[part]):
                print("hotpath: %s: %s" % (part, re.sub(r"\s+", " ", text)))


main()
