/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Random numbers that are the same on every machine: xoshiro256** seeded by splitmix64. Parallel
 * work uses one stream per piece (random_stream), so that results depend neither on the number of
 * threads nor on their order.
 */
#ifndef SLUICE_LEARN_MATH_RANDOM_H
#define SLUICE_LEARN_MATH_RANDOM_H

#include <stddef.h>
#include <stdint.h>

struct random {
	uint64_t state[4];
	double spare; /* second of a pair of normal draws; NAN: none */
};

void random_init(struct random *random, uint64_t seed);

/* Starts stream number `stream` of a seed. Streams are practically independent of each other. */
void random_stream(struct random *random, uint64_t seed, uint64_t stream);

uint64_t random_u64(struct random *random);
double random_real(struct random *random);		  /* [0, 1), 53 bits */
size_t random_below(struct random *random, size_t count); /* 0 .. count - 1, without bias */
double random_normal(struct random *random);		  /* mean 0, deviation 1 */
void random_shuffle(struct random *random, size_t *items, size_t count);

#endif
