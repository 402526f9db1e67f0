#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""usage: page.py FILE [TEXT]...

Checks a page of `sluice report --html` without a browser: its elements are balanced and expected, it refers to nothing
outside, its policy permits exactly its own script and style sheets, no name became markup, and it contains each TEXT as
text. Prints a line per table: id and number of rows.
"""
import base64
import hashlib
import html.parser
import re
import sys

VOID = {"meta"}
KNOWN = VOID | set("""html head title style body script a div header p span nav ul li main section h1 h2 h3 code dl dt dd small
    strong table thead tbody tr th td footer pre details summary figure figcaption article
    svg rect line path text g desc""".split())
SIZE_MAX = 2000000


class Page(html.parser.HTMLParser):
    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.open, self.texts, self.inline, self.tables = [], [], [], {}
        self.policy = self.section = None
        self.rows = 0

    def handle_starttag(self, tag, attributes):
        where = "<%s> at %s" % (tag, self.getpos())
        assert tag in KNOWN, "unexpected " + where
        for name, value in attributes:
            assert not name.startswith("on") and name not in ("style", "src", "srcset", "action"), (where, name)
            assert name not in ("href", "xlink:href") or value.startswith("#"), (where, value)
        attributes = dict(attributes)
        if attributes.get("http-equiv") == "Content-Security-Policy":
            self.policy = attributes["content"]
        if tag == "section":
            self.section = attributes.get("id")
        self.rows += tag == "tr" and "tbody" in self.open
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.handle_starttag(tag, attributes)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag):
        assert self.open and self.open[-1] == tag, "</%s> at %s closes %s" % (tag, self.getpos(), self.open[-3:])
        self.open.pop()
        if tag == "table":
            self.tables[self.section], self.rows = self.rows, 0

    def handle_data(self, data):
        if self.open and self.open[-1] in ("script", "style"):
            self.inline.append((self.open[-1], data))
        elif self.open and self.open[-1] in ("svg", "g"):
            assert not data.strip(), "text outside of elements of a plot at %s" % (self.getpos(),)
        else:
            self.texts.append(data)

    def handle_comment(self, data):
        raise AssertionError("comment at %s" % (self.getpos(),))


def check_policy(page):
    """The policy names the digest of each script and style sheet, and nothing else is permitted."""
    digests = {"'sha256-%s'" % base64.b64encode(hashlib.sha256(text.encode()).digest()).decode(): kind
               for kind, text in page.inline}
    rules = dict(rule.strip().split(" ", 1) for rule in page.policy.split(";"))
    assert rules["default-src"] == "'none'", rules
    for kind in ("script", "style"):
        expected = {digest for digest, of in digests.items() if of == kind}
        assert set(rules[kind + "-src"].split()) == expected, (kind, rules, expected)
    assert set(rules) == {"default-src", "script-src", "style-src", "base-uri", "form-action"}, rules


def main():
    raw = open(sys.argv[1], "rb").read()
    assert len(raw) < SIZE_MAX, "%d bytes" % len(raw)
    source = raw.decode("utf-8")
    page = Page()
    page.feed(source)
    page.close()
    assert not page.open, page.open
    check_policy(page)
    assert sum(kind == "script" for kind, _ in page.inline) == 1
    assert not re.search(r"https?://(?!www\.w3\.org/2000/svg)", source), "reference to a network address"
    text = "".join(page.texts)
    for expected in sys.argv[2:]:
        assert expected in text, "the page lacks %r" % expected
    for name, rows in page.tables.items():
        print(name, rows)


main()
