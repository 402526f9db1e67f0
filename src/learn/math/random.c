/* SPDX-License-Identifier: BSD-3-Clause
 *
 * xoshiro256** (Blackman and Vigna), splitmix64 for seeds.
 */
#include "learn/math/random.h"

#include <math.h>

static uint64_t splitmix64_next(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15u;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return z ^ (z >> 31);
}

void random_init(struct random *random, uint64_t seed)
{
	for (int i = 0; i < 4; i++)
		random->state[i] = splitmix64_next(&seed);
	random->spare = NAN;
}

void random_stream(struct random *random, uint64_t seed, uint64_t stream)
{
	uint64_t mixed = splitmix64_next(&seed) ^ (stream * 0xd1342543de82ef95u);

	random_init(random, splitmix64_next(&mixed));
}

static inline uint64_t rotate_left(uint64_t x, int k)
{
	return x << k | x >> (64 - k);
}

uint64_t random_u64(struct random *random)
{
	uint64_t *s = random->state, result = rotate_left(s[1] * 5, 7) * 9, t = s[1] << 17;

	s[2] ^= s[0];
	s[3] ^= s[1];
	s[1] ^= s[2];
	s[0] ^= s[3];
	s[2] ^= t;
	s[3] = rotate_left(s[3], 45);
	return result;
}

double random_real(struct random *random)
{
	return (double)(random_u64(random) >> 11) * 0x1p-53;
}

size_t random_below(struct random *random, size_t count)
{
	uint64_t limit = UINT64_MAX - UINT64_MAX % count, draw;

	do
		draw = random_u64(random);
	while (draw >= limit);
	return draw % count;
}

double random_normal(struct random *random)
{
	double u, v, square, factor, spare = random->spare;

	if (!isnan(spare)) {
		random->spare = NAN;
		return spare;
	}
	do {
		u = 2 * random_real(random) - 1;
		v = 2 * random_real(random) - 1;
		square = u * u + v * v;
	} while (square >= 1 || square == 0);
	factor = sqrt(-2 * log(square) / square);
	random->spare = v * factor;
	return u * factor;
}

void random_shuffle(struct random *random, size_t *items, size_t count)
{
	for (size_t i = count; i > 1; i--) {
		size_t other = random_below(random, i), kept = items[i - 1];

		items[i - 1] = items[other];
		items[other] = kept;
	}
}
