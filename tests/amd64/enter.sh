#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# usage: enter.sh ROOT COMMAND [ARGUMENT]...
# Runs a command of ROOT in ROOT, in the current directory, which run.sh has made visible there. The kernel starts the
# emulator for it.
root=$1
shift
export PATH=/run/native/bin:/usr/sbin:/usr/bin:/sbin:/bin
exec unshare --root="$root" --wd="$PWD" -- "$@"
