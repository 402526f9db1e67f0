# SPDX-License-Identifier: BSD-3-Clause
# @set SLUICE_FINDINGS_TIME_PERCENT=25
import zlib

import h5py
import numpy

# Data that does not compress well takes the longest. The program computes about as long as the bad filter takes.
data = numpy.random.default_rng(1).integers(0, 65536, (16, 64 * 256)).astype("f8")
zlib.compress(data.tobytes(), 9)
with h5py.File("data/f", "w") as f:
    name = "data"
    #if bad
    f.create_dataset(name, data=data, compression="gzip", compression_opts=9)
    #else
    #fix
    #endif
