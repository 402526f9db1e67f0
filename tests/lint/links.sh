#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Every relative link of a Markdown page leads to a file and, if it names one, to a heading. Every path of the
# repository that a page mentions exists: docs/x.md, src/base/err.c, also without the "src/" for C files and headers.
# Words in capitals and in angle brackets are placeholders, and * matches any name.
set -eu

# broken ROOT: one line for each link or path in the pages below ROOT that leads nowhere
broken() {
	python3 - "$1" <<'PYTHON'
import glob, os, re, sys

root = sys.argv[1]
os.chdir(root)
pages = sorted(glob.glob("*.md") + glob.glob("docs/**/*.md", recursive=True))
tops = "src|lab|tests|docs|kernels|bench|include|examples|share|packaging"
parts = "|".join(sorted(os.path.basename(f) for f in glob.glob("src/*") if os.path.isdir(f)))
mention = re.compile(r"(?<![\w./~$-])((?:%s)/[\w./*<>-]*[\w*>/])|(?<![\w./~$-])((?:%s)/[\w./*-]+\.[chS])\b"
                     % (tops, parts or "src"))

def anchors(page):
    for line in open(page):
        heading = re.match(r"#+\s+(.*?)\s*$", line)
        if heading:
            yield re.sub(r"[^\w\- ]", "", heading[1].lower()).replace(" ", "-")

def exists(path):
    if re.search(r"[A-Z]{2,}|<", os.path.basename(path)) and not os.path.exists(path):
        path = re.sub(r"[A-Z]{2,}|<[^>]*>", "*", path)
    # share/sluice is a folder of an installation; a program is mentioned by the name of its source.
    return path.startswith("share/sluice") or bool(glob.glob(path) or glob.glob(path + ".c"))

for page in pages:
    fenced = False
    for number, line in enumerate(open(page), 1):
        where = "%s:%d: " % (page, number)
        if line.startswith("```"):
            fenced = not fenced
        if fenced:
            continue
        for target in re.findall(r"\]\(([^)\s]+)\)", line):
            if re.match(r"[a-z]+:", target):
                continue
            name, _, anchor = target.partition("#")
            path = os.path.normpath(os.path.join(os.path.dirname(page), name)) if name else page
            if not os.path.exists(path):
                print(where + "the link %s leads nowhere" % target)
            elif anchor and path.endswith(".md") and anchor not in anchors(path):
                print(where + "%s has no heading for #%s" % (path, anchor))
        for full, part in mention.findall(re.sub(r"\]\([^)]*\)", "]", line)):
            # "capture/named.h" stands for src/capture/named.h; "docs/" for the folder.
            if not (exists(full) if full else exists("src/" + part) or exists("include/" + part)):
                print(where + "%s does not exist" % (full or "src/" + part))
PYTHON
}

found=$(broken "$SOURCE")
[ -z "$found" ] || { echo "$found"; exit 1; }

# The check itself works.
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/docs" "$work/src/base"
: >"$work/src/base/err.c"
cat >"$work/README.md" <<'END'
# A heading, with a comma
[good](docs/page.md) [here](#a-heading-with-a-comma) docs/page.md `src/base/err.c` `base/err.c` src/base/NAME.c src/*/err.c
[bad](docs/gone.md) [no heading](docs/page.md#gone)
docs/gone.md
`base/gone.c`
END
echo '# Page' >"$work/docs/page.md"
[ "$(broken "$work" | wc -l)" = 4 ] || { echo "4 broken links were planted; reported: $(broken "$work")"; exit 1; }
