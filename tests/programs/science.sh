#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# h5py, netCDF4 and mpi4py of the distribution's Python: the same output and the same files. mpi4py and the parallel
# h5py run with several ranks.
. "$(dirname "$0")/libprograms.sh"
. "$(dirname "$0")/../mpi/libmpi.sh"
python=/usr/bin/python3

cat >hdf5.py <<'PYTHON'
import hashlib, os
import h5py, numpy

# Times of creation would make the files differ: the old format has none of groups.
rng = numpy.random.default_rng(7)
with h5py.File("all.h5", "w") as f:
    f.create_dataset("plain", data=rng.integers(0, 1000, (200, 300)), track_times=False)
    f.create_dataset("gzip", data=rng.random((300, 200)), chunks=(50, 50), compression="gzip", shuffle=True,
                     fletcher32=True, track_times=False)
    f.create_dataset("lzf", data=rng.random(10000), compression="lzf", track_times=False)
    grown = f.create_dataset("grown", (0, 10), maxshape=(None, 10), chunks=(64, 10), dtype="f4", track_times=False)
    for i in range(50):
        grown.resize((i + 1) * 10, 0)
        grown[i * 10:(i + 1) * 10] = i
    kind = numpy.dtype([("x", "f8"), ("y", "f8"), ("name", "S8"), ("v", "i4", (3,))])
    table = f.create_dataset("table", (1000,), dtype=kind, track_times=False)
    table["x"] = rng.random(1000)
    table["name"] = b"text"
    table[10:20] = numpy.zeros(10, kind)
    texts = f.create_dataset("texts", (100,), dtype=h5py.string_dtype(), track_times=False)
    texts[:] = ["text %d" % i for i in range(100)]
    ragged = f.create_dataset("ragged", (50,), dtype=h5py.vlen_dtype("i4"), track_times=False)
    for i in range(50):
        ragged[i] = range(i)
    group = f.create_group("a/b/c")
    group.attrs["unit"] = "km"
    group["link"] = h5py.SoftLink("/plain")
    group["reference"] = f["plain"].ref
    group.create_dataset("virtual_source", data=numpy.arange(100), track_times=False)
    f["plain"].attrs.create("list", [1, 2, 3])
with h5py.File("all.h5", "r+") as f:
    f["plain"][::7, 3:90:5] = -1
    print(f["plain"][...].sum(), f["gzip"][17, 20:40].sum(), f["lzf"][...].sum(), f["grown"].shape)
    print(f["table"]["x"].sum(), f["table"]["name"][500], f["texts"][7], f["ragged"][9].sum())
    print(f["a/b/c/link"][0, 0], f[f["a/b/c/reference"][()]].name, dict(f["a/b/c"].attrs))
    del f["lzf"]
    f.flush()
with h5py.File("memory.h5", "w", driver="core", backing_store=True) as f:
    f["x"] = numpy.arange(1000)
with h5py.File("split.h5", "w", driver="split") as f:
    f["x"] = numpy.arange(1000)
layout = h5py.VirtualLayout(shape=(2, 1000), dtype="i8")
layout[0] = h5py.VirtualSource("memory.h5", "x", shape=(1000,))
with h5py.File("virtual.h5", "w") as f:
    f.create_virtual_dataset("v", layout)
    print(f["v"][...].sum())
try:
    h5py.File("missing.h5", "r")
except OSError as error:
    print(error.errno, "unable to open" in str(error).lower())
open("broken.h5", "wb").write(open("all.h5", "rb").read()[:300])
try:
    h5py.File("broken.h5", "r")
except OSError as error:
    print("truncated" in str(error))
for name in ("memory.h5", "split.h5-m.h5", "split.h5-r.h5", "virtual.h5"):
    os.unlink(name)  # with times of creation
print(hashlib.md5(open("all.h5", "rb").read()).hexdigest())
PYTHON
cat >netcdf.py <<'PYTHON'
import netCDF4, numpy

