#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Programs in containers: `sluice run` passes the library to those of Apptainer, and prints the options that those of
# Podman need. With them, a program in a real container of Podman is recorded. A program of musl in a container is
# counted as unrecorded. Apptainer is not a package of Debian; a script takes its place that does what its manual says
# about variables and mounts, and changes the root directory.
. "$(dirname "$0")/libtest.sh"

[ "$(id -u)" = 0 ] || skip root "containers"
unshare -m true 2>/dev/null || skip namespaces "containers"

# make_root DIRECTORY PROGRAM...: a root directory with these programs and their libraries
make_root() {
	local root=$1 program file
	shift
	mkdir -p "$root"/{proc,dev,sys,tmp,etc,data}
	echo "some text" >"$root/etc/motd"
	for program; do
		program=$(command -v "$program")
		for file in "$program" $(ldd "$program" | grep -o '/[^ ]*'); do
			mkdir -p "$root/$(dirname "$file")"
			cp -L "$file" "$root/$file"
		done
	done
}
make_root glibc sh cat cp
copy='cp /etc/motd /data/copy && cat /data/copy'

# copied TRACE: the bytes that were written to /data/copy of the container
copied() {
	"$sluice" report --top 100000 --json "$1" >report.json 2>/dev/null
	python3 -c 'import json
files = json.load(open("report.json"))["files"]
print(sum(f["bytes_written"] for f in files if f["file"] == "/data/copy"))'
}
unrecorded() { # TRACE CAUSE
	"$sluice" report --top 100000 --json "$1" >report.json 2>/dev/null
	python3 -c 'import json, sys
losses = json.load(open("report.json"))["losses"]
print(sum(u["processes"] for u in losses["unrecorded"] if u["cause"] == sys.argv[1]))' "$2"
}

# What the manual of Apptainer says: most variables are passed on, APPTAINERENV_X becomes X and overrides it, and paths
# of APPTAINER_BIND, SOURCE[:DESTINATION[:OPTIONS]], are mounted. --cleanenv passes on the prefixed variables only.
mkdir bin
cat >bin/apptainer <<'END'
#!/bin/bash
set -eu
[ "$1" = exec ] || exit 2
shift
clean=
if [ "$1" = --cleanenv ]; then
	clean=1
	shift
fi
export root=$1 bind=${APPTAINER_BIND:-}
shift
unset LD_LIBRARY_PATH
variables=()
while IFS= read -r -d '' variable; do
	case $variable in
	APPTAINERENV_*) variables+=("${variable#APPTAINERENV_}") ;;
	esac
done < <(env -0)
for name in ${clean:+$(compgen -e)}; do
	case $name in
	PATH | root | bind) ;;
	*) unset "$name" ;;
	esac
done
exec env -u LD_PRELOAD unshare -m bash -c '
	mount --bind "$root" "$root"
	mount -t proc none "$root/proc"
	IFS=,
	for one in $bind; do
		IFS=: read -r source destination _ <<<"$one"
		destination=$root${destination:-$source}
		if [ -d "$source" ]; then
			mkdir -p "$destination"
		else
			mkdir -p "$(dirname "$destination")"
			: >>"$destination"
		fi
		mount --bind "$source" "$destination"
	done
	unset IFS
	n=$1
	shift
	exec env "${@:1:n}" chroot "$root" "${@:n+1}"' - ${#variables[@]} "${variables[@]}" "$@"
END
chmod +x bin/apptainer
for options in "" --cleanenv; do
	# shellcheck disable=SC2086
	check_rc 0 env PATH="$work/bin:$PATH" "$sluice" run -o apptainer.sluice -- apptainer exec $options "$work/glibc" sh -c "$copy"
	check_eq "$(cat out)" "some text" "output with Apptainer $options"
	check_eq "$(cat err)" "" "warnings with Apptainer $options"
	check_eq "$(copied apptainer.sluice)" 10 "bytes that were copied with Apptainer $options"
done
# The values that the user has set are kept.
echo theirs >theirs
check_rc 0 env PATH="$work/bin:$PATH" APPTAINER_BIND="$work/theirs:/data/theirs" "$sluice" run -o apptainer.sluice -- \
	apptainer exec "$work/glibc" cat /data/theirs
check_eq "$(cat out)" theirs "a mount of the user"
# A script starts the container, and the paths of the library and the spools are as outside.
printf '#!/bin/sh\nexec apptainer exec "$1" sh -c "%s"\n' "$copy" >job.sh
check_rc 0 env PATH="$work/bin:$PATH" "$sluice" run -o apptainer.sluice -- sh job.sh "$work/glibc"
check_eq "$(copied apptainer.sluice)" 10 "bytes that were copied with a script"
# Without Apptainer, the environment of programs does not change.
check_eq "$("$sluice" run -q -- env | grep -c -e APPTAINER -e SINGULARITY || true)" 0 "variables without Apptainer"

