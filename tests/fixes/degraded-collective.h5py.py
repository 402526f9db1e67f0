# SPDX-License-Identifier: BSD-3-Clause
# @mpi python
# @if import h5py, sys; sys.exit(h5py.version.hdf5_version_tuple >= (1, 14))
from mpi4py import MPI

import h5py
import numpy

world = MPI.COMM_WORLD
rank, ranks = world.Get_rank(), world.Get_size()
with h5py.File("data/f", "w", driver="mpio", comm=world) as f:
    dataset = f.create_dataset("data", (8 * ranks, 16384), dtype="f8")
    data = numpy.ones(16384, dtype="i8")
    for i in range(8):
        selection = i * ranks + rank
        #if bad
        with dataset.collective:
            dataset[selection] = data
        #else
        #fix
        #endif
