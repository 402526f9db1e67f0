/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Rules about streams. The system calls that libc makes inside fread and fwrite are not recorded;
 * they follow from the size of the buffer.
 */
#include <inttypes.h>

#include "base/unit.h"
#include "observe/diagnose/case.h"
#include "observe/diagnose/cost.h"

#define DEFAULT_BUFFER 4096	/* of glibc, unless the file system has larger blocks */
#define LARGE_BUFFER (64 << 10) /* from which on the buffer is no problem */

static bool has_small_buffer(const struct diagnosis *d, const struct case_file *file,
			     uint64_t bytes)
{
	const struct file_facts *facts = file->facts;

	if (facts->has_buffer)
		return facts->buffer_bytes < DEFAULT_BUFFER && bytes >= LIMIT(d, MIN_BYTES);
	return bytes >= LIMIT(d, STDIO_BYTES);
}

static bool test_buffer(const struct diagnosis *d, const struct case_file *file, struct match *m)
{
	const struct file_total *t = file->top;
	uint64_t buffer;

	if (!t || t->layer != LAYER_STDIO)
		return false;
	for (int way = READING; way <= WRITING; way++) {
		if (!has_small_buffer(d, file, t->total.survey.bytes[way]) ||
		    case_average(t, way) >= DEFAULT_BUFFER)
			continue;
		buffer = file->facts->has_buffer ? file->facts->buffer_bytes : DEFAULT_BUFFER;
		case_set_transfers(m, t, way);
		m->value = (double)buffer;
		m->fix_value = 1 << 20;
		cost_merge_stream(d, m, buffer);
		return true;
	}
	return false;
}

static void describe_buffer(struct buf *out, const struct diagnosis *d, const struct match *m)
{
	char bytes[UNIT_TEXT], buffer[UNIT_TEXT];

	(void)d;
	buf_printf(out, "%s in %" PRIu64 " calls went through a stream ",
		   unit_bytes(bytes, (double)m->bytes), m->calls);
	if (m->value > 1)
		buf_printf(out, "with a buffer of %s", unit_bytes(buffer, m->value));
	else
		buf_puts(out, "without a buffer");
}

static bool test_large(const struct diagnosis *d, const struct case_file *file, struct match *m)
{
	const struct file_total *t = file->top;

	if (!t || t->layer != LAYER_STDIO || file->facts->buffer_bytes >= LARGE_BUFFER)
		return false;
	for (int way = READING; way <= WRITING; way++) {
		if (t->total.survey.bytes[way] < LIMIT(d, STDIO_BYTES) ||
		    case_average(t, way) < DEFAULT_BUFFER)
			continue;
		case_set_transfers(m, t, way);
		return true;
	}
	return false;
}

static void describe_large(struct buf *out, const struct diagnosis *d, const struct match *m)
{
	char bytes[UNIT_TEXT], size[UNIT_TEXT];

	(void)d;
	buf_printf(out, "%s in requests of %s went through a stream",
		   unit_bytes(bytes, (double)m->bytes),
		   unit_bytes(size, m->calls ? (double)m->bytes / (double)m->calls : 0));
}

static const struct rule rules[] = {
	{ .code = "stdio-buffer",
	  .title = "the buffer of a stream is small",
	  .when = "a stream transfers findings.stdio_bytes in pieces of less than 4 KiB with the "
		  "default buffer, or findings.min_bytes with a smaller one",
	  .explanation =
		  "Whenever the buffer of the stream is full, libc makes a system call, which "
		  "moves at most 4 KiB. A buffer of 1 MiB makes 256 times fewer of them.",
	  .parameter = "stdio_buffer_size",
	  .hides = "stdio-large small-requests",
	  .gain = "the time of the system calls that libc makes, less that of "
		  "requests of 1 MiB with the same bytes",
	  .most = SEVERITY_WARNING,
	  .test_file = test_buffer,
	  .describe = describe_buffer,
	  .fixes = { FIX("sluice", "sluice --set params.allow=semantics run --params "
				   "stdio_buffer_size={value} -- {command}"),
		     FIX("c",
			 "setvbuf(stream, NULL, _IOFBF, {value});  /* directly after fopen */") } },
	{ .code = "stdio-large",
	  .title = "large data goes through a stream",
	  .when = "a stream transfers findings.stdio_bytes in pieces of at least 4 KiB",
	  .explanation =
		  "Streams copy data through their buffer and cannot be used by several ranks at a "
		  "time. Large blocks are moved faster by read and write, or by MPI-IO.",
	  .parameter = "stdio_buffer_size",
	  .unknown = "the trace does not tell how much of the time libc spends on "
		     "copying",
	  .most = SEVERITY_WARNING,
	  .possible = true,
	  .test_file = test_large,
	  .describe = describe_large,
	  .fixes = { FIX("c",
			 "int fd = fileno(stream); fflush(stream);\n"
			 "write(fd, block, bytes);  /* instead of fwrite */",
			 .sets = ""),
		     FIX("sluice", "sluice --set params.allow=semantics run --params "
				   "stdio_buffer_size=1048576 -- {command}") } },
};

const struct rule_table rules_stdio = { rules, sizeof(rules) / sizeof(*rules) };
