#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Guards of injected hints. Aggregator hints, with which OMPIO loses data, never reach it, whatever selects it; the
# library that opened the file decides, not the environment. `sluice run` and the report say which parameters were not
# applied and why, and warn about dangerous hints of the program itself. Hints of the program, of ROMIO_HINTS and of the
# site have priority, in this order, over those of Sluice.
. "$(dirname "$0")/libtest.sh"
. "$(dirname "$0")/../mpi/libmpi.sh"
export SLUICE_STORE_PATH=$work/store.db
printf 'cb_nodes 2\ncb_config_list *:2\n' >aggregators

# holes LAUNCHER-OPTIONS -- ARGUMENTS: runs two ranks of tests/mpi/holes, with parameters if SLUICE_PARAMS_FILE is set.
# The file must be right.
holes() {
	local options=()
	while [ "$1" != -- ]; do
		options+=("$1")
		shift
	done
	shift
	check_rc 0 timeout -k 5 "$limit" "$sluice" run -o trace -- "mpiexec.$mpi" ${options[@]+"${options[@]}"} -n 2 \
		"$BUILD/mpi/$mpi/holes" file "$@"
	check_eq "$(grep wrong out || true)" "" "$mpi ${options[*]-}: data"
}

# hint KEY: the value that the library reports
hint() {
	sed -n "s/^hint $1=//p" out
}

# Whatever selects OMPIO, it gets no aggregator hint; ROMIO does.
selection() {
	local romio
	romio=$(romio)
	export SLUICE_PARAMS_FILE=$work/aggregators
	for options in "" "--mca io ompio" "--mca io $romio,ompio" "--mca io ^sluice --mca io_${romio}_priority 1"; do
		# shellcheck disable=SC2086
		holes $options --
		check_eq "$(hint cb_nodes)$(hint cb_config_list)" "" "$options: hints of OMPIO"
		check_words "$(grep ' not applied' err)" cb_nodes cb_config_list OMPIO
	done
	OMPI_MCA_io=$romio,ompio holes --
	check_eq "$(hint cb_nodes)" "" "hints of OMPIO"
	"$sluice" report trace >report
	check_words "$(grep -A 1 '^Warnings' report)" cb_nodes OMPIO
	"$sluice" report --json trace >report
	check_words "$(json_get report '["warnings"][0]["value"]')" cb_nodes OMPIO
	check_eq "$(json_get report '["parameters"][0]["refused"]')" ompio
	SLUICE_CAPTURE_MODE=off holes --mca io "$romio,ompio" --
	check_eq "$(hint cb_nodes)" "" "hints of OMPIO"
	check_words "$(grep ' not applied' err)" cb_nodes OMPIO
	for options in "--mca io $romio" "--mca io ^ompio" "--mca io_${romio}_priority 90"; do
		romio_heeds || { skip_case romio-hints "aggregators" && break; }
		# shellcheck disable=SC2086
		holes $options --
		check_eq "$(hint cb_nodes)" 2 "$options: hint of ROMIO"
		check_eq "$(cat err)" "" "$options: warnings"
	done
	# The library was asked; the program did nothing of the kind.
	"$sluice" print trace >calls
	check_eq "$(grep MPI_File_open calls | grep -c /dev/null || true)" 0 "recorded openings of /dev/null"
	unset SLUICE_PARAMS_FILE
}

# The program's own hints are kept, and cause a warning.
own() {
	for when in open info view; do
		holes -- $when cb_nodes 2
		check_words "$(cat err)" "warning" "the program" cb_nodes OMPIO
	done
	holes -- open cb_nodes 2
	check_eq "$(hint cb_nodes)" 2 "the program's hint"
	"$sluice" report trace >report
	check_words "$(grep -A 1 '^Warnings' report)" cb_nodes OMPIO
	holes -- open cb_nodes 1
	check_eq "$(cat err)" "" "warnings about one aggregator"
	holes --mca io "$(romio)" -- open cb_nodes 2
	check_eq "$(cat err)" "" "warnings about ROMIO"
}

