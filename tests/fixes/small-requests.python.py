# SPDX-License-Identifier: BSD-3-Clause
import os

#if bad
f = os.open("data/f", os.O_WRONLY | os.O_CREAT)
for i in range(600):
    os.write(f, bytes(1000))
#else
#fix
for i in range(600):
    f.write(bytes(1000))
f.close()
#endif
