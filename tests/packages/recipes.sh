#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Recipes that this machine cannot run are at least well-formed and agree with the build: Spack, Conda, and the workflow of
# hosted CI. All packages have the version of the header.
. "$(dirname "$0")/libpackages.sh"
python3 -c 'import yaml, jinja2' 2>/dev/null || skip python3-yaml

# judge ROOT: the recipes in the sources below ROOT
judge() {
	python3 - "$1" "$version" <<'PYTHON'
import ast, os, re, sys
import jinja2, yaml

source, version = sys.argv[1:]


def read(path):
    with open(os.path.join(source, path)) as f:
        return f.read()


def expect(truth, text):
    if not truth:
        sys.exit("recipes: " + text)


# What the build requires, by the names of pkg-config.
required = set(re.findall(r"^pkg_check_modules\(\w+ REQUIRED IMPORTED_TARGET (\S+)\)", read("CMakeLists.txt"), re.M))
expect(len(required) >= 8, "the libraries of CMakeLists.txt were not found")


def check_libraries(recipe, names, known):
    for module in sorted(required):
        expect(known.get(module, module) in names, "%s lacks %s" % (recipe, module))


# Spack: the class, its versions and what it depends on.
tree = ast.parse(read("packaging/spack/packages/sluice/package.py"))
recipe = [node for node in tree.body if isinstance(node, ast.ClassDef)][0]
expect(recipe.name == "Sluice" and recipe.bases[0].id == "CMakePackage", "Spack: wrong class")
calls = [node.value for node in recipe.body if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)]
versions = [c.args[0].value for c in calls if c.func.id == "version"]
depends = {re.match(r"[\w-]+", c.args[0].value)[0] for c in calls if c.func.id == "depends_on"}
expect(versions[0] == version, "Spack: the newest version is %s" % versions[0])
check_libraries("Spack", depends, {"inih": "libinih", "libxxhash": "xxhash", "sqlite3": "sqlite", "zlib": "zlib-api",
                                   "libzstd": "zstd"})
expect(yaml.safe_load(read("packaging/spack/repo.yaml"))["repo"]["namespace"] == "sluice", "Spack: namespace")

# Conda: rendered as conda-build does it, with the functions that it provides.
text = re.sub(r"^.*# \[not linux\]\n", "", read("packaging/conda/meta.yaml"), flags=re.M)
folder = os.path.join(source, "packaging/conda")


def load_file_regex(load_file, regex_pattern, from_recipe_dir=False):
    with open(os.path.join(folder, load_file)) as f:
        return re.search(regex_pattern, f.read())


meta = yaml.safe_load(jinja2.Environment(undefined=jinja2.StrictUndefined).from_string(text).render(
    load_file_regex=load_file_regex, compiler=lambda language: language + "_compiler",
    stdlib=lambda language: language + "_stdlib"))
expect(meta["package"] == {"name": "sluice", "version": version}, "Conda: %s" % meta["package"])
check_libraries("Conda", set(meta["requirements"]["host"]),
                {"libxxhash": "xxhash", "sqlite3": "libsqlite", "libzstd": "zstd"})
expect(os.path.exists(os.path.join(folder, meta["source"]["path"], meta["about"]["license_file"])), "Conda: license")

# Debian and RPM.
expect(read("packaging/debian/changelog").startswith("sluice (%s-" % version), "debian/changelog: not " + version)
expect(re.search(r"^Version: +%s$" % re.escape(version), read("packaging/rpm/sluice.spec"), re.M), "spec: not " + version)
expect(re.search(r"^## %s\b" % re.escape(version), read("NEWS.md"), re.M), "NEWS.md: not " + version)

# The workflow: YAML takes the key "on" for a truth value.
flow = yaml.safe_load(read(".github/workflows/check.yml"))
expect({"push", "pull_request"} <= set(flow[True]), "workflow: not started by changes")
expect(flow["permissions"] == {"contents": "read"}, "workflow: permissions")
expect(not re.search(r"\$\{\{[^}]*secrets", read(".github/workflows/check.yml")), "workflow: uses secrets")
runners = set()
for name, job in flow["jobs"].items():
    expect(job.get("timeout-minutes"), "workflow: %s has no time limit" % name)
    steps = job["steps"]
    runners |= {row["runner"] for row in job["strategy"]["matrix"]["include"]}
    expect(any("make check" in step.get("run", "") for step in steps), "workflow: %s does not run make check" % name)
    for step in steps:
        expect(("uses" in step) != ("run" in step), "workflow: a step of %s has no action" % name)
        expect(step.get("with", {}).get("persist-credentials", False) is False, "workflow: credentials are kept")
expect({"ubuntu-24.04", "ubuntu-24.04-arm"} <= runners, "workflow: runners are %s" % sorted(runners))
PYTHON
}
judge "$SOURCE"

# planted FILE SED EXPECTED: after a change, the recipes are rejected for the expected reason
planted() {
	rm -rf planted
	mkdir planted
	(cd "$SOURCE" && cp -r --parents CMakeLists.txt NEWS.md LICENSE include packaging .github/workflows "$work/planted")
	sed -i "$2" "planted/$1"
	! judge "$work/planted" 2>found || fail "not found: $3"
	check_has "$(cat found)" "$3"
}
planted packaging/spack/packages/sluice/package.py '/"jansson"/d' "Spack lacks jansson"
planted packaging/conda/meta.yaml '/- zstd/d' "Conda lacks libzstd"
planted packaging/rpm/sluice.spec 's/^Version: .*/Version: 9.9.9/' "spec"
planted .github/workflows/check.yml 's/contents: read/contents: write/' "permissions"
planted .github/workflows/check.yml '/timeout-minutes/d' "time limit"

python3 -m py_compile "$SOURCE/packaging/spack/packages/sluice/package.py" || fail "the recipe of Spack is not valid"
rm -rf "$SOURCE/packaging/spack/packages/sluice/__pycache__"
for script in conda/build.sh containers/libraries.sh deb.sh dist.sh deps.sh debian/sluiced.postinst debian/sluiced.prerm debian/sluiced.postrm; do
	bash -n "$SOURCE/packaging/$script" || fail "packaging/$script is not valid"
done
