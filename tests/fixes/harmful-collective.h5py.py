# SPDX-License-Identifier: BSD-3-Clause
# @mpi python
# @leaves independent-io
from mpi4py import MPI

import h5py
import numpy

world = MPI.COMM_WORLD
rank, ranks = world.Get_rank(), world.Get_size()
with h5py.File("data/f", "w", driver="mpio", comm=world) as f:
    dataset = f.create_dataset("data", (64 * ranks, 64), dtype="f8")
    data = numpy.ones(64)
    for i in range(64):
        selection = i * ranks + rank
        #if bad
        with dataset.collective:
            dataset[selection] = data
        #else
        #fix
        #endif
