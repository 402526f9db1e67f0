/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Answers the questions of a program from the control page. Makes no system call.
 * Papers: SIOX-16.
 */
#include "capture/api/api.h"
#include "capture/record/capture.h"
#include "capture/record/sandbox.h"
#include "contract/parameters.h"

#define PATTERN_BYTES 256
#define NS_PER_S 1e9

/* The advice of the run; NULL if the process is in no run. */
static const struct advice *advice_get(void)
{
	if (frame_mode() == CAPTURE_DETACHED && (capture_self.vforked || !attach()))
		return NULL;
	return capture_membership.control ? &capture_membership.control->advice : NULL;
}

static double seconds_since_start(void)
{
	const struct control *c = capture_membership.control;
	uint64_t now = clock_ticks(capture_gate->clock);

	if (now < c->begin_ticks || !c->clock_den)
		return 0;
	return (double)(now - c->begin_ticks) * (double)c->clock_num / (double)c->clock_den /
	       NS_PER_S;
}

static uint32_t count_targets(const struct advice *advice)
{
	/* Strict sandboxes take away the clock, which the age of a forecast is read from. */
	if (!advice || sandbox_is_sealed())
		return 0;
	return advice->target_count < ADVICE_TARGETS ? advice->target_count : ADVICE_TARGETS;
}

static int32_t give_target(const struct advice *advice, uint32_t index,
			   struct sluice_target *target)
{
	const struct advice_target *known = &advice->targets[index];
	double age_s = advice->age_s + seconds_since_start();

	if (!(age_s <= advice->max_age_s))
		return 0;
	memcpy(target->name, known->name, sizeof(target->name));
	target->busy = known->busy;
	target->share = known->share;
	target->slowdown = known->slowdown;
	target->age_s = age_s;
	return 1;
}

_Static_assert(sizeof(((struct sluice_target *)0)->name) == ADVICE_NAME_BYTES, "as copied");

static bool is_name(const struct advice_target *target, const char *name, size_t bytes)
{
	return bytes < sizeof(target->name) && !memcmp(target->name, name, bytes) &&
	       !target->name[bytes];
}

/* The length of the target's directory if it contains the path; else 0. */
static size_t directory_length(const struct advice_target *target, const char *path, size_t bytes)
{
	size_t n = strnlen(target->path, sizeof(target->path));

	if (!n || n > bytes || memcmp(target->path, path, n) != 0)
		return 0;
	return n == bytes || path[n] == '/' || target->path[n - 1] == '/' ? n : 0;
}

int32_t answer_target(const char *name, size_t bytes, struct sluice_target *target)
{
	const struct advice *advice = advice_get();
	uint32_t count = count_targets(advice), best = count;
	size_t longest = 0;

	for (uint32_t i = 0; i < count; i++) {
		size_t n = directory_length(&advice->targets[i], name, bytes);

		if (is_name(&advice->targets[i], name, bytes))
			return give_target(advice, i, target);
		if (n > longest) {
			longest = n;
			best = i;
		}
	}
	return best < count ? give_target(advice, best, target) : 0;
}

int32_t answer_target_at(uint32_t index, struct sluice_target *target)
{
	const struct advice *advice = advice_get();

	return index < count_targets(advice) ? give_target(advice, index, target) : 0;
}

/* A field of a line of advice.best. */
struct word {
	const char *at;
	size_t n;
};

static struct word next_word(const char **at, const char *end)
{
	struct word word = { *at, 0 };

	while (*at < end && **at != '\t' && **at != '\n')
		(*at)++;
	word.n = (size_t)(*at - word.at);
	if (*at < end)
		(*at)++;
	return word;
}

static bool pattern_matches(struct word pattern, const char *file, size_t bytes)
{
	char copy[PATTERN_BYTES], path[PATTERN_BYTES];

	if (pattern.n == 1 && *pattern.at == '*')
		return true;
	if (!file || pattern.n >= sizeof(copy) || bytes >= sizeof(path))
		return false;
	memcpy(copy, pattern.at, pattern.n);
	copy[pattern.n] = 0;
	memcpy(path, file, bytes);
	path[bytes] = 0;
	return parameters_match(copy, path);
}

int32_t answer_best(const char *parameter, size_t parameter_bytes, const char *file,
		    size_t file_bytes, char *value, size_t value_bytes)
{
	const struct advice *advice = advice_get();
	const char *at = advice ? advice->best : NULL;
	const char *end = at ? at + strnlen(at, sizeof(advice->best)) : NULL;

	while (at < end) {
		struct word pattern = next_word(&at, end), name = next_word(&at, end);
		struct word known = next_word(&at, end);

		next_word(&at, end); /* the source */
		if (name.n != parameter_bytes || memcmp(name.at, parameter, name.n) != 0 ||
		    !pattern_matches(pattern, file, file_bytes))
			continue;
		if (known.n >= value_bytes)
			return 0;
		memcpy(value, known.at, known.n);
		value[known.n] = 0;
		return 1;
	}
	return 0;
}
