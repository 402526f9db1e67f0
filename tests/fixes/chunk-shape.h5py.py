# SPDX-License-Identifier: BSD-3-Clause
# @prepare
import sys

import h5py
import numpy

name, shape, dtype, shape_of_one_access = "data", (32, 64 * 256), "f8", (32, 64)
if len(sys.argv) > 1:
    with h5py.File("data/f", "w") as f:
        #if bad
        dataset = f.create_dataset(name, shape, dtype, chunks=(1, 64 * 256))
        #else
        #fix
        #endif
        dataset[...] = numpy.ones(shape)
else:
    with h5py.File("data/f", "r") as f:
        assert f["data"][0:32, 0:64].sum() == 32 * 64
