/* SPDX-License-Identifier: BSD-3-Clause */
#include "tune/trial/trial.h"

#include <stdlib.h>

void trial_release(struct trial *trial)
{
	free(trial->compared);
	free(trial->effective);
	free(trial->reason);
	*trial = (struct trial){ 0 };
}

const char *trial_state_name(enum trial_state state)
{
	static const char *const names[TRIAL_STATES] = {
		[TRIAL_GOOD] = "good", [TRIAL_FAILED] = "failed", [TRIAL_CRASHED] = "crashed",
		[TRIAL_SLOW] = "slow", [TRIAL_WRONG] = "wrong",	  [TRIAL_UNSEEN] = "unseen",
	};

	return (unsigned)state < TRIAL_STATES ? names[state] : "?";
}
