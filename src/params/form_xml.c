/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The XML of H5Tuner, as its users write it: sections may be missing or hold what belongs to
 * another, values have blanks around them, FileName and VariableName narrow what one is for.
 * Entities that a document defines are not expanded, so it cannot grow.
 */
#include <errno.h>
#include <mxml.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/mem.h"
#include "params/form.h"

#define ROOT "Parameters"
#define DEPTH_MAX 8

static bool xml_is(const char *text, size_t bytes)
{
	(void)bytes;
	return text[strspn(text, " \t\r\n")] == '<';
}

/* ---- lines ---- */

/* mxml keeps no lines: the next start of an element, in the order of the text, is the next node. */
struct lines {
	const char *at, *counted; /* where to look on; up to where lines are counted */
	unsigned line;
};

static const char *behind(const char *at, const char *end)
{
	const char *hit = strstr(at, end);

	return hit ? hit + strlen(end) : at + strlen(at);
}

/* The end of a tag; a > inside quotes is none. */
static const char *tag_behind(const char *at)
{
	char quote = 0;

	for (; *at; at++) {
		if (quote ? *at == quote : *at == '"' || *at == '\'')
			quote = quote ? 0 : *at;
		else if (*at == '>' && !quote)
			return at + 1;
	}
	return at;
}

static const char *markup_behind(const char *at)
{
	if (strncmp(at, "<!--", 4) == 0)
		return behind(at + 4, "-->");
	if (strncmp(at, "<![CDATA[", 9) == 0)
		return behind(at, "]]>");
	if (at[1] == '?')
		return behind(at, "?>");
	return tag_behind(at);
}

static unsigned line_next(struct lines *lines)
{
	const char *at = lines->at;

	for (;;) {
		at += strcspn(at, "<");
		if (!*at || !strchr("!?/", at[1]))
			break;
		at = markup_behind(at);
	}
	for (; lines->counted < at; lines->counted++)
		lines->line += *lines->counted == '\n';
	/* Attributes may hold a <, which is no start. */
	lines->at = *at ? tag_behind(at) : at;
	return lines->line;
}

static unsigned lines_of(const char *text, size_t bytes)
{
	unsigned lines = 0;

	for (size_t i = 0; i < bytes; i++)
		lines += text[i] == '\n';
	return lines;
}

/* mxml takes the end of the text for the end of all that is open. A file that was cut is not it. */
static bool is_cut(const char *text)
{
	long depth = 0;

	while (*(text += strcspn(text, "<"))) {
		const char *end = markup_behind(text);
		bool is_tag = text[1] && !strchr("!?", text[1]);

		if (is_tag && text[1] == '/')
			depth--;
		else if (is_tag && !(end[-1] == '>' && end[-2] == '/'))
			depth++;
		text = end;
	}
	return depth > 0;
}

/* ---- reading ---- */

static bool is_element(mxml_node_t *node)
{
	const char *name = mxmlGetElement(node);

	return name && *name && *name != '!' && *name != '?';
}

static int section_of(const char *name)
{
	for (int i = 0; i < TUNABLE_LAYERS; i++)
		if (strcasecmp(name, tunable_section((enum tunable_layer)i)) == 0)
			return i;
	return -1;
}

static void value_of(mxml_node_t *node, struct buf *value)
{
	for (mxml_node_t *n = mxmlGetFirstChild(node); n; n = mxmlGetNextSibling(n)) {
		if (mxmlGetType(n) == MXML_OPAQUE)
			buf_puts(value, mxmlGetOpaque(n));
		else if (mxmlGetType(n) == MXML_ELEMENT && mxmlGetCDATA(n))
			buf_puts(value, mxmlGetCDATA(n));
	}
}

/*
 * One with an attribute that means nothing is left out: it may have been meant to narrow what the
 * parameter is for, and then it must not count for everything.
 */
static bool attributes_of(const struct form_reading *reading, mxml_node_t *node, unsigned line,
			  const char **file, const char **object)
{
	bool good = true;

	for (int i = 0; i < mxmlElementGetAttrCount(node); i++) {
		const char *name, *value = mxmlElementGetAttrByIndex(node, i, &name);

		if (strcasecmp(name, "FileName") == 0) {
			*file = value;
		} else if (strcasecmp(name, "VariableName") == 0) {
			*object = value;
		} else {
			form_tell(reading, NULL, true, line,
				  "%.80s: the attribute %.80s is neither FileName nor VariableName",
				  mxmlGetElement(node), name);
			good = false;
		}
	}
	return good;
}

static void element_read(const struct form_reading *reading, mxml_node_t *node, int section,
			 unsigned line)
{
	const char *file = NULL, *object = NULL;
	AUTO_BUF struct buf value = { 0 };
	const struct param *param;

	if (!attributes_of(reading, node, line, &file, &object))
		return;
	value_of(node, &value);
	param = form_put(reading, mxmlGetElement(node), buf_text(&value), file, object, line);
	if (param && section >= 0 && section != (int)param->tunable->layer)
		form_tell(reading, param, false, line, "%s belongs to %s, but counts here as well",
			  param->tunable->name, tunable_section(param->tunable->layer));
}

