/* SPDX-License-Identifier: BSD-3-Clause */
#include "web/assets.h"

#include <string.h>

const struct web_asset *web_assets_find(const char *path)
{
	for (const struct web_asset *asset = web_asset_table; asset->path; asset++) {
		if (strcmp(asset->path, path) == 0)
			return asset;
	}
	return NULL;
}
