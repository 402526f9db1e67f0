#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""usage: page_trace.py [RANKS [STEPS]]

Prints a trace in the text format: a simulation that reads its input and writes a checkpoint in every step, by H5Dwrite,
MPI_File_write_at_all and pwrite. Ranks write small strided pieces of a shared file, rank 0 also writes a log with many
small writes, and one rank is slow. The node's statistics and some notes complete it.
"""
import random
import sys

RANKS = int(sys.argv[1]) if len(sys.argv) > 1 else 16
STEPS = int(sys.argv[2]) if len(sys.argv) > 2 else 12
RESULT, LINK, SIZE, OFFSET = 1, 2, 16, 32  # bits of the fields, contract/call.h
MS = 1000000
STEP_NS = 400 * MS
PIECE = 48 << 10
PER_HOST = 8
random.seed(1)

CALLS = [("none", "POSIX", "control"), ("open", "POSIX", "open"), ("pread", "POSIX", "read"), ("pwrite", "POSIX", "write"),
         ("write", "POSIX", "write"), ("close", "POSIX", "close"), ("fsync", "POSIX", "sync"), ("stat", "POSIX", "stat"),
         ("MPI_Init", "MPI", "process"), ("MPI_File_open", "MPI", "open"), ("MPI_File_write_at_all", "MPI", "write"),
         ("MPI_File_read_at", "MPI", "read"), ("MPI_File_close", "MPI", "close"), ("H5Fcreate", "HDF5", "open"),
         ("H5Dwrite", "HDF5", "write"), ("H5Dread", "HDF5", "read"), ("H5Fclose", "HDF5", "close"),
         ("fopen", "STDIO", "open"), ("fwrite", "STDIO", "write"), ("fclose", "STDIO", "close")]
FILES = ["/scratch/climate/run42/input/ocean_2020.nc", "/scratch/climate/run42/run.log"] + \
    ["/scratch/climate/run42/output/checkpoint.%04d.h5" % step for step in range(STEPS)]
rows, numbers = [], {}


def add(rank, start, length, parent, layer, call, result=0, file=0, size="-", offset="-"):
    """Adds a call of a rank and returns its id."""
    numbers[rank] = numbers.get(rank, 0) + 1
    present = RESULT | (size != "-") * SIZE | (offset != "-") * OFFSET
    rows.append((int(start), int(length), rank + 1, numbers[rank], parent, layer, call, result, 0, file, 0, present, "-", "-",
                 "-", size, offset, "-", "-"))
    return numbers[rank]


def read_input(rank):
    start = 60 * MS + rank * MS
    for i in range(24):
        at, length = (i * RANKS + rank) * (256 << 10), random.uniform(3, 6) * MS
        outer = add(rank, start, length, 0, "HDF5", "H5Dread", 256 << 10, 1)
        inner = add(rank, start + 0.05 * length, 0.9 * length, outer, "MPI", "MPI_File_read_at", 256 << 10, 1, 256 << 10, at)
        add(rank, start + 0.1 * length, 0.8 * length, inner, "POSIX", "pread", 256 << 10, 1, 256 << 10, at)
        start += 1.15 * length


def write_checkpoint(rank, step):
    start, file = (300 * MS + step * STEP_NS), 3 + step
    slow = 2.2 if rank == RANKS - 3 else 1
    add(rank, start, 4 * MS, 0, "HDF5", "H5Fcreate", 0, file)
    start += 6 * MS
    for i in range(10):
        at, length = (i * RANKS + rank) * PIECE, slow * random.uniform(4, 8) * MS
        outer = add(rank, start, length, 0, "HDF5", "H5Dwrite", PIECE, file)
        inner = add(rank, start + 0.05 * length, 0.9 * length, outer, "MPI", "MPI_File_write_at_all", PIECE, file, PIECE, at)
        add(rank, start + 0.1 * length, 0.2 * length, inner, "POSIX", "pread", 4 * PIECE, file, 4 * PIECE, at)
        add(rank, start + 0.35 * length, 0.5 * length, inner, "POSIX", "pwrite", 4 * PIECE, file, 4 * PIECE, at)
        start += 1.1 * length
    add(rank, start, 2 * MS, 0, "HDF5", "H5Fclose", 0, file)


def write_log():
    for i in range(30 * STEPS):
        outer = add(0, 310 * MS + i * 13 * MS, 0.05 * MS, 0, "STDIO", "fwrite", 80, 2)
        add(0, 310.01 * MS + i * 13 * MS, 0.03 * MS, outer, "POSIX", "write", 80, 2)


def put(fact, /, **facts):
    print("#" + fact, *("%s=%s" % (name, value) for name, value in facts.items()), sep="\t")


def host_of(process):
    return "node%02d" % (1 + max(0, process - 1) // PER_HOST)


def print_head():
    print("#sluice-text\t1")
    put("run", uuid="%032x" % 0x20261116, command="mpiexec -n %d ./climate --steps %d --input ocean_2020.nc" % (RANKS, STEPS),
        directory="/scratch/climate/run42", host="node01", user="ada", version="1", started_ns=1794816000 * 10**9)
    put("clock", source="monotonic", tick0=0, num=1, den=1, error_ns=0)
    for i, (name, layer, kind) in enumerate(CALLS):
        put("call", number=i, name=name, layer=layer, **{"class": kind}, failure="never", fields="")
    for p in range(RANKS + 1):
        put("process", process=p, parent=-1, first_thread=0, pid=100 + p, ppid=1, rank=p - 1, ranks=RANKS if p else 0,
            host=host_of(p), program="/home/ada/climate")
    for i, file in enumerate(FILES):
        put("file", id=i + 1, path=file)


def print_statistics(end):
    names = [("cpu/user", "%", "mean"), ("utilization/io", "%", "mean"), ("io/nvme0n1/written", "bytes", "sum"),
             ("memory/used", "bytes", "mean")]
    for h in range((RANKS + PER_HOST - 1) // PER_HOST):
        for i, (name, unit, reduction) in enumerate(names):
            put("statistic", number=len(names) * h + i, host=host_of(1 + PER_HOST * h), name=name, unit=unit,
                reduction=reduction, scale=1)
    for n in range(len(names) * ((RANKS + PER_HOST - 1) // PER_HOST)):
        for t in range(100 * MS, end, 100 * MS):
            value = {"%": random.randrange(20, 98), "bytes": random.randrange(1, 9) << 24}[names[n % len(names)][1]]
            put("sample", statistic=n, time_ns=t, period_ns=100 * MS, value=value)


def print_notes():
    put("note", time_ns=1500 * MS, process=RANKS - 2, host="node02", source="reasoner", kind="anomaly",
        name="process %d" % (RANKS - 2), value="9 of 10 writes were slower than usual")
    put("note", time_ns=-1, process=-1, host="node01", source="read_ahead", kind="applied", name="advice given", value=12)
    for p in range(1, RANKS + 1):
        put("note", time_ns=-1, process=p, host=host_of(p), source="overhead", kind="cost", name="guest_ns", value=100000 + 500 * p)


def main():
    for rank in range(RANKS):
        add(rank, 10 * MS, 40 * MS, 0, "MPI", "MPI_Init")
        read_input(rank)
        for step in range(STEPS):
            write_checkpoint(rank, step)
    write_log()
    end = (500 * MS + STEPS * STEP_NS)
    print_head()
    print_statistics(end)
    print_notes()
    print("start_ns duration_ns process id parent layer call result error file file2 present link link2 handle size offset flags "
          "mode".replace(" ", "\t"))
    for row in sorted(rows, key=lambda row: (row[0], row[2], row[3])):
        print(*row, sep="\t")
    put("end", duration_ns=end, exit_status=0, complete=1)


main()
