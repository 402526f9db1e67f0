# SPDX-License-Identifier: BSD-3-Clause
import h5py
import numpy

with h5py.File("data/f", "w") as f:
    #if bad
    dcpl = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    dcpl.set_fill_time(h5py.h5d.FILL_TIME_ALLOC)
    #else
    #fix
    #endif
    dcpl.set_alloc_time(h5py.h5d.ALLOC_TIME_EARLY)
    space = h5py.h5s.create_simple((32, 64 * 256))
    dataset = h5py.Dataset(h5py.h5d.create(f.id, b"data", h5py.h5t.NATIVE_DOUBLE, space, dcpl))
    dataset[...] = numpy.ones((32, 64 * 256))
