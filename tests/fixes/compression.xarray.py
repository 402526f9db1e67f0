# SPDX-License-Identifier: BSD-3-Clause
# @set SLUICE_FINDINGS_TIME_PERCENT=25
import zlib

import numpy
import xarray

# See compression.h5py.py.
numbers = numpy.random.default_rng(1).integers(0, 65536, (24, 64 * 256)).astype("f8")
zlib.compress(numbers.tobytes(), 9)
path, name = "data/f", "data"
data = xarray.Dataset({name: (("y", "x"), numbers)})
#if bad
data.to_netcdf(path, engine="h5netcdf", encoding={name: {"zlib": True, "complevel": 9}})
#else
#fix
#endif
