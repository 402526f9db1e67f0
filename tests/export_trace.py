# SPDX-License-Identifier: BSD-3-Clause
# Writes a trace in the text form for tests of exports: RANKS ranks and a process outside of MPI, ROUNDS rounds of
# nested, asynchronous and failing calls, absent fields, unusual numbers, and names that are not UTF-8.
# export_trace.py RANKS ROUNDS FILE
import random
import sys

ranks, rounds, path = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
random.seed(1)
FIELDS = "RESULT LINK LINK2 HANDLE SIZE OFFSET FLAGS MODE SPAN VARIABLE COLLECTIVE PATH PATH2 NAME HINTS".split()
CALLS = [("none", "POSIX", "open"), ("open", "POSIX", "open"), ("H5Dwrite", "HDF5", "write"),
         ("MPI_File_write_at_all", "MPI", "write"), ("pwrite64", "POSIX", "write"), ("read", "POSIX", "read"),
         ("MPI_File_iwrite", "MPI", "start"), ("MPI_Wait", "MPI", "wait"), ("copy_file_range", "POSIX", "copy"),
         ("MPI_Init", "MPI", "process"), ("rename", "POSIX", "metadata")]
FILES = [r"/data/gr\xfcn\x1b[31m.h5", "/data/grün,\"x\".dat", "/data/a;b c", "x", r"cb_nodes=2;romio\xff", "/data/" + 300 * "d"]
COLUMNS = ("start_ns duration_ns process id parent layer call result error file file2 present link link2 handle size offset "
           "flags mode span variable collective name hints").split()
rows = []
sequence = [0] * (ranks + 1)


def add(process, call, start, duration, parent=0, file=0, error=0, result=0, thread=0, **values):
    sequence[process] += 1
    number = [c[0] for c in CALLS].index(call)
    row = dict.fromkeys(COLUMNS, "-")
    present = 1
    for name, value in values.items():
        if name in ("file2", "name", "hints"):
            present |= 1 << FIELDS.index({"file2": "PATH2"}.get(name, name.upper()))
        elif name.upper() in FIELDS:
            present |= 1 << FIELDS.index(name.upper())
        row[name] = value
    for name in ("file2", "name", "hints"):
        row[name] = values.get(name, 0)
    id = thread << 40 | sequence[process]
    row.update(start_ns=start, duration_ns=duration, process=process, id=id, parent=parent, layer=CALLS[number][1],
               call=call, result=result, error=error, file=file, present=present)
    rows.append(row)
    return id


def link(id):
    return 1 << 62 | id


for p in range(ranks + 1):
    now = p
    add(p, "MPI_Init", now, 400)
    opened = add(p, "open", now + 500, 90, file=1, result=3, handle=3, flags=577, mode=0o644, hints=5)
    now += 1000
    for i in range(rounds):
        step = random.randrange(1500, 40000)
        outer = add(p, "H5Dwrite", now, 1000, file=1, result=4096, size=4096, name=4)
        middle = add(p, "MPI_File_write_at_all", now + 10, 900, parent=outer, file=1, result=4096, size=4096,
                     offset=4096 * i, span=8192, collective=(0xf00d << 48) + i, link=link(opened))
        for k in range(2):
            add(p, "pwrite64", now + 20 + 400 * k, 300, parent=middle, file=1, result=8192, size=8192, handle=3,
                offset=8192 * (2 * i + k), link=link(opened))
        if i % 3 == 0:
            started = add(p, "MPI_File_iwrite", now + 1010, 20, file=2, size=100000, variable=-1 << 63)
            add(p, "MPI_Wait", now + 1200, 80, result=100000, link=link(started), thread=0)
        if i % 5 == 0:
            add(p, "read", now + 1300, 7, thread=2, file=3, error=9, result=-1, size=(1 << 63) - 1, handle=-1)
        if i % 7 == 0:
            add(p, "copy_file_range", now + 1310, 20, file=3, file2=2, result=512, size=512, link=link(opened),
                link2=link(opened))
            add(p, "rename", now + 1400, 9, file=6, file2=3)
        now += step
rows.sort(key=lambda r: (r["start_ns"], r["process"], r["id"]))
end = max((r["start_ns"] + r["duration_ns"] for r in rows), default=0) + 1000

with open(path, "w", encoding="utf-8") as out:
    def fact(fact_name, /, **values):
        print("#" + fact_name, *("%s=%s" % item for item in values.items()), sep="\t", file=out)

    print("#sluice-text\t3", file=out)
    fact("run", uuid="%032x" % 0x5eed, command=r"./app 'a b' \xff\x1b[2J", directory="/tmp", host="node1", user="me",
         version="0", started_ns=1700000000123456789)
    fact("clock", source="monotonic", tick0=0, num=1, den=1, error_ns=7)
    for i, (name, layer, kind) in enumerate(CALLS):
        fact("call", number=i, name=name, layer=layer, **{"class": kind}, failure="minus_errno", fields="RESULT")
    for p in range(ranks + 1):
        fact("process", process=p, parent=-1, first_thread=0, pid=100 + p, ppid=1, rank=p if p < ranks else -1,
             attached_ns=-5, host="node1", program=r"/bin/a;p\xffp", command="app", directory="/", ranks=ranks)
    for i, name in enumerate(FILES):
        fact("file", id=i + 1, path=name)
    fact("host", host="node1", method="reference", offset_ns=0, error_ns=-1)
    fact("aggregate", process=0, file=1, class_group="sync", layer="STDIO", calls=3, errors=1, bytes=-5, duration_ns=7)
    fact("loss", process=0, records=2, threads=0)
    fact("statistic", number=0, host="node1", name="cpu/user", unit="%", reduction="mean", scale=100)
    fact("statistic", number=1, host="node1", name="io/vda/read", unit="bytes", reduction="sum", scale=1)
    for k in range(4):
        fact("sample", statistic=k % 2, time_ns=(k // 2 + 1) * end // 4, period_ns=end // 4, value=1000 + k)
    fact("note", time_ns=end // 2, process=-1, host="node1", source="reasoner", kind="anomaly", name=r"slow\x07",
         value="\\\\ 1.5")
    print(*COLUMNS, sep="\t", file=out)
    for row in rows:
        print(*(row[c] for c in COLUMNS), sep="\t", file=out)
    fact("end", duration_ns=end, exit_status=3, complete=1)
