# SPDX-License-Identifier: BSD-3-Clause
# @prepare
import sys

import numpy
import xarray

if len(sys.argv) > 1:
    path, name, shape_of_one_access = "data/f", "data", (32, 64)
    data = xarray.Dataset({"data": (("y", "x"), numpy.ones((32, 64 * 256)))})
    #if bad
    data.to_netcdf(path, encoding={name: {"chunksizes": (1, 64 * 256)}})
    #else
    #fix
    #endif
else:
    data = xarray.open_dataset("data/f", engine="h5netcdf")
    assert data["data"][0:32, 0:64].values.sum() == 32 * 64
