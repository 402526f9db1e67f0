# SPDX-License-Identifier: BSD-3-Clause
# Packages of the npm registry for tests; to be sourced. They are installed into the build tree, never committed. The
# npm of the machine decides which registry is asked, so its settings must be found: source this before libtest.sh,
# which sets another HOME.
npm_home=$HOME

# npm_install PACKAGE@VERSION...: makes the packages available in $npm_modules; fails if that is impossible within a
# minute each, because npm may wait for a registry for ever. Tests that run at the same time wait for each other.
npm_modules=$BUILD/npm/node_modules
npm_install() {
	type node npm >/dev/null 2>&1 || return 1
	mkdir -p "$BUILD/npm"
	(
		flock 9
		local package
		for package; do
			[ -e "$BUILD/npm/${package//\//+}.installed" ] && continue
			HOME=$npm_home timeout -k 5 60 npm install --prefix "$BUILD/npm" --no-audit --no-fund \
				--fetch-retries 1 --fetch-timeout 20000 "$package" >"$BUILD/npm/log" 2>&1 || return 1
			touch "$BUILD/npm/${package//\//+}.installed"
		done
	) 9>"$BUILD/npm/lock"
}
