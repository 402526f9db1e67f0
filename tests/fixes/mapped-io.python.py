# SPDX-License-Identifier: BSD-3-Clause
# @prepare
import sys

import numpy

if len(sys.argv) > 1:
    numpy.save("data/f.npy", numpy.zeros(1 << 20))
    sys.exit()
#if bad
data = numpy.load("data/f.npy", mmap_mode="r")
#else
#fix
#endif
assert data.sum() == 0
