# SPDX-License-Identifier: BSD-3-Clause
import zipfile

data = bytes(1024)
#if bad
for i in range(150):
    with open("data/record%d" % i, "wb") as f:
        f.write(data)
#else
archive = zipfile.ZipFile("data/all.zip", "w")
for i in range(150):
    name = "record%d" % i
    #fix
archive.close()
#endif
