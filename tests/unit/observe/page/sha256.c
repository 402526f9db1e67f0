/* SPDX-License-Identifier: BSD-3-Clause */
#include "observe/page/sha256.h"

#include "base/mem.h"
#include "check.h"

/* Vectors of FIPS 180-4, in base64. */
static void known_texts_have_the_published_digests(void)
{
	static const char two[] = "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq";
	char out[SHA256_TEXT];

	CHECK_TEXT(sha256_text(out, "", 0), "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=");
	CHECK_TEXT(sha256_text(out, "abc", 3), "ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0=");
	CHECK_TEXT(sha256_text(out, two, 56), "JI1qYdIGOLjlwCaTDD5gOaM85Flk/yFn9uzt1BnbBsE=");
}

static void a_text_of_many_blocks_is_digested(void)
{
	AUTO_FREE char *text = xmalloc(1000000);
	char out[SHA256_TEXT];

	memset(text, 'a', 1000000);
	CHECK_TEXT(sha256_text(out, text, 1000000), "zcduXJkU+5KBocfihNc+Z/GAmkiklyAOBG05zMcRLNA=");
}

TESTS(TEST(known_texts_have_the_published_digests), TEST(a_text_of_many_blocks_is_digested))
