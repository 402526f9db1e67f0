#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# usage: mpi_compile.sh ROOT MPI cc|fort [ARGUMENT]...
# The compiler wrapper of an MPI in ROOT, with the cross compiler. The wrapper itself runs emulated, because only it
# knows its flags. With -show it prints the command.
set -eu
root=$1 mpi=$2 kind=$3
shift 3
case $kind in
cc) compiler=x86_64-linux-gnu-gcc ;;
fort) compiler=x86_64-linux-gnu-gfortran ;;
esac
read -ra flags < <(chroot "$root" "/usr/bin/mpi$kind.$mpi" -show)
unset 'flags[0]'
command=("$compiler" "--sysroot=$root")
libraries=()
for flag in "${flags[@]}"; do
	case $flag in
	-I/* | -L/*) flag=${flag:0:2}$root${flag:2} ;;
	-O*) continue ;;
	esac
	case $flag in
	-l* | -L*) libraries+=("$flag") ;;
	*) command+=("$flag") ;;
	esac
done
case " $* " in
*" -show "*) echo "${command[*]} ${libraries[*]}" ;;
*) exec "${command[@]}" "$@" "${libraries[@]}" ;;
esac
