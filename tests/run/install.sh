#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# An installed tree works, also after it was moved, and `make uninstall` removes it.
. "$(dirname "$0")/libtest.sh"

DESTDIR=$work/stage cmake --install "$BUILD" --prefix /opt/sluice >install.log || fail "$(cat install.log)"
cp "$BUILD/install_manifest.txt" manifest
cp -r stage/opt/sluice moved
root=$work/moved

check_rc 0 "$root/bin/sluice" doctor
check_has "$(grep library out)" "$root/lib"
check_rc 7 "$root/bin/sluice" run --quiet -- sh -c 'cat /etc/passwd; exit 7'
check_rc 0 "$root/bin/sluice" print
check_has "$(cat out)" '"/etc/passwd"'

for file in include/sluice/sluice.h include/sluice/plugin.h include/sluice/instrument.h \
	share/sluice/fortran/sluice.f90 share/sluice/python/sluice.py share/sluice/grafana/sluice.json share/man/man1/sluice.1 share/man/man1/sluice-run.1 \
	share/bash-completion/completions/sluice share/zsh/site-functions/_sluice \
	share/sluice/platforms/hopper.ini share/sluice/machines/vesta.ini share/sluice/sites/titan.ini \
	lib/systemd/system/sluiced.service lib/systemd/system/sluiced.socket lib/systemd/system/sluice-watch.service \
	share/doc/sluice/README.md share/doc/sluice/docs/reference/plugins.md; do
	[ -s "$root/$file" ] || fail "$file is not installed"
done
# There is a kernel for each MPI of the build.
check_rc 0 "$root/bin/sluice" kernel
for program in "$BUILD"/mpi/*/vpic_io; do
	[ -x "$program" ] || continue
	mpi=$(basename "$(dirname "$program")")
	grep -q "^vpic .*\<$mpi\>" out || fail "vpic_io of $mpi is not installed: $(cat out)"
done
# Descriptions of platforms are found relative to the program.
check_rc 0 "$root/bin/sluice" lab reproduce table3
library=$(find "$root" -name libsluice.so -type f)
for file in libsluice-link.a sluice-link.flags; do
	[ -s "$(dirname "$library")/$file" ] || fail "$file is not next to libsluice.so"
done
# The example plug-in can be built with the installed files alone.
example=$(find "$root" -name async_skeleton.c)
${CC:-cc} -shared -fPIC -I "$root/include" -o mine.so "$example" || fail "the example does not compile"
check_rc 0 "$root/bin/sluice" --set "plugins.load=$work/mine.so" run -- true
check_eq "$(cat err)" "" "stderr of a run with the example"
export PKG_CONFIG_PATH
PKG_CONFIG_PATH=$(dirname "$(find "$root" -name sluice.pc)")
check_eq "$("$root/bin/sluice" version)" "sluice $(pkg-config --modversion sluice)" "version of the package"
check_has "$(pkg-config --variable=preload sluice)" "/sluice/libsluice.so"
check_has "$(pkg-config --variable=fortran sluice)" "/sluice/fortran/sluice.f90"
check_has "$(pkg-config --variable=python sluice)" "/sluice/python"
check_eq "$(pkg-config --libs sluice)" "" "libraries that a program must link"

# The CMake package finds its parts relative to itself.
mkdir user
cat >user/CMakeLists.txt <<'END'
cmake_minimum_required(VERSION 3.22)
project(user LANGUAGES C)
find_package(sluice 0.2 REQUIRED)
get_target_property(headers sluice::sluice INTERFACE_INCLUDE_DIRECTORIES)
file(WRITE ${CMAKE_BINARY_DIR}/found "${SLUICE_PROGRAM}\n${SLUICE_PRELOAD}\n${headers}\n")
add_executable(instrumented instrumented.c)
target_link_libraries(instrumented sluice::sluice)
END
cat >user/instrumented.c <<'END'
#include <sluice/instrument.h>
int main(void)
{
	sluice_end(sluice_begin(sluice_register("user"), "main"));
	return sluice_is_present();
}
END
cmake -S user -B user/build -DCMAKE_PREFIX_PATH="$root" >cmake.log 2>&1 || fail "$(cat cmake.log)"
check_eq "$(cat user/build/found)" "$root/bin/sluice
$library
$root/include" "values of find_package"
# A program that uses sluice/instrument.h needs nothing but the header, and Python nothing but the module.
cmake --build user/build >cmake.log 2>&1 || fail "$(cat cmake.log)"
check_rc 0 user/build/instrumented
check_rc 1 "$root/bin/sluice" run -q -- user/build/instrumented
PYTHONPATH=$root/share/sluice/python check_rc 0 python3 -B -c 'import sluice; print(sluice.is_present())'
check_eq "$(cat out)" False

# Uninstalling removes the listed files and the directories of Sluice, and nothing else.
echo mine >stage/opt/sluice/share/sluice/mine
echo mine >stage/opt/sluice/bin/mine
DESTDIR=$work/stage check_rc 0 sh "$SOURCE/packaging/uninstall.sh" manifest
check_eq "$(cd stage/opt/sluice && find . -type f | sort | paste -sd ' ')" "./bin/mine ./share/sluice/mine" "files that are left"
check_eq "$(find stage -path '*/sluice/*' -type d -empty -name sluice)" "" "empty directories that are left"
DESTDIR=$work/stage check_rc 0 sh "$SOURCE/packaging/uninstall.sh" manifest
check_rc 1 sh "$SOURCE/packaging/uninstall.sh" no-such-manifest
check_has "$(cat err)" "no-such-manifest"
