#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""HDF5 from Python: alone without arguments, with all ranks on one file as `h5py_io.py mpio`. h5py loads its own
HDF5 with RTLD_LOCAL."""
import os
import sys

import h5py
import numpy

N = 512
parallel = sys.argv[1:] == ["mpio"]
rank, ranks, options = 0, 1, {}
if parallel:
    from mpi4py import MPI

    world = MPI.COMM_WORLD
    rank, ranks = world.Get_rank(), world.Get_size()
    options = {"driver": "mpio", "comm": world}
    if not h5py.get_config().mpi:
        sys.exit("h5py_io.py: this h5py knows no MPI")
path = "h5py-mpio.h5" if parallel else "h5py.h5"


def must(good, what):
    if good:
        return
    print("h5py_io.py: rank %d: %s" % (rank, what), file=sys.stderr, flush=True)
    if parallel:
        world.Abort(99)
    sys.exit(99)


mine = numpy.arange(N, dtype="i4") * 3 + rank * 1000
with h5py.File(path, "w", **options) as f:
    rows = f.create_dataset("rows", (ranks, N), dtype="i4")
    chunks = f.create_group("group").create_dataset("chunks", (ranks, N), dtype="i4", chunks=(1, N // 4))
    rows.attrs["unit"] = "km"
    rows[rank] = mine
    if parallel:
        with chunks.collective:
            chunks[rank] = mine + 1
    else:
        chunks[rank] = mine + 1
    f.flush()
with h5py.File(path, "r", **options) as f:
    must(f["rows"].attrs["unit"] == "km", "attribute")
    must((f["rows"][rank] == mine).all(), "rows")
    must((f["group/chunks"][rank] == mine + 1).all(), "chunks")
if parallel:
    world.Barrier()
if rank == 0:
    os.unlink(path)
