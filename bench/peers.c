/* SPDX-License-Identifier: BSD-3-Clause */
#include "peers.h"

/* Per call: with 1 thread and with 8 threads; 0 if not measured. */
static const struct peer {
	const char *name;
	struct {
		int alone, crowd;
	} added_ns[4];
} peers[] = {
	{ "uftrace", { { 123, 133 }, { 120, 129 }, { 148, 169 }, { 170, 183 } } },
	{ "LTTng", { { 167, 172 }, { 163, 164 }, { 226, 224 }, { 187, 208 } } },
	{ "Darshan", { { 91, 196 }, { 143, 233 }, { 229, 335 }, { 246, 422 } } },
	{ "Darshan+DXT", { { 91, 171 }, { 142, 205 }, { 276, 347 }, { 297, 520 } } },
	{ "SIOX", { { 889, 0 }, { 897, 0 }, { 997, 1069 }, { 1051, 1177 } } },
	{ "Recorder", { { 1089, 1200 }, { 1104, 1192 }, { 19026, 5141 }, { 19670, 4301 } } },
	{ "DFTracer", { { 3642, 4307 }, { 3610, 4250 }, { 3904, 4287 }, { 4133, 4447 } } },
};

const char peers_off[4][32] = { "LTTng off 3", "LTTng off 5", "LTTng off 8", "LTTng off 1" };
const char peers_bytes[] = "Darshan+DXT 6.8, LTTng 32, uftrace 32, SIOX 137-141, DFTracer 230";
const char peers_start[] =
	"Darshan 2.8, SIOX 11, DFTracer 12, uftrace 13.5, Recorder 17 (bare 0.6)";

void peers_cost(struct buf *out, unsigned call, int threads)
{
	for (size_t i = 0; i < sizeof(peers) / sizeof(peers[0]); i++) {
		const int alone = peers[i].added_ns[call].alone,
			  crowd = peers[i].added_ns[call].crowd;
		int ns = threads == 1 ? alone : threads == 8 ? crowd : 0;

		if (ns)
			buf_printf(out, "%s%s %d", out->len ? ", " : "", peers[i].name, ns);
	}
}
