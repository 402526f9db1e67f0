# SPDX-License-Identifier: BSD-3-Clause
# Writes the part of a node in a parallel job as a trace in the text form: ranks FIRST to FIRST + RANKS - 1 of WORLD.
# parts_trace.py FILE FIRST RANKS WORLD [JOB]
import sys
name, first, ranks, world = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])
RESULT, SIZE, OFFSET = 1, 16, 32  # bits of the fields, contract/call.h
calls = [("none", "POSIX", "control"), ("pwrite", "POSIX", "write"), ("MPI_File_write_at", "MPI", "write"),
         ("pread", "POSIX", "read")]
rows = []
for process in range(ranks):
    rank = first + process
    for i in range(50):
        start, at = 1000 * i + rank, (i * world + rank) * 1000
        rows.append((start, 500 + rank, process, 2 * i + 1, 0, "MPI", "MPI_File_write_at", 1000, at, 1))
        rows.append((start + 10, 100, process, 2 * i + 2, 2 * i + 1, "POSIX", "pwrite", 4096, at // 4096 * 4096, 1))
    rows.append((900000 + rank, 50, process, 500, 0, "POSIX", "pread", 10, 0, 2))
    rows.append((900100 + rank, 20, process, 501, 0, "POSIX", "pread", 10, 0, 3))
out = open(name, "w")
print("#sluice-text\t1", file=out)
print("#run", "uuid=%032x" % (int(sys.argv[5]) if len(sys.argv) > 5 else 1), "command=app", "host=n%d" % first,
      "started_ns=1000", sep="\t", file=out)
print("#clock", "source=monotonic", "tick0=0", "num=1", "den=1", "error_ns=0", sep="\t", file=out)
for i, (call, layer, kind) in enumerate(calls):
    print("#call", "number=%d" % i, "name=" + call, "layer=" + layer, "class=" + kind, "failure=never", "fields=",
          sep="\t", file=out)
for p in range(ranks):
    print("#process", "process=%d" % p, "parent=-1", "first_thread=0", "pid=%d" % (100 + first + p), "ppid=1",
          "rank=%d" % (first + p), "ranks=%d" % world, "host=n%d" % first, "program=app", sep="\t", file=out)
for i, path in enumerate(["/data/shared", "/data/in.%d" % first, "/usr/lib/libm.so.6"]):
    print("#file", "id=%d" % (i + 1), "path=" + path, sep="\t", file=out)
print("start_ns duration_ns process id parent layer call result error file file2 present link link2 handle size "
      "offset flags mode".replace(" ", "\t"), file=out)
for start, length, process, number, parent, layer, call, n, at, file in sorted(rows):
    print(start, length, process, number, parent, layer, call, n, 0, file, 0, RESULT | SIZE | OFFSET, "-", "-", "-", n,
          at, "-", "-", sep="\t", file=out)
print("#end", "duration_ns=1000000", "exit_status=0", "complete=1", sep="\t", file=out)
