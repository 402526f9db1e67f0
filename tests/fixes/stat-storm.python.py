# SPDX-License-Identifier: BSD-3-Clause
import os

for i in range(20):
    open("data/f%d" % i, "w").close()
#if bad
for i in range(600):
    os.stat("data/f%d" % (i % 20))
#else
#fix
assert len(entries) == 20
#endif
