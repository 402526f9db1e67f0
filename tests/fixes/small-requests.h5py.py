# SPDX-License-Identifier: BSD-3-Clause
import h5py
import numpy

first, last = 0, 600
block = numpy.ones(600)
with h5py.File("data/f", "w") as f:
    dataset = f.create_dataset("data", (600,))
    #if bad
    for i in range(first, last):
        dataset[i] = block[i]
    #else
    #fix
    #endif
