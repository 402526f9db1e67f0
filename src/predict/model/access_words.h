/* SPDX-License-Identifier: BSD-3-Clause
 *
 * An access and its settings as texts and as JSON, for all that show predictions.
 */
#ifndef SLUICE_PREDICT_MODEL_ACCESS_WORDS_H
#define SLUICE_PREDICT_MODEL_ACCESS_WORDS_H

#include "predict/model/access.h"

struct json;

/* "64 ranks on 4 nodes write 16 MiB each (1.00 GiB in total)" */
#define ACCESS_TEXT 256
void access_text(const struct access *access, char out[ACCESS_TEXT]);
/* "cb_nodes=4 cb_buffer_size=33554432", or "the default". The caller frees. */
char *settings_text(const struct settings *chosen, const struct machine *machine,
		    const struct access *access);

/* Write the members "access" and "settings". */
void access_json(struct json *json, const struct access *access);
void settings_json(struct json *json, const struct settings *chosen, const struct machine *machine,
		   const struct access *access);

#endif
