#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""MPI-IO from Python. mpi4py is a module loaded at run time, bound to one MPI, and brings its library along."""
import sys

from mpi4py import MPI

PATH = "mpi4py.dat"
N = 1024
world = MPI.COMM_WORLD
rank, ranks = world.Get_rank(), world.Get_size()


def must(good, what):
    if not good:
        print("mpi4py_io.py: rank %d: %s" % (rank, what), file=sys.stderr, flush=True)
        world.Abort(99)


def data(turn):
    return bytearray((turn * 31 + rank * 7 + i) % 251 for i in range(N))


def read_back(f, turn, what):
    found = bytearray(N)
    f.Read_at(rank * N, found)
    must(found == data(turn), what)


f = MPI.File.Open(world, PATH, MPI.MODE_CREATE | MPI.MODE_RDWR)
f.Write_at(rank * N, data(0))
read_back(f, 0, "Write_at")
f.Write_at_all(rank * N, data(1))
# With OMPIO the call may return before the aggregator has written the data.
world.Barrier()
read_back(f, 1, "Write_at_all")
flying = data(2)
f.Iwrite_at(rank * N, flying).Wait()
read_back(f, 2, "Iwrite_at")
f.Set_view(rank * N)
f.Write(data(3))
f.Set_view(0)
read_back(f, 3, "Write")
f.Sync()
world.Barrier()
must(f.Get_size() == ranks * N, "Get_size")
f.Close()
world.Barrier()
if rank == 0:
    MPI.File.Delete(PATH)
