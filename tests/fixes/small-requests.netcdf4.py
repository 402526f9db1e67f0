# SPDX-License-Identifier: BSD-3-Clause
import netCDF4
import numpy

first, last = 0, 600
block = numpy.ones(600)
with netCDF4.Dataset("data/f", "w") as f:
    f.createDimension("x", 600)
    variable = f.createVariable("t", "f8", ("x",))
    #if bad
    for i in range(first, last):
        variable[i] = block[i]
    #else
    #fix
    #endif
