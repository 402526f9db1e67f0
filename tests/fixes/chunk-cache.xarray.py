# SPDX-License-Identifier: BSD-3-Clause
# @prepare
# NetCDF 4.9.3 reads small files twice.
# @leaves chunk-shape read-amplification
import sys

import netCDF4
import numpy
import xarray

if len(sys.argv) > 1:
    data = xarray.Dataset({"data": (("y", "x"), numpy.ones((32, 64 * 256)))})
    data.to_netcdf("data/f", engine="netcdf4", encoding={"data": {"chunksizes": (32, 256)}})
    sys.exit()
#if bad
data = xarray.open_dataset("data/f", engine="h5netcdf")
#else
#fix
#endif
for i in range(32):
    assert data["data"][i].values.sum() == 64 * 256
