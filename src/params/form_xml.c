/* SPDX-License-Identifier: BSD-3-Clause
 *
 * H5Tuner's XML, as its users write it: sections may be missing or contain parameters of another
 * section, blanks may surround values, and FileName and VariableName restrict a parameter to files
 * and datasets. Entities that a document defines are not expanded, so a small file cannot grow
 * large.
 * Papers: H5T-6, H5T-7.
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

/* Finds the line of each element, because mxml does not record lines: elements start in the text in
 * the same order as nodes follow in the tree. */
struct lines {
	const char *at, *counted; /* position of the scan, and of the counting of lines */
	unsigned line;
};

static const char *skip_past(const char *at, const char *end)
{
	const char *hit = strstr(at, end);

	return hit ? hit + strlen(end) : at + strlen(at);
}

/* Returns the position after the tag; a > inside quotes does not end it. */
static const char *skip_tag(const char *at)
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

static const char *skip_markup(const char *at)
{
	if (strncmp(at, "<!--", 4) == 0)
		return skip_past(at + 4, "-->");
	if (strncmp(at, "<![CDATA[", 9) == 0)
		return skip_past(at, "]]>");
	if (at[1] == '?')
		return skip_past(at, "?>");
	return skip_tag(at);
}

static unsigned next_line(struct lines *lines)
{
	const char *at = lines->at;

	for (;;) {
		at += strcspn(at, "<");
		if (!*at || !strchr("!?/", at[1]))
			break;
		at = skip_markup(at);
	}
	for (; lines->counted < at; lines->counted++)
		lines->line += *lines->counted == '\n';
	/* A < inside an attribute does not start an element. */
	lines->at = *at ? skip_tag(at) : at;
	return lines->line;
}

static unsigned count_lines(const char *text, size_t bytes)
{
	unsigned lines = 0;

	for (size_t i = 0; i < bytes; i++)
		lines += text[i] == '\n';
	return lines;
}

/* True if elements are still open at the end of the text. mxml accepts such a truncated file. */
static bool is_truncated(const char *text)
{
	long depth = 0;

	while (*(text += strcspn(text, "<"))) {
		const char *end = skip_markup(text);
		bool is_tag = text[1] && !strchr("!?", text[1]);

		if (is_tag && text[1] == '/')
			depth--;
		else if (is_tag && !(end[-1] == '>' && end[-2] == '/'))
			depth++;
		text = end;
	}
	return depth > 0;
}

static bool is_element(mxml_node_t *node)
{
	const char *name = mxmlGetElement(node);

	return name && *name && *name != '!' && *name != '?';
}

static int find_section(const char *name)
{
	for (int i = 0; i < TUNABLE_LAYERS; i++)
		if (tunable_section((enum tunable_layer)i) &&
		    strcasecmp(name, tunable_section((enum tunable_layer)i)) == 0)
			return i;
	return -1;
}

static void collect_value(mxml_node_t *node, struct buf *value)
{
	for (mxml_node_t *n = mxmlGetFirstChild(node); n; n = mxmlGetNextSibling(n)) {
		if (mxmlGetType(n) == MXML_OPAQUE)
			buf_puts(value, mxmlGetOpaque(n));
		else if (mxmlGetType(n) == MXML_ELEMENT && mxmlGetCDATA(n))
			buf_puts(value, mxmlGetCDATA(n));
	}
}

/*
 * An element with an unknown attribute is skipped: the attribute may have been meant to restrict
 * the parameter, so the parameter must not apply everywhere.
 */
static bool read_attributes(const struct form_reading *reading, mxml_node_t *node, unsigned line,
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
			form_report(
				reading, NULL, true, line,
				"%.80s: unknown attribute %.80s; expected FileName or VariableName",
				mxmlGetElement(node), name);
			good = false;
		}
	}
	return good;
}

static void read_element(const struct form_reading *reading, mxml_node_t *node, int section,
			 unsigned line)
{
	const char *file = NULL, *object = NULL;
	AUTO_BUF struct buf value = { 0 };
	const struct param *param;

	if (!read_attributes(reading, node, line, &file, &object))
		return;
	collect_value(node, &value);
	param = form_set_param(reading, mxmlGetElement(node), buf_text(&value), file, object, line);
	if (param && section >= 0 && section != (int)param->tunable->layer &&
	    tunable_section(param->tunable->layer))
		form_report(reading, param, false, line,
			    "%s belongs to section %s; it is accepted here", param->tunable->name,
			    tunable_section(param->tunable->layer));
}

/* H5Tuner's sections are children of the root; nested sections are accepted, too. */
static void read_children(const struct form_reading *reading, mxml_node_t *parent, int section,
			  struct lines *lines, int depth)
{
	for (mxml_node_t *n = mxmlGetFirstChild(parent); n; n = mxmlGetNextSibling(n)) {
		unsigned line;
		int inner;

		if (!is_element(n))
			continue;
		line = next_line(lines);
		inner = find_section(mxmlGetElement(n));
		if (depth == DEPTH_MAX) {
			form_report(reading, NULL, true, line, "elements are nested too deep");
		} else if (inner >= 0) {
			read_children(reading, n, inner, lines, depth + 1);
		} else {
			read_element(reading, n, section, line);
			read_children(reading, n, section, lines, depth + 1);
		}
	}
}

