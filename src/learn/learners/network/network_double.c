/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Networks in double precision, for L-BFGS and for predictions.
 */
#include "learn/learners/network/network.h"

#define NETWORK_REAL double
#include "learn/learners/network/network_pass.h"

double network_pass_double(const struct network *network, const double *numbers, double *gradient,
			   const struct network_rows *rows, double *room)
{
	return run_pass(network, numbers, gradient, rows, room);
}

static void write_answer(const struct network *network, const double *numbers, const double *units,
			 double *out)
{
	size_t outputs = network->layers[network->hidden].units;

	output_sums(network, numbers, units, out);
	if (network->output == NETWORK_CHANCES) {
		softmax(out, outputs);
	} else if (network->output == NETWORK_CHANCE) {
		out[1] = logistic_sigmoid(out[0]);
		out[0] = 1 - out[1];
	}
}

void network_answer(const struct network *network, const double *numbers, const double *row,
		    double *out)
{
	double units[NETWORK_HIDDEN_MAX][NETWORK_UNITS_MAX];

	for (size_t h = 0; h < network->hidden; h++) {
		const struct network_layer *layer = &network->layers[h];

		layer_forward(&row, 1, layer, numbers + layer->weights, numbers + layer->biases,
			      network->activation == NETWORK_RELU, units[h]);
		if (network->activation != NETWORK_RELU)
			apply_activation(network->activation, units[h], 1, layer);
		row = units[h];
	}
	write_answer(network, numbers, row, out);
}

void network_answers(const struct network *network, const double *numbers, const double *x,
		     size_t rows, double *out, double *room)
{
	size_t width = network->layers[0].inputs;
	size_t answers =
		network->output == NETWORK_CHANCE ? 2 : network->layers[network->hidden].units;
	struct tile tile;

	tile_init(&tile, network, room);
	for (size_t at = 0; at < rows; at += NETWORK_TILE) {
		size_t n = rows - at < NETWORK_TILE ? rows - at : NETWORK_TILE;

		for (size_t r = 0; r < n; r++)
			tile.rows[0][r] = x + (at + r) * width;
		tile_forward(&tile, network, numbers, n);
		for (size_t r = 0; r < n; r++)
			write_answer(network, numbers, tile.rows[network->hidden][r],
				     out + (at + r) * answers);
	}
}
