#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# TaskProlog of Slurm: preloads Sluice into each task of a job step, so that the policy of the site decides what is
# recorded. In slurm.conf on all nodes:
#
#   TaskProlog=@CMAKE_INSTALL_FULL_DATADIR@/sluice/slurm/taskprolog.sh
#
# Slurm adds lines "export NAME=VALUE" of the output to the environment of the task. The script prints nothing, and so
# changes nothing, if
#   - the user has opted out: export SLUICE_DISABLE=1 in the job script, or sbatch --export=ALL,SLUICE_DISABLE=1
#   - the step is recorded by `sluice run` already
#   - the node has no policy, because sluiced was never started
#   - LD_PRELOAD has the library already
library=${SLUICE_SITE_LIBRARY:-@CMAKE_INSTALL_FULL_LIBDIR@/sluice/libsluice.so}
site=${SLUICE_SITE:-/run/sluice}
case ${SLUICE_DISABLE:-0} in
0) ;;
*) exit 0 ;;
esac
[ -z "$SLUICE_SPOOL" ] || exit 0
[ -r "$site/policy" ] && [ -r "$library" ] || exit 0
case :$LD_PRELOAD: in
*/libsluice.so[:\ ]*) exit 0 ;;
esac
echo "export LD_PRELOAD=$library${LD_PRELOAD:+:$LD_PRELOAD}"
