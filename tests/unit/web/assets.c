/* SPDX-License-Identifier: BSD-3-Clause */
#include "web/assets.h"

#include <string.h>
#include <zlib.h>

#include "check.h"

#define BUNDLE_BYTES_MAX (250 * 1024)

static const char *const paths[] = { WEB_INDEX, "/assets/app.js", "/assets/app.css",
				     "/assets/licenses.txt" };

/* The start of the content, decompressed; ends with a zero byte. */
static void read_start(const struct web_asset *asset, char *out, size_t size)
{
	z_stream stream = { .next_in = (Bytef *)asset->bytes, .avail_in = (uInt)asset->length };

	memset(out, 0, size);
	if (!asset->is_gzip) {
		memcpy(out, asset->bytes, asset->length < size ? asset->length : size - 1);
		return;
	}
	stream.next_out = (Bytef *)out;
	stream.avail_out = (uInt)size - 1;
	CHECK(inflateInit2(&stream, 16 + MAX_WBITS) == Z_OK);
	int status = inflate(&stream, Z_SYNC_FLUSH);
	CHECK(status == Z_OK || status == Z_STREAM_END);
	inflateEnd(&stream);
}

/* Without npm there is no application at all: a page without its script would be empty. */
static void assets_exist_together(void)
{
	size_t found = 0;

	for (size_t i = 0; i < sizeof(paths) / sizeof(*paths); i++)
		found += web_assets_find(paths[i]) != NULL;
	CHECK(found == 0 || found == sizeof(paths) / sizeof(*paths));
}

static void other_paths_have_no_asset(void)
{
	CHECK(!web_assets_find("/"));
	CHECK(!web_assets_find(""));
	CHECK(!web_assets_find("/assets/"));
	CHECK(!web_assets_find("/assets/../index.html"));
	CHECK(!web_assets_find("assets/app.js"));
}

static void page_has_a_base_to_replace(void)
{
	const struct web_asset *index = web_assets_find(WEB_INDEX);

	if (!index)
		return;
	CHECK(!index->is_gzip);
	CHECK(strstr(index->bytes, WEB_BASE));
	CHECK(strstr(index->bytes, "\"assets/app.js\""));
}

static void assets_have_type_content_and_digest(void)
{
	for (size_t i = 0; i < sizeof(paths) / sizeof(*paths); i++) {
		const struct web_asset *asset = web_assets_find(paths[i]);
		char start[64];

		if (!asset)
			continue;
		read_start(asset, start, sizeof(start));
		CHECK(strlen(start) == sizeof(start) - 1);
		CHECK(strlen(asset->etag) == 66);
		CHECK(asset->etag[0] == '"' && asset->etag[65] == '"');
		CHECK(strstr(asset->type, "charset=utf-8"));
	}
}

static void bundle_is_small(void)
{
	size_t bytes = 0;

	for (size_t i = 0; i < sizeof(paths) / sizeof(*paths); i++) {
		const struct web_asset *asset = web_assets_find(paths[i]);

		bytes += asset ? asset->length : 0;
	}
	CHECK(bytes < BUNDLE_BYTES_MAX);
}

TESTS(TEST(assets_exist_together), TEST(other_paths_have_no_asset),
      TEST(page_has_a_base_to_replace), TEST(assets_have_type_content_and_digest),
      TEST(bundle_is_small))
