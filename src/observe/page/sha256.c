/* SPDX-License-Identifier: BSD-3-Clause */
#include "observe/page/sha256.h"

#include <stdint.h>
#include <string.h>

#define BLOCK 64
#define ROUNDS 64
#define WORDS 8

/* The first 32 bits of the fractional parts of the cube roots of the first 64 primes (FIPS 180-4).
 */
static const uint32_t constants[ROUNDS] = {
	0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4,
	0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe,
	0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f,
	0x4a7484aa, 0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7,
	0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc,
	0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b,
	0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116,
	0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
	0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7,
	0xc67178f2,
};

static uint32_t rotate(uint32_t word, unsigned bits)
{
	return word >> bits | word << (32 - bits);
}

static void expand_block(uint32_t schedule[ROUNDS], const uint8_t *block)
{
	for (int i = 0; i < 16; i++)
		schedule[i] = (uint32_t)block[4 * i] << 24 | (uint32_t)block[4 * i + 1] << 16 |
			      (uint32_t)block[4 * i + 2] << 8 | block[4 * i + 3];
	for (int i = 16; i < ROUNDS; i++) {
		uint32_t a = schedule[i - 15], b = schedule[i - 2];

		schedule[i] = schedule[i - 16] + (rotate(a, 7) ^ rotate(a, 18) ^ a >> 3) +
			      schedule[i - 7] + (rotate(b, 17) ^ rotate(b, 19) ^ b >> 10);
	}
}

static void add_block(uint32_t state[WORDS], const uint8_t *block)
{
	uint32_t schedule[ROUNDS], w[WORDS];

	expand_block(schedule, block);
	memcpy(w, state, sizeof(w));
	for (int i = 0; i < ROUNDS; i++) {
		uint32_t e = w[4], a = w[0];
		uint32_t first = w[7] + (rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25)) +
				 ((e & w[5]) ^ (~e & w[6])) + constants[i] + schedule[i];
		uint32_t second = (rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22)) +
				  ((a & w[1]) ^ (a & w[2]) ^ (w[1] & w[2]));

		memmove(w + 1, w, (WORDS - 1) * sizeof(*w));
		w[4] += first;
		w[0] = first + second;
	}
	for (int i = 0; i < WORDS; i++)
		state[i] += w[i];
}

/* The rest of the text, a one bit, zeros, and the length in bits fill the last one or two blocks.
 */
static void add_end(uint32_t state[WORDS], const uint8_t *rest, size_t n, uint64_t bits)
{
	uint8_t end[2 * BLOCK] = { 0 };
	size_t length = n + 9 <= BLOCK ? BLOCK : 2 * BLOCK;

	if (n)
		memcpy(end, rest, n);
	end[n] = 0x80;
	for (int i = 0; i < 8; i++)
		end[length - 1 - i] = (uint8_t)(bits >> 8 * i);
	for (size_t at = 0; at < length; at += BLOCK)
		add_block(state, end + at);
}

/* Bits [from, from + 6) of the digest as a letter; bits after its end are zero. */
static char base64_letter(const uint32_t state[WORDS], unsigned from)
{
	static const char letters[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	unsigned word = from / 32, shift = from % 32;
	uint64_t pair = (uint64_t)state[word] << 32 | (word + 1 < WORDS ? state[word + 1] : 0);

	return letters[pair << shift >> 58];
}

const char *sha256_text(char out[SHA256_TEXT], const void *bytes, size_t n)
{
	uint32_t state[WORDS] = { 0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
				  0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19 };
	const uint8_t *at = bytes;
	size_t left = n;

	for (; left >= BLOCK; left -= BLOCK, at += BLOCK)
		add_block(state, at);
	add_end(state, at, left, (uint64_t)n * 8);
	for (unsigned i = 0; i < SHA256_TEXT - 2; i++)
		out[i] = base64_letter(state, 6 * i);
	out[SHA256_TEXT - 2] = '=';
	out[SHA256_TEXT - 1] = '\0';
	return out;
}
