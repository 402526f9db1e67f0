#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Python of a virtual environment, and of a prefix with libraries of its own, as Conda makes it, is recorded completely.
# Conda is not a package of Debian. Here, a prefix is made of a copy of the interpreter, which finds its modules by its
# own path, and a copy of HDF5, which an extension finds by its RUNPATH, as in Conda.
. "$(dirname "$0")/libtest.sh"

# written FILE: the bytes that the program wrote to the file; calls FUNCTION: how often it called the function
written() {
	python3 -c 'import json, sys
files = json.load(open("report.json"))["files"]
print(sum(f["bytes_written"] for f in files if f["file"].endswith("/" + sys.argv[1]) and "POSIX" in f["layers"]))' "$1"
}
calls() {
	python3 -c 'import json, sys
functions = json.load(open("report.json"))["functions"]
print(sum(f["calls"] for f in functions if f["function"] == sys.argv[1]))' "$1"
}
# record COMMAND...: records the command, which has to succeed without a warning and without losses
record() {
	check_rc 0 "$sluice" run -o trace.sluice -- "$@"
	check_eq "$(cat err)" "" "warnings about $1"
	"$sluice" report --top 100000 --json trace.sluice >report.json 2>/dev/null
	check_eq "$(json_get report.json '["losses"]["activities"]')" 0 "lost calls of $1"
	check_eq "$(json_get report.json '["losses"]["unrecorded_processes"]')" 0 "unrecorded processes of $1"
}

cat >work.py <<'END'
import os, subprocess, sys

print(sys.prefix)
with open("buffered.data", "wb") as file:
    for i in range(1000):
        file.write(b"0123456789")
fd = os.open("plain.data", os.O_WRONLY | os.O_CREAT, 0o644)
for i in range(50):
    os.write(fd, b"x" * 100)
os.close(fd)
# A child with the same interpreter.
subprocess.run([sys.executable, "-c", "open('child.data', 'wb', 0).write(b'child')"], check=True)
END

# A virtual environment, by its interpreter and by a script that names it.
check_rc 0 python3 -m venv --without-pip env
for interpreter in python python3; do
	rm -f ./*.data
	record "$work/env/bin/$interpreter" work.py
	check_eq "$(cat out)" "$work/env" "prefix of the environment"
	check_eq "$(written buffered.data)" 10000 "bytes of buffered writes"
	check_eq "$(written plain.data)" 5000 "bytes of plain writes"
	check_eq "$(written child.data)" 5 "bytes of the child"
done
{
	echo "#!$work/env/bin/python"
	cat work.py
} >env/bin/tool
chmod +x env/bin/tool
rm -f ./*.data
record env PATH="$work/env/bin:$PATH" VIRTUAL_ENV="$work/env" tool
check_eq "$(written plain.data)" 5000 "bytes of the script"

# A prefix of its own: bin/python, lib/pythonX.Y and lib/libhdf5*.so.
version=$(python3 -c 'import sys; print("python%d.%d" % sys.version_info[:2])')
system=$(python3 -c 'import os; print(os.path.dirname(os.__file__))')
prefix=$work/conda/envs/work
modules=$prefix/lib/$version
mkdir -p "$prefix/bin" "$modules"
cp "$(python3 -c 'import os, sys; print(os.path.realpath(sys.executable))')" "$prefix/bin/$version"
ln -s "$version" "$prefix/bin/python"
for entry in "$system"/*; do
	case $(basename "$entry") in
	site-packages | dist-packages | sitecustomize.py) ;;
	*) ln -s "$entry" "$modules/" ;;
	esac
done
# The Python of Debian has its packages in dist-packages, all others in site-packages.
packages=$("$prefix/bin/python" -c 'import site; print(*site.getsitepackages(), sep="\n")' | grep -m 1 "^$modules/")
mkdir "$packages"
rm -f ./*.data
record "$prefix/bin/python" work.py
check_eq "$(cat out)" "$prefix" "prefix of the interpreter"
check_eq "$(written buffered.data)" 10000 "bytes of buffered writes"
check_eq "$(written child.data)" 5 "bytes of the child"

# Debian has several builds of HDF5; the serial one is in a directory of its own.
module=hdf5-serial
pkg-config --exists $module 2>/dev/null || module=hdf5
pkg-config --exists $module 2>/dev/null || skip libhdf5-dev "HDF5 of a prefix"
include=$(pkg-config --cflags $module)
directory=$(pkg-config --libs-only-L $module | sed 's/^-L//; s/ .*//')
library=$(readlink -f "$directory/libhdf5.so")
name=$(readelf -d "$library" | sed -n 's/.*SONAME.*\[\(.*\)\]/\1/p')
cp "$library" "$prefix/lib/$name"
ln -s "$name" "$prefix/lib/libhdf5.so"
cat >extension.c <<'END'
#include <hdf5.h>

int write_values(const char *path)
{
	int values[1000] = { 0 };
	hsize_t size = 1000;
	hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
	hid_t space = H5Screate_simple(1, &size, NULL);
	hid_t set = H5Dcreate2(file, "values", H5T_NATIVE_INT, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
	int failed = H5Dwrite(set, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) < 0;

	H5Dclose(set);
	H5Sclose(space);
	return failed | (H5Fclose(file) < 0);
}
END
# shellcheck disable=SC2086
"$CC" $include -shared -fPIC -o "$packages/_values.so" extension.c -L"$prefix/lib" -lhdf5 \
	-Wl,--enable-new-dtags,-rpath,'$ORIGIN/../..'
cat >"$packages/values.py" <<'END'
import ctypes, os

library = ctypes.CDLL(os.path.join(os.path.dirname(__file__), "_values.so"))


def write(path):
    if library.write_values(path.encode()):
        raise OSError(path)
END
cat >hdf5.py <<'END'
import values

values.write("values.h5")
print(sorted({line.split()[-1] for line in open("/proc/self/maps") if "libhdf5" in line}))
END
record "$prefix/bin/python" hdf5.py
check_eq "$(cat out)" "['$prefix/lib/$name']" "HDF5 that the program used"
check_eq "$(calls H5Dwrite)" 1 "calls of H5Dwrite"
check_eq "$(calls H5Fcreate)" 1 "calls of H5Fcreate"
[ "$(written values.h5)" -ge 4000 ] || fail "only $(written values.h5) bytes of values.h5 are recorded"