# Precedence with ROMIO, in all pairs.
precedence() {
	local key=ind_wr_buffer_size
	echo "$key 1000001" >user.hints
	echo "$key 1000002" >params.hints
	printf '[params]\nfile = %s\n' "$work/params.hints" >site.conf
	ROMIO_HINTS=$work/user.hints holes "$@" -- open $key 1000003
	check_effective 1000003 "program before ROMIO_HINTS"
	SLUICE_ETC=$work/site.conf holes "$@" -- open $key 1000003
	check_effective 1000003 "program before site"
	SLUICE_PARAMS_FILE=params.hints SLUICE_PARAMS_AUTHORITY=application holes "$@" -- open $key 1000003
	check_effective 1000003 "program before Sluice"
	check_words "$(cat err)" $key "not applied" "the program"
	ROMIO_HINTS=$work/user.hints SLUICE_ETC=$work/site.conf holes "$@" --
	check_effective 1000001 "ROMIO_HINTS before site"
	ROMIO_HINTS=$work/user.hints SLUICE_PARAMS_FILE=params.hints SLUICE_PARAMS_AUTHORITY=application holes "$@" --
	check_effective 1000001 "ROMIO_HINTS before Sluice"
	check_words "$(cat err)" $key "not applied" ROMIO_HINTS
	SLUICE_ETC=$work/site.conf holes "$@" --
	check_effective 1000002 "site before the default"
	# What the user asks for explicitly has priority over everything.
	ROMIO_HINTS=$work/user.hints SLUICE_PARAMS_FILE=params.hints holes "$@" -- open $key 1000003
	check_effective 1000002 "explicit parameters"
}

# check_effective VALUE WHAT: ROMIO of MPICH reports the value in use. Open MPI repeats the info only, in which nothing
# may be if the hints file decides.
check_effective() {
	local expected=$1
	[ "$mpi" = mpich ] || [ "$1" != 1000001 ] || expected=
	check_eq "$(hint ind_wr_buffer_size)" "$expected" "$mpi: $2"
}

# If ranks have different hints files, only rank 0's counts for ROMIO; Sluice adds nothing on any rank.
different_files() {
	SLUICE_PARAMS_FILE=params.hints SLUICE_PARAMS_AUTHORITY=application check_rc 0 timeout -k 5 "$limit" "$sluice" run \
		-o trace -- "mpiexec.$mpi" -n 1 "$BUILD/mpi/$mpi/holes" file : -n 1 env ROMIO_HINTS="$work/user.hints" \
		"$BUILD/mpi/$mpi/holes" file
	[ "$(hint ind_wr_buffer_size)" != 1000002 ] || fail "$mpi: hints although the ranks have different files"
}

# Parameters that match nothing are reported, and those that the library does not know.
unmatched() {
	cat >unmatched.json <<'END'
{"schema": "sluice.params/1", "parameters": [
 {"name": "romio_cb_write", "value": "enable", "file": "other*"},
 {"name": "chunk_size", "value": "16,", "object": "/v1"},
 {"name": "romio_ds_write", "value": "disable"}]}
END
	SLUICE_PARAMS_FILE=unmatched.json holes --
	check_words "$(grep romio_cb_write err)" 'romio_cb_write=enable@other*' "not applied" "no file matches"
	check_words "$(grep chunk_size err)" "chunk_size=16, for /v1" "not applied" HDF5
	# Open MPI 5 reports only hints that it uses, and OMPIO does not use this one.
	not_used=0
	[ "$mpi" = mpich ] || ! mpi_since openmpi 5 || not_used=1
	check_eq "$(grep -c romio_ds_write err || true)" $not_used "warnings about romio_ds_write"
	echo "striping_factor 2" >striping.hints
	SLUICE_PARAMS_FILE=striping.hints holes --
	# MPICH reports the hint back since 4.1.
	[ "$mpi" != mpich ] || mpi_since mpich 4.1 || check_words "$(cat err)" striping_factor "not applied" report
	check_rc 0 "$sluice" run --params striping.hints -o trace -- true
	check_words "$(cat err)" striping_factor=2 "not applied" MPI-IO
}

mpis=$(mpi_list)
[ -n "$mpis" ] || skip libmpich-dev
for mpi in $mpis; do
	mpi_has "$mpi" holes || continue
	if [ "$mpi" = openmpi ]; then
		selection
		own
		if romio_heeds; then
			OMPI_MCA_io=$(romio) precedence
		else
			skip_case romio-hints precedence
		fi
	else
		precedence
		different_files
	fi
	unmatched
done
