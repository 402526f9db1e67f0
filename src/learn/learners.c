/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The list of all learning methods, and how to find one by name.
 */
#include <errno.h>
#include <string.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/mem.h"
#include "learn/learner.h"

extern const struct learner_ops learner_bayes, learner_boosting, learner_forest, learner_gaussian,
	learner_linear, learner_logistic, learner_neighbors, learner_perceptron, learner_rules,
	learner_svm, learner_tree;

const struct learner_ops *const learners[] = {
	&learner_linear, &learner_logistic, &learner_bayes,	 &learner_neighbors,
	&learner_tree,	 &learner_rules,    &learner_gaussian,	 &learner_svm,
	&learner_forest, &learner_boosting, &learner_perceptron, NULL,
};

const struct learner_ops *learner_find(const char *name, unsigned task, struct err *err)
{
	AUTO_BUF struct buf known = { 0 };

	/* Models and scripts of version 0.1 use the British spelling. */
	if (strcmp(name, "neighbours") == 0)
		name = "neighbors";
	for (size_t i = 0; learners[i]; i++) {
		if (task && !(learners[i]->tasks & task))
			continue;
		if (strcmp(learners[i]->name, name) == 0)
			return learners[i];
		buf_printf(&known, "%s%s", known.len ? ", " : "", learners[i]->name);
	}
	err_set(err, EINVAL, "unknown method \"%s\"%s; choose from %s", name,
		task == LEARNER_CLASSIFIES  ? " for classes"
		: task == LEARNER_REGRESSES ? " for numbers"
					    : "",
		buf_text(&known));
	return NULL;
}

int learner_find_all(const char *names, unsigned task, const struct learner_ops ***list,
		     struct err *err)
{
	AUTO_FREE const struct learner_ops **found = xcalloc(strlen(names) + 2, sizeof(*found));
	AUTO_FREE char *copy = xstrdup(names);
	char *rest = copy, *name;
	size_t count = 0;

	while ((name = strsep(&rest, ", "))) {
		if (!*name)
			continue;
		found[count] = learner_find(name, task, err);
		if (!found[count++])
			return -EINVAL;
	}
	if (!count)
		return err_set(err, EINVAL, "no method given");
	*list = found;
	found = NULL;
	return 0;
}
