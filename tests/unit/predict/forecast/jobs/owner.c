/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Owners are replaced by a keyed hash, also in texts, and only the user can read the key.
 */
#include "predict/forecast/jobs/owner.h"

#include <errno.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"
#include "check.h"

static uint8_t paper_key[OWNER_KEY_BYTES];

static void paper_key_make(void)
{
	for (int i = 0; i < OWNER_KEY_BYTES; i++)
		paper_key[i] = (uint8_t)i;
}

/* Appendix A of the paper, and the first vectors of its reference code: bytes 0, 1, 2, ... */
static void hash_matches_the_reference_vectors(void)
{
	static const uint64_t expected[] = { 0x726fdb47dd0e0e31, 0x74f839c593dc67fd,
					     0x0d6c8009d9a94f5a, 0x85676696d7fb7e2d,
					     0xcf2794e0277187b7, 0x18765564cd99a68d,
					     0xcbc9466e58fee3ce, 0xab0200f58b01d137,
					     0x93f5f5799a932462 };
	uint8_t bytes[16];

	paper_key_make();
	for (int i = 0; i < 16; i++)
		bytes[i] = (uint8_t)i;
	for (size_t n = 0; n < sizeof(expected) / sizeof(expected[0]); n++)
		CHECK(owner_hash(bytes, n, paper_key) == expected[n]);
	CHECK(owner_hash(bytes, 15, paper_key) == 0xa129ca6149be45e5);
}

static void owners_are_distinguished_but_not_named(void)
{
	static const uint8_t other[OWNER_KEY_BYTES] = { 1 };
	char ann[OWNER_TEXT], bob[OWNER_TEXT], again[OWNER_TEXT];

	paper_key_make();
	owner_hide(ann, "ann", paper_key);
	owner_hide(bob, "bob", paper_key);
	owner_hide(again, "ann@login4.site.gov", paper_key);
	CHECK_INT(strlen(ann), OWNER_TEXT - 1);
	CHECK(strcmp(ann, bob) != 0);
	CHECK_TEXT(again, ann);
	owner_hide(again, "ann", other);
	CHECK(strcmp(ann, again) != 0);
	owner_hide(again, "", paper_key);
	CHECK_TEXT(again, "");
}

/* The hidden text, with the hashes replaced by <ann> and <bob>. */
static char *hidden(const char *text, const char *owner)
{
	static const char *const people[] = { "ann", "bob" };
	char *out = owner_hide_in(text, owner, paper_key);

	for (int i = 0; i < 2; i++) {
		char hash[OWNER_TEXT], *at;

		owner_hide(hash, people[i], paper_key);
		while ((at = strstr(out, hash))) {
			char *shorter = xprintf("%.*s<%s>%s", (int)(at - out), out, people[i],
						at + OWNER_TEXT - 1);

			free(out);
			out = shorter;
		}
	}
	return out;
}

static void names_in_a_text_are_hidden(void)
{
	static const char *const cases[][2] = {
		{ "relax", "relax" },
		{ "ann", "<ann>" },
		{ "run-ann_3", "run-<ann>_3" },
		{ "channel ann9", "channel ann9" },
		{ "mail bob@site.gov, ann", "mail <bob>@site.gov, <ann>" },
		{ "a @ b, @x, ann@", "a @ b, @x, <ann>@" },
		{ "ann.ann", "<ann>.<ann>" },
		{ "", "" },
	};

	paper_key_make();
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		AUTO_FREE char *text = hidden(cases[i][0], "ann@login4");

		CHECK_TEXT(text, cases[i][1]);
	}
}

static char folder[64];

static char *key_path(const char *name)
{
	if (!*folder) {
		snprintf(folder, sizeof(folder), "/tmp/sluice-owner.XXXXXX");
		REQUIRE(mkdtemp(folder));
	}
	return xprintf("%s/%s", folder, name);
}

static void key_is_created_once_and_private(void)
{
	AUTO_FREE char *path = key_path("deep/key"), *deep = key_path("deep");
	uint8_t first[OWNER_KEY_BYTES] = { 0 }, second[OWNER_KEY_BYTES] = { 1 };
	static const uint8_t nothing[OWNER_KEY_BYTES];
	struct stat st;

	CHECK_INT(owner_key_load(first, path, NULL), 0);
	CHECK_INT(owner_key_load(second, path, NULL), 0);
	CHECK(memcmp(first, second, sizeof(first)) == 0);
	CHECK(memcmp(first, nothing, sizeof(first)) != 0);
	REQUIRE(stat(path, &st) == 0);
	CHECK_INT(st.st_mode & 0777, 0600);
	unlink(path);
	rmdir(deep);
	rmdir(folder);
	folder[0] = 0;
}

static void concurrent_ranks_get_the_same_key(void)
{
	AUTO_FREE char *path = key_path("key");
	uint8_t mine[OWNER_KEY_BYTES], theirs[OWNER_KEY_BYTES];
	int pipes[2];

	REQUIRE(pipe(pipes) == 0);
	for (int i = 0; i < 8; i++)
		if (fork() == 0) {
			uint8_t key[OWNER_KEY_BYTES];

			if (owner_key_load(key, path, NULL) < 0 || write(pipes[1], key, 16) != 16)
				_exit(1);
			_exit(0);
		}
	for (int i = 0; i < 8; i++) {
		int status;

		REQUIRE(wait(&status) > 0);
		CHECK_INT(status, 0);
	}
	CHECK_INT(owner_key_load(mine, path, NULL), 0);
	for (int i = 0; i < 8; i++) {
		REQUIRE(read(pipes[0], theirs, 16) == 16);
		CHECK(memcmp(mine, theirs, 16) == 0);
	}
	close(pipes[0]);
	close(pipes[1]);
	unlink(path);
	rmdir(folder);
	folder[0] = 0;
}

static void invalid_key_is_refused(void)
{
	AUTO_FREE char *path = key_path("key");
	uint8_t key[OWNER_KEY_BYTES] = { 7 };
	struct err err = { 0 };
	FILE *f = fopen(path, "we");

	REQUIRE(f && fputs("0123456789abcdef0123456789abcdef\n", f) >= 0 && fclose(f) == 0);
	chmod(path, 0640);
	CHECK_INT(owner_key_load(key, path, &err), -EACCES);
	CHECK(strstr(err.text, "chmod 600") && key[0] == 7);
	chmod(path, 0600);
	CHECK_INT(owner_key_load(key, path, &err), 0);
	CHECK(key[0] == 1 && key[15] == 0xef);
	f = fopen(path, "we");
	REQUIRE(f && fputs("0123456789abcdef0123456789abcdeg", f) >= 0 && fclose(f) == 0);
	CHECK_INT(owner_key_load(key, path, &err), -EINVAL);
	CHECK(strstr(err.text, "hexadecimal"));
	CHECK(owner_key_load(key, "/proc/nowhere/key", &err) < 0);
	unlink(path);
	rmdir(folder);
	folder[0] = 0;
}

TESTS(TEST(hash_matches_the_reference_vectors), TEST(owners_are_distinguished_but_not_named),
      TEST(names_in_a_text_are_hidden), TEST(key_is_created_once_and_private),
      TEST(concurrent_ranks_get_the_same_key), TEST(invalid_key_is_refused))