/* Finds the first element. Comments, declarations and document types precede or enclose it. */
static mxml_node_t *find_root(mxml_node_t *top)
{
	mxml_node_t *title = NULL, *n = mxmlGetFirstChild(top);

	for (; n && !is_element(n); n = mxmlGetNextSibling(n))
		if (!title && mxmlGetElement(n) && mxmlGetFirstChild(n))
			title = n;
	return n || !title ? n : find_root(title);
}

/* mxml reports errors to a callback that takes no user argument. */
static _Thread_local char complaint[256];

static void keep_complaint(const char *text)
{
	if (!*complaint)
		snprintf(complaint, sizeof(complaint), "%s", text);
}

/* Turns the complaint "... on line 7." into "FILE:7: ...". */
static int report_complaint(const char *name, unsigned before, struct err *err)
{
	const char *at = strstr(complaint, " on line ");
	int line = at ? atoi(at + 9) : 0;

	if (!*complaint)
		return err_set(err, EINVAL, "%s: invalid XML", name);
	if (line <= 0)
		return err_set(err, EINVAL, "%s: %s", name, complaint);
	return err_set(err, EINVAL, "%s:%u: %.*s", name, before + (unsigned)line,
		       (int)(at - complaint), complaint);
}

static int read_root(const struct form_reading *reading, mxml_node_t *root, const char *text,
		     struct err *err)
{
	struct lines lines = { text, text, 1 };
	unsigned line = next_line(&lines);

	if (!root)
		return err_set(err, EINVAL, "%s: missing element %s", reading->name, ROOT);
	if (strcasecmp(mxmlGetElement(root), ROOT) != 0)
		return err_set(err, EINVAL, "%s:%u: the root element is %.80s; expected %s",
			       reading->name, line, mxmlGetElement(root), ROOT);
	read_children(reading, root, -1, &lines, 0);
	return 0;
}

static int xml_read(struct param_set *set, const char *name, const char *text, size_t bytes,
		    param_problem problem, void *arg, struct err *err)
{
	struct form_reading reading = { set, name, problem, arg };
	size_t blanks = strspn(text, " \t\r\n");
	/* Load below a node whose name no text can close; without it, mxml leaks memory on bad
	 * text. */
	mxml_node_t *top = mxmlNewElement(NULL, " ");
	int r;

	*complaint = 0;
	mxmlSetErrorCallback(keep_complaint);
	mxmlLoadString(top, text + blanks, MXML_OPAQUE_CALLBACK);
	mxmlSetErrorCallback(NULL);
	if (*complaint)
		r = report_complaint(name, count_lines(text, blanks), err);
	else if (is_truncated(text))
		r = err_set(err, EINVAL, "%s:%u: the file ends inside an element", name,
			    count_lines(text, bytes) + 1);
	else
		r = read_root(&reading, find_root(top), text, err);
	mxmlDelete(top);
	return r;
}

static void append_attribute(struct buf *out, const char *name, const char *value)
{
	if (!value)
		return;
	buf_printf(out, " %s=\"", name);
	buf_put_xml(out, value);
	buf_putc(out, '"');
}

static void append_element(struct buf *out, const struct param *p)
{
	buf_printf(out, "    <%s", p->tunable->name);
	append_attribute(out, "FileName", p->file);
	append_attribute(out, "VariableName", p->object);
	buf_putc(out, '>');
	buf_put_xml(out, p->value);
	buf_printf(out, "</%s>\n", p->tunable->name);
}

/* Parameters without a section follow. Variables and arguments cannot be written: their names are
 * no names of elements. */
static void append_others(struct buf *out, const struct param_set *set)
{
	for (size_t i = 0; i < set->count; i++) {
		const struct param *p = &set->params[i];

		if (p->tunable->place == TUNABLE_NO_PLACE)
			buf_printf(out, "  <!-- %s is set, too, but only JSON can hold it -->\n",
				   p->tunable->name);
		else if (!tunable_section(p->tunable->layer))
			append_element(out, p);
	}
}

static int xml_write(const struct param_set *set, struct buf *out, struct err *err)
{
	(void)err;
	buf_puts(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<" ROOT ">\n");
	for (int layer = 0; layer < TUNABLE_LAYERS; layer++) {
		const char *section = tunable_section((enum tunable_layer)layer);

		if (!section)
			continue;
		buf_printf(out, "  <%s>\n", section);
		for (size_t i = 0; i < set->count; i++)
			if ((int)set->params[i].tunable->layer == layer)
				append_element(out, &set->params[i]);
		buf_printf(out, "  </%s>\n", section);
	}
	append_others(out, set);
	buf_puts(out, "</" ROOT ">\n");
	return 0;
}

const struct param_form param_xml = {
	.name = "xml",
	.help = "H5Tuner XML",
	.is = xml_is,
	.read = xml_read,
	.write = xml_write,
};