/* Sections of H5Tuner lie below the root; within one another they do no harm. */
static void children_read(const struct form_reading *reading, mxml_node_t *parent, int section,
			  struct lines *lines, int depth)
{
	for (mxml_node_t *n = mxmlGetFirstChild(parent); n; n = mxmlGetNextSibling(n)) {
		unsigned line;
		int inner;

		if (!is_element(n))
			continue;
		line = line_next(lines);
		inner = section_of(mxmlGetElement(n));
		if (depth == DEPTH_MAX) {
			form_tell(reading, NULL, true, line, "elements lie too deep");
		} else if (inner >= 0) {
			children_read(reading, n, inner, lines, depth + 1);
		} else {
			element_read(reading, n, section, line);
			children_read(reading, n, section, lines, depth + 1);
		}
	}
}

/* The first element: comments, titles and document types are beside it, or around it. */
static mxml_node_t *root_of(mxml_node_t *top)
{
	mxml_node_t *title = NULL, *n = mxmlGetFirstChild(top);

	for (; n && !is_element(n); n = mxmlGetNextSibling(n))
		if (!title && mxmlGetElement(n) && mxmlGetFirstChild(n))
			title = n;
	return n || !title ? n : root_of(title);
}

/* mxml hands its message to a function without argument. */
static _Thread_local char complaint[256];

static void complain(const char *text)
{
	if (!*complaint)
		snprintf(complaint, sizeof(complaint), "%s", text);
}

/* "... on line 7." becomes FILE:7: */
static int refuse(const char *name, unsigned before, struct err *err)
{
	const char *at = strstr(complaint, " on line ");
	int line = at ? atoi(at + 9) : 0;

	if (!*complaint)
		return err_set(err, EINVAL, "%s: is no XML", name);
	if (line <= 0)
		return err_set(err, EINVAL, "%s: %s", name, complaint);
	return err_set(err, EINVAL, "%s:%u: %.*s", name, before + (unsigned)line,
		       (int)(at - complaint), complaint);
}

static int root_read(const struct form_reading *reading, mxml_node_t *root, const char *text,
		     struct err *err)
{
	struct lines lines = { text, text, 1 };
	unsigned line = line_next(&lines);

	if (!root)
		return err_set(err, EINVAL, "%s: there is no element %s", reading->name, ROOT);
	if (strcasecmp(mxmlGetElement(root), ROOT) != 0)
		return err_set(err, EINVAL, "%s:%u: the element is %.80s and not %s", reading->name,
			       line, mxmlGetElement(root), ROOT);
	children_read(reading, root, -1, &lines, 0);
	return 0;
}

static int xml_read(struct param_set *set, const char *name, const char *text, size_t bytes,
		    param_problem problem, void *arg, struct err *err)
{
	struct form_reading reading = { set, name, problem, arg };
	size_t blanks = strspn(text, " \t\r\n");
	/* A node of ours, with a name that no text can close: without, mxml loses on bad text. */
	mxml_node_t *top = mxmlNewElement(NULL, " ");
	int r;

	*complaint = 0;
	mxmlSetErrorCallback(complain);
	mxmlLoadString(top, text + blanks, MXML_OPAQUE_CALLBACK);
	mxmlSetErrorCallback(NULL);
	if (*complaint)
		r = refuse(name, lines_of(text, blanks), err);
	else if (is_cut(text))
		r = err_set(err, EINVAL, "%s:%u: the text ends before its elements do", name,
			    lines_of(text, bytes) + 1);
	else
		r = root_read(&reading, root_of(top), text, err);
	mxmlDelete(top);
	return r;
}

/* ---- writing ---- */

static void attribute_put(struct buf *out, const char *name, const char *value)
{
	if (!value)
		return;
	buf_printf(out, " %s=\"", name);
	buf_xml(out, value);
	buf_putc(out, '"');
}

static void element_put(struct buf *out, const struct param *p)
{
	buf_printf(out, "    <%s", p->tunable->name);
	attribute_put(out, "FileName", p->file);
	attribute_put(out, "VariableName", p->object);
	buf_putc(out, '>');
	buf_xml(out, p->value);
	buf_printf(out, "</%s>\n", p->tunable->name);
}

static int xml_write(const struct param_set *set, struct buf *out, struct err *err)
{
	(void)err;
	buf_puts(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<" ROOT ">\n");
	for (int layer = 0; layer < TUNABLE_LAYERS; layer++) {
		const char *section = tunable_section((enum tunable_layer)layer);

		buf_printf(out, "  <%s>\n", section);
		for (size_t i = 0; i < set->count; i++)
			if ((int)set->params[i].tunable->layer == layer)
				element_put(out, &set->params[i]);
		buf_printf(out, "  </%s>\n", section);
	}
	buf_puts(out, "</" ROOT ">\n");
	return 0;
}

const struct param_form param_xml = {
	.name = "xml",
	.help = "XML of H5Tuner",
	.is = xml_is,
	.read = xml_read,
	.write = xml_write,
};
