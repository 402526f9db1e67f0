# SPDX-License-Identifier: BSD-3-Clause
# @prepare
import sys

import h5py

if len(sys.argv) > 1:
    with h5py.File("data/f", "w") as f:
        f.create_dataset("data", (32, 64 * 256), chunks=(32, 256), dtype="f8")
    sys.exit()
#if bad
f = h5py.File("data/f", "r+")
#else
#fix
#endif
dataset = f["data"]
for i in range(32):
    dataset[i, :] = i
f.close()
