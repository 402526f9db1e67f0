#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The modules, loaded by the real Lmod: the Lua files and the Tcl files do the same, and unloading takes it back.
. "$(dirname "$0")/libpackages.sh"
lmod=
for file in /usr/share/lmod/lmod/init/bash /usr/share/lmod/*/init/bash; do
	[ ! -s "$file" ] || lmod=$file
done
[ -n "$lmod" ] || skip lmod
needs_command manpath man-db
# The paths of modules are absolute, so they are configured for the folder of this test.
DESTDIR='' cmake --install "$BUILD" --prefix "$work/prefix" >install.log || fail "$(cat install.log)"
logged modules cmake -S "$SOURCE" -B tree -G Ninja -DCMAKE_INSTALL_PREFIX="$work/prefix" -DSLUICE_WEB=OFF
cp tree/generated/modules/* prefix/share/sluice/modules/
mkdir lua tcl
cp prefix/share/sluice/modules/*.lua lua
cp prefix/share/sluice/modules/{sluice,sluice-site} tcl
! grep -n '@[A-Z_]*@' lua/* tcl/* || fail "a module has a variable without a value"
unset MANPATH MODULEPATH LMOD_CMD
export LMOD_IGNORE_CACHE=yes LMOD_PAGER=none

# loaded DIRECTORY SCRIPT: runs a script in a shell of its own, with the modules of the directory
loaded() {
	timeout "$limit" bash --noprofile --norc -c ". '$lmod'; module use '$work/$1'; set -e; $2" 2>&1
}

for kind in lua tcl; do
	check_eq "$(loaded $kind 'module load sluice; command -v sluice')" "$work/prefix/bin/sluice" "sluice ($kind)"
	check_eq "$(loaded $kind 'module load sluice; sluice version')" "sluice $version" "version ($kind)"
	check_eq "$(loaded $kind 'module load sluice; pkg-config --modversion sluice')" "$version" "pkg-config ($kind)"
	check_has "$(loaded $kind 'module load sluice; manpath -q')" "$work/prefix/share/man" "manual ($kind)"
	check_has "$(loaded $kind 'module load sluice; manpath -q')" "/usr/share/man" "manual of the system ($kind)"
	check_has "$(loaded $kind 'module load sluice; echo "$CMAKE_PREFIX_PATH"')" "$work/prefix" "CMAKE_PREFIX_PATH ($kind)"
	check_eq "$(loaded $kind 'module load sluice; module unload sluice; command -v sluice || echo none; echo "$PKG_CONFIG_PATH"' |
		grep -v "^$BUILD" | paste -sd ' ')" "none " "after unloading ($kind)"
	check_has "$(loaded $kind 'module load sluice-site; grep -o "/.*libsluice.so" /proc/self/maps')" \
		"$work/prefix/lib" "preloaded library ($kind)"
	check_eq "$(loaded $kind 'module load sluice-site; module unload sluice-site; echo "${LD_PRELOAD:-none}"')" none \
		"LD_PRELOAD after unloading ($kind)"
	check_has "$(loaded $kind 'module whatis sluice')" "I/O of parallel programs" "whatis ($kind)"
	check_has "$(loaded $kind 'module help sluice')" "sluice report" "help ($kind)"
	check_has "$(loaded $kind 'module -t avail')" sluice-site "avail ($kind)"
done
check_has "$(loaded lua 'module whatis sluice')" "$version" "version in whatis"
# In the installed folder, both kinds are side by side: Lmod takes the Lua files, which alone know their version.
cp -r prefix/share/sluice/modules both
check_has "$(loaded both 'module load sluice && module whatis sluice')" "Version: $version"
# What finds a broken module.
echo 'prepend_path("PATH"' >>lua/sluice.lua
! loaded lua 'module load sluice' >broken || ! loaded lua 'module load sluice; command -v sluice' >/dev/null ||
	fail "a broken module was loaded"
