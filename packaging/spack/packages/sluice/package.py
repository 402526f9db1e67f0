# SPDX-License-Identifier: BSD-3-Clause
"""The recipe of Sluice for Spack 0.20 and later.

In the sources:             spack repo add packaging/spack && spack dev-build sluice@0.2.0
With a release in the current folder (packaging/dist.sh):   spack install --no-checksum sluice@0.2.0
"""
import os

from spack.package import *

try:  # Spack 1.0 and later
    from spack_repo.builtin.build_systems.cmake import CMakePackage
except ImportError:
    pass


class Sluice(CMakePackage):
    """Sluice records, explains and tunes the I/O of parallel programs without changing them: POSIX, STDIO, MPI-IO,
    HDF5, NetCDF, PnetCDF, io_uring and libaio."""

    homepage = "https://sluice.invalid/"
    manual_download = True
    url = f"file://{os.getcwd()}/sluice-0.2.0.tar.gz"

    license("BSD-3-Clause")

    version("0.2.0")

    variant("postgresql", default=False, description="Site databases in PostgreSQL")
    variant("kernels", default=False, description="Parallel I/O kernels for 'sluice lab kernel'")

    depends_on("c", type="build")
    depends_on("cmake@3.22:", type="build")
    depends_on("ninja", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("uthash", type="build")
    depends_on("jansson")
    depends_on("libinih")
    depends_on("libmicrohttpd")
    depends_on("mxml")
    depends_on("sqlite@3.35:")
    depends_on("xxhash@0.8:")
    depends_on("zlib-api")
    depends_on("zstd")
    depends_on("postgresql@12:", when="+postgresql")
    depends_on("mpi", when="+kernels")
    depends_on("hdf5+mpi", when="+kernels")

    conflicts("platform=darwin", msg="Sluice requires Linux")
    conflicts("platform=windows", msg="Sluice requires Linux")

    generator("ninja")

    def cmake_args(self):
        # A release contains the web application; nothing is downloaded.
        args = [self.define("SLUICE_WEB", "AUTO" if os.path.exists("web/dist/index.html") else "OFF")]
        if self.spec.satisfies("+kernels"):
            flavor = "OPENMPI" if self.spec["mpi"].name == "openmpi" else "MPICH"
            args.append(self.define(f"SLUICE_MPICC_{flavor}", self.spec["mpi"].mpicc))
        return args

    @property
    def build_targets(self):
        return ["all", "kernels"] if self.spec.satisfies("+kernels") else ["all"]

    @run_after("install")
    @on_package_attributes(run_tests=True)
    def check_install(self):
        """An installed Sluice records a program and reports it."""
        sluice = Executable(join_path(self.prefix.bin, "sluice"))
        sluice("version", "--json")
        sluice("run", "--quiet", "--", "cat", "/etc/hostname")
        sluice("report")
