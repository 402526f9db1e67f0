#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Programs that a compiler made in an unusual way: those of Go make system calls themselves, and those of Rust and C may
# be linked statically or with musl. They run as without Sluice, and are reported as not recorded, with the cause. A
# program of Rust that is linked with glibc is recorded.
. "$(dirname "$0")/libprograms.sh"
need golang-go go
need rustc rustc
need musl-tools musl-gcc
[ "$(go env CGO_ENABLED)" = 1 ] || skip golang-go "cgo"

# A rustc of rustup needs the home directory of its user; that of the package does not.
export PATH=/usr/bin:$PATH
export GOCACHE=$work/go GOFLAGS=-mod=mod GO111MODULE=off GOPATH=$work/gopath
cat >file.go <<'END'
package main

import "os"

func main() {
	if os.WriteFile("out.data", []byte("0123456789"), 0644) != nil {
		os.Exit(1)
	}
	os.Exit(5)
}
END
sed 's/^import "os"/import "C"\n\n&/' file.go >cgo.go
cat >file.rs <<'END'
use std::io::Write;

fn main() {
    let mut file = std::fs::File::create("out.data").unwrap();
    file.write_all(b"0123456789").unwrap();
    std::process::exit(5);
}
END
cat >file.c <<'END'
#include <stdio.h>

int main(void)
{
	FILE *file = fopen("out.data", "w");

	return file && fputs("0123456789", file) >= 0 && fclose(file) == 0 ? 5 : 1;
}
END

# check_program CAUSE PROGRAM: recorded directly and by a shell; CAUSE "" means that it is recorded
check_program() {
	local cause=$1 program=$2 shell command code written found
	for shell in "" sh; do
		command=("./$program")
		[ -z "$shell" ] || command=(sh -c "./$program; exit \$?")
		rm -f out.data
		code=0
		"$sluice" run -o "$program.sluice" -- "${command[@]}" >run.out 2>run.err || code=$?
		check_eq $code 5 "exit code of $program"
		check_eq "$(cat out.data)" 0123456789 "data of $program"
		"$sluice" report --top 100000 --json "$program.sluice" >report.json 2>/dev/null
		found=$(python3 -c 'import json
for u in json.load(open("report.json"))["losses"]["unrecorded"]:
    print(u["cause"], u["processes"])')
		check_eq "$found" "${cause:+$cause 1}" "what is not recorded of ${command[*]}"
		written=$(python3 -c 'import json
files = json.load(open("report.json"))["files"]
print(sum(f["bytes_written"] for f in files if f["file"].endswith("/out.data")))')
		check_eq "$written" "$([ -n "$cause" ] && echo 0 || echo 10)" "recorded bytes of ${command[*]}"
		[ -n "$cause" ] || check_eq "$(cat run.err)" "" "warnings about $program"
		[ -z "$cause" ] || check_words "$(cat run.err)" "$program"
	done
}

CGO_ENABLED=0 go build -o go_static file.go
CGO_ENABLED=0 go build -ldflags='-s -w' -o go_stripped file.go
CGO_ENABLED=0 go build -buildmode=pie -o go_pie file.go
CGO_ENABLED=1 go build -o go_cgo cgo.go
readelf -l go_cgo | grep -q INTERP || fail "go_cgo is not linked dynamically"
for program in go_static go_stripped go_pie go_cgo; do
	check_program go $program
done
rustc -o rust_glibc file.rs
rustc -C target-feature=+crt-static -o rust_static file.rs
readelf -l rust_static | grep -q INTERP && fail "rust_static is linked dynamically"
check_program "" rust_glibc
check_program static rust_static
musl-gcc -o c_musl file.c
musl-gcc -static -o c_musl_static file.c
check_program musl c_musl
check_program static c_musl_static
