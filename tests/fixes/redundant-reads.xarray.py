# SPDX-License-Identifier: BSD-3-Clause
# @prepare
# NetCDF 4.9.3 reads small files twice.
# @leaves read-amplification
import sys

import numpy
import xarray

if len(sys.argv) > 1:
    xarray.Dataset({"data": (("x",), numpy.ones(1 << 18))}).to_netcdf("data/f", engine="netcdf4")
    sys.exit()
#if bad
data = xarray.open_dataset("data/f", cache=False)
#else
#fix
#endif
for i in range(8):
    assert data["data"].values.sum() == 1 << 18