if command -v musl-gcc >/dev/null; then
	printf '#include <stdio.h>\nint main(void) { return fopen("/etc/motd", "r") ? 5 : 1; }\n' >musl.c
	musl-gcc -o musl.bin musl.c
	mkdir -p alpine/{proc,dev,sys,tmp,etc,bin}
	cp glibc/etc/motd alpine/etc
	cp musl.bin alpine/bin/program
	loader=$(readelf -l musl.bin | sed -n 's/.*interpreter: \(.*\)\]/\1/p')
	mkdir -p "alpine/$(dirname "$loader")"
	cp -L "$loader" "alpine/$loader"
	check_rc 5 env PATH="$work/bin:$PATH" "$sluice" run -o musl.sluice -- apptainer exec "$work/alpine" /bin/program
	check_eq "$(unrecorded musl.sluice musl)" 1 "programs of musl in the container"
else
	skip_case musl-tools "an image with musl"
fi

# Podman: without options, the program runs and a warning names them; with exactly these, it is recorded.
command -v podman >/dev/null || skip podman
cat >podman.sh <<'END'
# crun refuses a mixed hierarchy of control groups, and limits that this process may not raise.
[ "$(stat -f -c %T /sys/fs/cgroup)" = cgroup2fs ] || mount -t cgroup2 none /sys/fs/cgroup || exit 99
exec "$@"
END
podman=(podman --root "$work/images" --runroot "$work/podman" --storage-driver vfs --cgroup-manager cgroupfs)
contain=(run --rm --network none --cgroups disabled --ulimit nofile=1024:1024 --ulimit nproc=1000:1000)
inside() {
	unshare -m bash "$work/podman.sh" "$@"
}
at_exit 'inside "${podman[@]}" rm --all --force >/dev/null 2>&1; umount -l "$work/images/vfs" "$work/images" 2>/dev/null'
inside "${podman[@]}" "${contain[@]}" --rootfs "$work/glibc" cat /etc/motd >out 2>err || skip containers "$(tail -n 1 err)"
check_rc 0 inside "$sluice" run -o podman.sluice -- "${podman[@]}" "${contain[@]}" --rootfs "$work/glibc" sh -c "$copy"
check_eq "$(cat out)" "some text" "output with Podman"
check_words "$(cat err)" "podman run" "--volume" "unrecorded"
check_eq "$(copied podman.sluice)" 0 "bytes that were copied without options"
read -r -a options <<<"$(sed -n "s/.*'podman run': //p" err)"
[ ${#options[@]} -ge 8 ] || fail "no options: $(cat err)"
check_rc 0 inside "$sluice" run -o podman.sluice -- "${podman[@]}" "${contain[@]}" "${options[@]}" --rootfs "$work/glibc" \
	sh -c "$copy"
check_eq "$(cat out)" "some text" "output with Podman"
check_eq "$(grep -c -e --volume err || true)" 0 "advice in spite of the options"
check_eq "$(copied podman.sluice)" 10 "bytes that were copied with options"
# Each of them is needed: without the variable that permits seccomp, nothing is recorded, and the program runs.
needed=()
for option in "${options[@]}"; do
	[ "$option" != SLUICE_SECCOMP=trust ] && needed+=("$option") || needed+=(OTHER=1)
done
check_rc 0 inside "$sluice" run -o podman.sluice -- "${podman[@]}" "${contain[@]}" "${needed[@]}" --rootfs "$work/glibc" \
	sh -c "$copy"
check_eq "$(cat out)" "some text" "output in a sandbox"
check_eq "$(copied podman.sluice)" 0 "bytes that were copied in a sandbox"
# An image instead of a directory, and the exit code of the program.
tar -C glibc -c . | inside "${podman[@]}" import - local/glibc >/dev/null 2>err || fail "podman import: $(cat err)"
check_rc 7 inside "$sluice" run -o podman.sluice -- "${podman[@]}" "${contain[@]}" "${options[@]}" local/glibc \
	sh -c "$copy; exit 7"
check_eq "$(copied podman.sluice)" 10 "bytes that were copied in an image"
if [ -d alpine ]; then
	check_rc 5 inside "$sluice" run -o musl.sluice -- "${podman[@]}" "${contain[@]}" "${options[@]}" --rootfs "$work/alpine" \
		/bin/program
	check_eq "$(unrecorded musl.sluice musl)" 1 "programs of musl in a container of Podman"
fi
