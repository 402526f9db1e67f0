# SPDX-License-Identifier: BSD-3-Clause
# @mpi python
from mpi4py import MPI

import h5py
import numpy

world = MPI.COMM_WORLD
rank, ranks = world.Get_rank(), world.Get_size()
path = "data/f"
part = numpy.full(1 << 18, rank)
#if bad
parts = world.gather(part)
if rank == 0:
    with h5py.File(path, "w") as f:
        f["data"] = numpy.concatenate(parts)
#else
#fix
dataset = f.create_dataset("data", (ranks << 18,), dtype="i8")
dataset[rank << 18 : (rank + 1) << 18] = part
f.close()
#endif
