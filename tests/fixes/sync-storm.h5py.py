# SPDX-License-Identifier: BSD-3-Clause
import h5py
import numpy

data = numpy.ones(16384)
with h5py.File("data/f", "w") as f:
    dataset = f.create_dataset("data", (120, 16384))
    for step in range(120):
        dataset[step] = data
        #if bad
        f.flush()
        #else
        #fix
        #endif
