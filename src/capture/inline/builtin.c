/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The list of in-line plug-ins that are built into the guest.
 */
#include "capture/inline/history.h"
#include "capture/inline/host.h"
#include "capture/inline/read_ahead.h"
#include "capture/inline/served.h"
#include "capture/inline/suggested.h"

const struct sluice_plugin *const inline_builtin[] = { &inline_history, &inline_served,
						       &inline_read_ahead, &inline_model_hints,
						       NULL };
