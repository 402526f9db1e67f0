/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Allocates memory in several threads between I/O calls, for allocators that do I/O themselves.
 */
#include "prog.h"

#include <pthread.h>

static int file;

static void *churn(void *arg)
{
	long t = (long)arg;
	void *kept[64] = { 0 };

	for (long i = 0; i < 5000; i++) {
		void **place = &kept[(i * 7 + t) % 64];

		free(*place);
		*place = i % 3 ? malloc((size_t)(i % 5000) + 1) : calloc(1, (size_t)(i % 3000) + 1);
		MUST(*place);
		if (i % 50 == 0) {
			FILE *f = fopen("/dev/null", "w");

			MUST(f && fprintf(f, "%ld", i) > 0 && !fclose(f));
			MUST(pwrite(file, "x", 1, t) == 1);
		}
	}
	for (int i = 0; i < 64; i++)
		free(kept[i]);
	return NULL;
}

int main(void)
{
	pthread_t threads[4];

	file = file_make("file");
	for (long t = 0; t < 4; t++)
		MUST(!pthread_create(&threads[t], NULL, churn, (void *)t));
	for (int t = 0; t < 4; t++)
		pthread_join(threads[t], NULL);
	puts("churned");
	return 0;
}
