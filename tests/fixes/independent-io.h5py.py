# SPDX-License-Identifier: BSD-3-Clause
# @mpi python
from mpi4py import MPI

import h5py
import numpy

world = MPI.COMM_WORLD
rank, ranks = world.Get_rank(), world.Get_size()
with h5py.File("data/f", "w", driver="mpio", comm=world) as f:
    dataset = f.create_dataset("data", (60 * ranks, 16384), dtype="f8")
    data = numpy.ones(16384)
    for i in range(60):
        selection = i * ranks + rank
        #if bad
        dataset[selection] = data
        #else
        #fix
        #endif
