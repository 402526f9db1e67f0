# SPDX-License-Identifier: BSD-3-Clause
# @prepare
import sys

import h5py
import numpy

data = numpy.ones(16384)
if len(sys.argv) > 1:
    with h5py.File("data/f", "w") as f:
        f.create_dataset("data", (60, 16384))
    sys.exit()
#if bad
for i in range(60):
    with h5py.File("data/f", "r+") as f:
        f["data"][i] = data
#else
#fix
    for i in range(60):
        f["data"][i] = data
#endif
