#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The Dockerfile builds from the release, on the minimal system of this machine's release instead of an image from a
# registry, and the image works. The Apptainer definition takes the same steps; Apptainer itself is not in Debian.
. "$(dirname "$0")/libpackages.sh"
[ "$(id -u)" = 0 ] || skip root
needs_command buildah buildah
needs_command debootstrap debootstrap
has_namespaces || skip namespaces
[ -s "$release" ] || fail "$release was not made"

# steps FILE: the commands that matter, without the syntax around them
steps() {
	grep -oE 'packaging/deps\.sh build|-DCMAKE_INSTALL_[A-Z]+=[^ ]+|-DSLUICE_[A-Z]+=[A-Z]+|--(build|install) /build|--strip|libraries\.sh' "$1" |
		sort -u
}
containers=$SOURCE/packaging/containers
diff <(steps "$containers/Dockerfile") <(steps "$containers/sluice.def") || fail "Dockerfile and definition differ"
[ "$(steps "$containers/Dockerfile" | wc -l)" -ge 8 ] || fail "the steps were not found"

# All of buildah's files are in the directory of the test. Its network is that of this machine, for apt.
cat >storage.conf <<END
[storage]
driver = "vfs"
graphroot = "$work/storage"
runroot = "$work/run"
END
export CONTAINERS_STORAGE_CONF=$work/storage.conf REGISTRY_AUTH_FILE=$work/none.json
echo '{}' >none.json
printf '{"default":[{"type":"insecureAcceptAnything"}]}' >policy.json
build() { buildah --root "$work/storage" --runroot "$work/run" --storage-driver vfs "$@"; }
at_exit 'buildah --root "$work/storage" --runroot "$work/run" --storage-driver vfs unmount --all >/dev/null 2>&1'
base_root
cat >Base <<'END'
FROM scratch
ADD base.tar /
END
ln "$base" base.tar 2>/dev/null || cp "$base" base.tar
logged container-base build bud --isolation chroot --signature-policy policy.json -t localhost/base -f Base .
rm base.tar
tar -xzf "$release"
logged container build bud --isolation chroot --network host --signature-policy policy.json --build-arg BASE=localhost/base \
	-t localhost/sluice -f "sluice-$version/packaging/containers/Dockerfile" "sluice-$version"

container=$(build from --signature-policy policy.json --pull-never localhost/sluice)
inside() { build run --isolation chroot "$container" -- "$@"; }
check_eq "$(inside sluice version)" "sluice $version"
inside sluice version --json >version.json
check_json version.json sluice.version/1
check_rc 0 inside sluice doctor
code=0
inside sluice run --quiet -- sh -c 'cat /etc/passwd >/dev/null; exit 7' || code=$?
check_eq $code 7 "exit code of a program in the container"
check_has "$(inside sluice print)" '"/etc/passwd"'
# Nothing that was only needed for the build.
! inside sh -c 'command -v gcc cmake' || fail "the image contains a compiler"
check_eq "$(build inspect --type image --format '{{.OCIv1.Config.Entrypoint}}' localhost/sluice)" "[sluice]" "entry point"
