# SPDX-License-Identifier: BSD-3-Clause
# Packages of the npm registry for tests; to be sourced. They are installed into the build tree, never committed. The
# npm of the machine decides which registry is asked, so its settings must be found: source this before libtest.sh,
# which sets another HOME.
npm_home=$HOME
npm_modules=$BUILD/npm/node_modules
# The newest version that the registry has for x86-64 and for aarch64.
npm_duckdb=@duckdb/node-api@1.5.5-r.5

# npm_install NAME PACKAGE@VERSION...: makes the packages available in $npm_modules, under the name that the test gives to
# all of them; fails if that is impossible. npm may wait for a registry for ever, so it gets a minute, and a tree in which
# it failed asks only once. Tests that run at the same time wait for each other.
npm_install() {
	local name=$1
	shift
	type node npm >/dev/null 2>&1 || return 1
	mkdir -p "$BUILD/npm"
	(
		flock 9
		[ ! -e "$BUILD/npm/$name.installed" ] || exit 0
		[ ! -e "$BUILD/npm/failed" ] || exit 1
		HOME=$npm_home timeout -k 5 60 npm install --prefix "$BUILD/npm" --no-audit --no-fund --ignore-scripts \
			--fetch-retries 1 --fetch-timeout 20000 "$@" >"$BUILD/npm/log" 2>&1 ||
			{ touch "$BUILD/npm/failed" && exit 1; }
		# A registry may have a package without its library for this machine.
		cd "$BUILD/npm"
		for package; do
			node -e 'require(process.argv[1])' "${package%@*}" 2>>log || exit 1
		done
		touch "$BUILD/npm/$name.installed"
	) 9>"$BUILD/npm/lock"
}
