/* SPDX-License-Identifier: BSD-3-Clause */
#include "kernels/kernel.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

static void print_help(const struct kernel *k)
{
	printf("Usage: mpiexec -n N %s [OPTION]...\n\n%s\n\nOptions:\n", k->name, k->about);
	for (const struct option *row = k->options; row->name; row++) {
		char letter[] = { '-', row->letter, ',', ' ', 0 };
		AUTO_FREE char *syntax = xprintf("%s--%s %s", row->letter ? letter : "    ",
						 row->name, row->value ? row->value : "");

		printf("  %-34s  %s", syntax, row->help);
		if (row->fallback)
			printf(" (default %s)", row->fallback);
		putchar('\n');
	}
	printf("  %-34s  %s\n", "-h, --help", "print this help and exit");
}

int kernel_end(struct kernel *k, void *args, int code)
{
	option_release(k->options, args);
	MPI_Finalize();
	return code;
}

int kernel_misuse(struct kernel *k, void *args, const struct err *err)
{
	if (!k->rank)
		fprintf(stderr, "%s: %s\nTry: %s --help\n", k->name, err->text, k->name);
	return kernel_end(k, args, KERNEL_MISUSE);
}

bool kernel_start(struct kernel *k, void *args, int argc, char **argv, int *code)
{
	struct err err = { 0 };
	int ret;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &k->rank);
	MPI_Comm_size(MPI_COMM_WORLD, &k->ranks);
	ret = option_parse(k->options, OPTION_ANYWHERE, args, argc - 1, argv + 1, &err);
	if (ret == OPTION_HELP_WANTED) {
		if (!k->rank)
			print_help(k);
		*code = kernel_end(k, args, KERNEL_GOOD);
		return false;
	}
	if (ret > 0)
		err_set(&err, EINVAL, "unexpected argument \"%s\"; the program takes options only",
			argv[1]);
	if (ret)
		*code = kernel_misuse(k, args, &err);
	return !ret;
}

int kernel_note(struct err *err, int code, const char *format, ...)
{
	char reason[MPI_MAX_ERROR_STRING], what[256];
	va_list args;
	int n;

	if (code == MPI_SUCCESS)
		return 0;
	if (err->code)
		return -err->code;
	va_start(args, format);
	vsnprintf(what, sizeof(what), format, args);
	va_end(args);
	MPI_Error_string(code, reason, &n);
	return err_set(err, EIO, "%s: %s", what, reason);
}

int kernel_agree(const struct kernel *k, const struct err *err)
{
	int mine = err->code ? k->rank : k->ranks, first;

	MPI_Allreduce(&mine, &first, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
	if (first == k->ranks)
		return 0;
	if (first == k->rank)
		fprintf(stderr, "%s: rank %d: %s\n", k->name, k->rank, err->text);
	return -EIO;
}

/* 0: the nodes have different numbers of ranks. */
static int count_nodes(const struct kernel *k)
{
	int rank, near, is_first, nodes, most;
	MPI_Comm node;

	MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
	MPI_Comm_rank(node, &rank);
	MPI_Comm_size(node, &near);
	MPI_Comm_free(&node);
	is_first = rank == 0;
	MPI_Allreduce(&is_first, &nodes, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	MPI_Allreduce(&near, &most, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
	return nodes * most == k->ranks ? nodes : 0;
}

/* The text of the library has several lines; the first words identify it. */
void kernel_print_library(const struct kernel *k)
{
	char text[MPI_MAX_LIBRARY_VERSION_STRING] = "";
	void *symbol = dlsym(RTLD_DEFAULT, "MPI_Init");
	Dl_info info = { 0 };
	int length, nodes = count_nodes(k);

	if (k->rank)
		return;
	MPI_Get_library_version(text, &length);
	text[strcspn(text, "\n")] = 0;
	for (char *c = text; *c; c++)
		if (*c == '\t')
			*c = ' ';
	if (!symbol || !dladdr(symbol, &info) || !info.dli_fname)
		return;
	printf("%s nodes=%d library=%s version=%s\n", k->name, nodes, info.dli_fname, text);
	fflush(stdout);
}

static bool is_one_node(void)
{
	int ranks, near;
	MPI_Comm node;

	MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	MPI_Comm_size(node, &near);
	MPI_Comm_free(&node);
	return near == ranks;
}

double kernel_elapsed(double begin, double end)
{
	double times[] = { -begin, end, end - begin }, most[3] = { 0 };

	MPI_Reduce(times, most, 3, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
	return is_one_node() ? most[1] + most[0] : most[2];
}

double kernel_slowest(double seconds)
{
	double slowest = seconds;

	MPI_Reduce(&seconds, &slowest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
	return slowest;
}

static int set_hint(MPI_Info info, const char *hint, struct err *err)
{
	const char *equals = strchr(hint, '=');
	AUTO_FREE char *key = NULL;

	if (!equals || equals == hint || !equals[1])
		return err_set(err, EINVAL, "--hint: \"%s\" is not KEY=VALUE", hint);
	key = xstrndup(hint, (size_t)(equals - hint));
	if (strlen(key) >= MPI_MAX_INFO_KEY || strlen(equals + 1) >= MPI_MAX_INFO_VAL)
		return err_set(err, EINVAL, "--hint: \"%s\" exceeds the limit of this MPI library",
			       hint);
	return kernel_note(err, MPI_Info_set(info, key, equals + 1), "--hint: \"%s\"", hint);
}

int kernel_hints(const struct option_list *hints, MPI_Info *info, struct err *err)
{
	MPI_Info made;

	if (!hints->count) {
		*info = MPI_INFO_NULL;
		return 0;
	}
	MPI_Info_create(&made);
	for (size_t i = 0; i < hints->count; i++) {
		int ret = set_hint(made, hints->items[i], err);

		if (ret) {
			MPI_Info_free(&made);
			return ret;
		}
	}
	*info = made;
	return 0;
}

/* Returns eight bytes of the sequence by splitmix64: every output bit depends on every input bit.
 */
static uint64_t word_at(uint64_t index, uint64_t seed)
{
	uint64_t x = (index + 1) * 0x9e3779b97f4a7c15u + seed * 0xd1b54a32d192ed03u;

	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
	x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
	return x ^ (x >> 31);
}

void kernel_fill(void *data, size_t bytes, uint64_t at, uint64_t seed)
{
	char *to = data;

	while (bytes) {
		uint64_t word = word_at(at / sizeof(word), seed);
		size_t skip = at % sizeof(word), n = sizeof(word) - skip;

		if (n > bytes)
			n = bytes;
		memcpy(to, (char *)&word + skip, n);
		to += n;
		at += n;
		bytes -= n;
	}
}

int64_t kernel_verify(const void *data, size_t bytes, uint64_t at, uint64_t seed)
{
	const char *found = data;
	char expected[4096];

	for (size_t done = 0, n; done < bytes; done += n) {
		n = bytes - done < sizeof(expected) ? bytes - done : sizeof(expected);
		kernel_fill(expected, n, at + done, seed);
		for (size_t i = 0; memcmp(expected, found + done, n) != 0; i++)
			if (expected[i] != found[done + i])
				return (int64_t)(done + i);
	}
	return -1;
}