rng = numpy.random.default_rng(7)
for form in ("NETCDF4", "NETCDF4_CLASSIC", "NETCDF3_CLASSIC", "NETCDF3_64BIT_OFFSET", "NETCDF3_64BIT_DATA"):
    name = form + ".nc"
    with netCDF4.Dataset(name, "w", format=form) as d:
        d.createDimension("time", None)
        d.createDimension("x", 50)
        d.title = "a title"
        options = {"zlib": True, "chunksizes": (5, 50)} if form.startswith("NETCDF4") else {}
        v = d.createVariable("v", "f8", ("time", "x"), fill_value=-1.0, **options)
        v.units = "m"
        d.createVariable("i", "i4", ("x",))[:] = numpy.arange(50)
        for t in range(20):
            v[t] = rng.random(50)
            d.sync()
        if form == "NETCDF4":
            kind = d.createCompoundType(numpy.dtype([("a", "f4"), ("b", "i4")]), "pair")
            d.createGroup("g").createVariable("c", kind, ("x",))[3] = (1.5, 2)
            d.createVariable("s", str, ("x",))[4] = "text"
    with netCDF4.Dataset(name, "a") as d:
        d["v"][25] = 7.0
        print(form, d["v"].shape, float(d["v"][:20].sum()), d["v"][21, 3], d["i"][::10].tolist(), d.title)
    with netCDF4.MFDataset([name]) if form == "NETCDF3_CLASSIC" else netCDF4.Dataset(name) as d:
        print(d.variables["v"][3:5, 7].tolist())
with netCDF4.Dataset("memory.nc", "w", diskless=True, persist=False) as d:
    d.createDimension("x", 3)
try:
    netCDF4.Dataset("missing.nc")
except OSError as error:
    print(error.errno)
PYTHON
cat >ranks.py <<'PYTHON'
import pickle
import numpy
from mpi4py import MPI

world = MPI.COMM_WORLD
rank, size = world.rank, world.size
data = world.bcast({"x": list(range(100))} if rank == 0 else None)
total = world.allreduce(rank + len(data["x"]))
rows = numpy.full((10, 100), rank, "i4")
f = MPI.File.Open(world, "shared", MPI.MODE_CREATE | MPI.MODE_RDWR)
vector = MPI.INT.Create_vector(10, 100, 100 * size).Commit()
f.Set_view(rank * 400, MPI.INT, vector)
f.Write_all(rows)
world.Barrier()
back = numpy.zeros_like(rows)
f.Set_view(rank * 400, MPI.INT, vector)
f.Read_all(back)
assert (back == rows).all()
f.Set_view(0)
request = f.Iread_at(rank * 100, numpy.zeros(25, "i4"))
request.Wait()
f.Close()
with open("own%d" % rank, "wb") as out:
    pickle.dump(world.gather(rank * rank), out)
shared = MPI.Win.Allocate_shared(1000 if rank == 0 else 0, 1, comm=world)
world.Barrier()
shared.Free()
lines = world.gather("rank %d of %d: %d" % (rank, size, total))
if rank == 0:
    print("\n".join(lines))
PYTHON

for module in h5py netCDF4 mpi4py; do
	"$python" -c "import $module" 2>/dev/null || skip "python3-${module,,}"
done
compare_runs "h5py" "$python" "$work/hdf5.py"
# netCDF-4 files contain the times of their creation; their contents are printed.
compare_runs "netCDF4" sh -c '"$0" "$1" && rm -f NETCDF4*.nc' "$python" "$work/netcdf.py"
mpi=$(mpi_of_python)

for io in $(romio) ompio; do
	export OMPI_MCA_io=$io
	compare_runs "mpi4py, 4 ranks, $io" "mpiexec.$mpi" -n 4 "$python" "$work/ranks.py"
done
unset OMPI_MCA_io
compare_runs "h5py, 3 ranks on one file" sh -c 'PYTHONPATH=/usr/lib/python3/dist-packages "$@"' sh \
	env H5PY_ALWAYS_USE_MPI=1 "mpiexec.$mpi" -n 3 "$python" "$mpi_source/h5py_io.py" mpio
