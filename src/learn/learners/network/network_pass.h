/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The arithmetic of a network for one floating-point type: network_float.c and network_double.c
 * define NETWORK_REAL and include this header, which then defines static functions.
 *
 * Rows are processed in tiles that fit into the first-level cache together with the weights. Blocks
 * of ROWS x COLUMNS vectors stay in registers: four by five with 32 registers (aarch64), two by
 * five with 16. Five columns make the usual 100 units whole blocks of both floats and doubles. Sums
 * always run in the order of inputs, so that a row gives the same bits alone and among others.
 */
#ifndef SLUICE_LEARN_LEARNERS_NETWORK_NETWORK_PASS_H
#define SLUICE_LEARN_LEARNERS_NETWORK_NETWORK_PASS_H

enum {
#ifdef __aarch64__
	NETWORK_BLOCK_ROWS = 4,
#else
	NETWORK_BLOCK_ROWS = 2,
#endif
	NETWORK_ROWS = 4,    /* inputs are padded to a multiple of it */
	NETWORK_COLUMNS = 5, /* in vectors of 16 bytes */
	/* Units are padded to a multiple of it: one block of floats, two of doubles. */
	NETWORK_PAD = 20,
	NETWORK_TILE = 40, /* rows per tile */
};

#ifdef NETWORK_REAL

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "learn/learners/network/network.h"

typedef NETWORK_REAL real;
typedef real vector __attribute__((vector_size(16)));
/* In memory; gcc 14 for aarch64 does not accept such a type as a parameter. */
typedef real loose_vector __attribute__((vector_size(16), aligned(sizeof(real)), may_alias));

enum { LANES = 16 / sizeof(real), BLOCK = NETWORK_COLUMNS * LANES };

static inline vector vector_load(const real *at)
{
	return *(const loose_vector *)at;
}

static inline void vector_store(real *at, vector value)
{
	*(loose_vector *)at = value;
}

/* Returns value where condition > 0, else 0. */
static inline vector vector_where(vector condition, vector value)
{
	return (vector)((condition > 0) & (__typeof__(condition > 0))value);
}

/* out[rows][BLOCK] = in[rows] * weights + bias; rows is a constant where this is inlined. */
static inline __attribute__((always_inline)) void block_forward(size_t rows, const real *const *in,
								const struct network_layer *layer,
								const real *weights,
								const real *bias, bool rectify,
								real *out)
{
	vector sum[NETWORK_BLOCK_ROWS][NETWORK_COLUMNS];

	for (size_t r = 0; r < rows; r++) {
		for (size_t c = 0; c < NETWORK_COLUMNS; c++)
			sum[r][c] = bias ? vector_load(bias + c * LANES) : (vector){ 0 };
	}
	for (size_t i = 0; i < layer->inputs; i++) {
		const real *w = weights + i * layer->stride;

		for (size_t c = 0; c < NETWORK_COLUMNS; c++) {
			vector column = vector_load(w + c * LANES);

			for (size_t r = 0; r < rows; r++)
				sum[r][c] += in[r][i] * column;
		}
	}
	for (size_t r = 0; r < rows; r++) {
		for (size_t c = 0; c < NETWORK_COLUMNS; c++)
			vector_store(out + r * layer->stride + c * LANES,
				     rectify ? vector_where(sum[r][c], sum[r][c]) : sum[r][c]);
	}
}

/* out[rows][stride] = in * weights + bias (NULL: none), one block of columns at a time. */
static void layer_forward(const real *const *in, size_t rows, const struct network_layer *layer,
			  const real *weights, const real *bias, bool rectify, real *out)
{
	for (size_t c = 0; c < layer->stride; c += BLOCK) {
		const real *b = bias ? bias + c : NULL;
		size_t r = 0;

		for (; r + NETWORK_BLOCK_ROWS <= rows; r += NETWORK_BLOCK_ROWS)
			block_forward(NETWORK_BLOCK_ROWS, in + r, layer, weights + c, b, rectify,
				      out + r * layer->stride + c);
		for (; r < rows; r++)
			block_forward(1, in + r, layer, weights + c, b, rectify,
				      out + r * layer->stride + c);
	}
}

/* gradient[some inputs][BLOCK] += sum over rows of in[row][these inputs] * delta[row] */
static inline void block_gradient(const real *const *in, size_t input, const real *delta,
				  size_t stride, size_t rows, real *gradient)
{
	vector sum[NETWORK_BLOCK_ROWS][NETWORK_COLUMNS];

	for (size_t k = 0; k < NETWORK_BLOCK_ROWS; k++) {
		for (size_t c = 0; c < NETWORK_COLUMNS; c++)
			sum[k][c] = vector_load(gradient + k * stride + c * LANES);
	}
	for (size_t r = 0; r < rows; r++) {
		const real *x = in[r] + input, *d = delta + r * stride;

		for (size_t c = 0; c < NETWORK_COLUMNS; c++) {
			vector column = vector_load(d + c * LANES);

			for (size_t k = 0; k < NETWORK_BLOCK_ROWS; k++)
				sum[k][c] += x[k] * column;
		}
	}
	for (size_t k = 0; k < NETWORK_BLOCK_ROWS; k++) {
		for (size_t c = 0; c < NETWORK_COLUMNS; c++)
			vector_store(gradient + k * stride + c * LANES, sum[k][c]);
	}
}

/* Adds the gradient of weights and biases from inputs and derivatives of the loss (delta). */
static void layer_gradient(const real *const *in, const real *delta, size_t rows,
			   const struct network_layer *layer, real *gradient)
{
	size_t stride = layer->stride;

	for (size_t c = 0; c < stride; c += BLOCK) {
		for (size_t i = 0; i < layer->inputs; i += NETWORK_BLOCK_ROWS)
			block_gradient(in, i, delta + c, stride, rows,
				       gradient + layer->weights + i * stride + c);
	}
	for (size_t c = 0; c < stride; c += LANES) {
		vector sum = vector_load(gradient + layer->biases + c);

		for (size_t r = 0; r < rows; r++)
			sum += vector_load(delta + r * stride + c);
		vector_store(gradient + layer->biases + c, sum);
	}
}

static double logistic_sigmoid(double sum)
{
	double e = exp(-fabs(sum));

	return sum >= 0 ? 1 / (1 + e) : e / (1 + e);
}

/* Padding must stay zero, but the logistic function of zero is not zero. */
static void apply_activation(enum network_activation activation, real *units, size_t rows,
			     const struct network_layer *layer)
{
	size_t count = layer->units, stride = layer->stride;

	for (size_t r = 0; r < rows; r++, units += stride) {
		for (size_t j = 0; j < count; j++)
			units[j] = (real)(activation == NETWORK_TANH
						  ? tanh((double)units[j])
						  : logistic_sigmoid((double)units[j]));
		memset(units + count, 0, (stride - count) * sizeof(*units));
	}
}

/* The derivative of the activation, computed from its output, times back. */
static inline vector activation_slope(enum network_activation activation, vector unit, vector back)
{
	switch (activation) {
	case NETWORK_TANH:
		return back * (1 - unit * unit);
	case NETWORK_LOGISTIC:
		return back * unit * (1 - unit);
	case NETWORK_RELU:
	default:
		return vector_where(unit, back);
	}
}

/* Memory of a tile and pointers to its rows. */
struct tile {
	real *inputs, *units[NETWORK_HIDDEN_MAX], *delta, *slopes, *turned;
	const real *rows[NETWORK_HIDDEN_MAX + 1][NETWORK_TILE];
	size_t stride; /* rows of inputs */
};

static void tile_init(struct tile *tile, const struct network *network, real *room)
{
	const struct network_layer *layers = network->layers;

	tile->stride = (layers[0].inputs + NETWORK_ROWS - 1) / NETWORK_ROWS * NETWORK_ROWS;
	tile->inputs = room;
	room += NETWORK_TILE * tile->stride;
	for (size_t h = 0; h < network->hidden; h++) {
		tile->units[h] = room;
		room += NETWORK_TILE * layers[h].stride;
	}
	tile->delta = room;
	tile->slopes = room + NETWORK_TILE * layers[network->hidden].units;
	tile->turned = tile->slopes + NETWORK_TILE * layers[0].stride;
	for (size_t r = 0; r < NETWORK_TILE; r++) {
		tile->rows[0][r] = tile->inputs + r * tile->stride;
		for (size_t h = 0; h < network->hidden; h++)
			tile->rows[h + 1][r] = tile->units[h] + r * layers[h].stride;
	}
	memset(tile->inputs, 0, NETWORK_TILE * tile->stride * sizeof(*tile->inputs));
}

static void tile_forward(struct tile *tile, const struct network *network, const real *numbers,
			 size_t rows)
{
	for (size_t h = 0; h < network->hidden; h++) {
		const struct network_layer *layer = &network->layers[h];

		layer_forward(tile->rows[h], rows, layer, numbers + layer->weights,
			      numbers + layer->biases, network->activation == NETWORK_RELU,
			      tile->units[h]);
		if (network->activation != NETWORK_RELU)
			apply_activation(network->activation, tile->units[h], rows, layer);
	}
}

static real dot_product(const real *a, const real *b, size_t count)
{
	vector sum = { 0 };
	real total = 0;

	for (size_t i = 0; i < count; i += LANES)
		sum += vector_load(a + i) * vector_load(b + i);
	for (size_t k = 0; k < LANES; k++)
		total += sum[k];
	return total;
}

/* The sums of the output layer for one row. */
static void output_sums(const struct network *network, const real *numbers, const real *units,
			double *sums)
{
	const struct network_layer *layer = &network->layers[network->hidden];

	for (size_t o = 0; o < layer->units; o++)
		sums[o] = (double)(dot_product(units, numbers + layer->weights + o * layer->stride,
					       layer->stride) +
				   numbers[layer->biases + o]);
}

/* Converts sums to probabilities; returns the logarithm of the sum of their exponentials. */
static double softmax(double *sums, size_t count)
{
	double most = sums[0], total;

	for (size_t o = 1; o < count; o++)
		most = fmax(most, sums[o]);
	total = sums[0] = exp(sums[0] - most);
	for (size_t o = 1; o < count; o++)
		total += sums[o] = exp(sums[o] - most);
	for (size_t o = 0; o < count; o++)
		sums[o] /= total;
	return log(total) + most;
}

/*
 * Computes the losses of a tile and their derivatives with respect to the sums of the output layer,
 * which are prediction - truth in all three cases. For two classes one logarithm per tile is taken,
 * of a product of numbers below 2.
 */
static double tile_loss(struct tile *tile, const struct network *network, const real *numbers,
			const double *truth, size_t rows)
{
	size_t outputs = network->layers[network->hidden].units;
	double loss = 0, product = 1, sums[NETWORK_OUTPUTS_MAX] = { 0 };

	for (size_t r = 0; r < rows; r++) {
		real *delta = tile->delta + r * outputs;
		double e, y = truth[r];

		output_sums(network, numbers, tile->rows[network->hidden][r], sums);
		switch (network->output) {
		case NETWORK_NUMBER:
			delta[0] = (real)(sums[0] - y);
			loss += (sums[0] - y) * (sums[0] - y) / 2;
			break;
		case NETWORK_CHANCE:
			e = exp(-fabs(sums[0]));
			product *= 1 + e;
			loss += fmax(sums[0], 0) - y * sums[0];
			delta[0] = (real)((sums[0] >= 0 ? 1 : e) / (1 + e) - y);
			break;
		case NETWORK_CHANCES:
			loss -= sums[(size_t)y];
			loss += softmax(sums, outputs);
			for (size_t o = 0; o < outputs; o++)
				delta[o] = (real)(sums[o] - (o == (size_t)y));
		}
	}
	return loss + log(product);
}

/*
 * Backward pass of an output layer with one unit: adds the gradient of its weights and replaces the
 * units below by the derivatives with respect to their sums.
 */
static void single_back(const struct network *network, const struct network_layer *layer,
			const real *weights, const real *delta, size_t rows, real *units,
			real *gradient)
{
	for (size_t c = 0; c < layer->stride; c += BLOCK) {
		vector sum[NETWORK_COLUMNS], weight[NETWORK_COLUMNS];

		for (size_t k = 0; k < NETWORK_COLUMNS; k++) {
			sum[k] = vector_load(gradient + c + k * LANES);
			weight[k] = vector_load(weights + c + k * LANES);
		}
		for (size_t r = 0; r < rows; r++) {
			real *unit = units + r * layer->stride + c;

			for (size_t k = 0; k < NETWORK_COLUMNS; k++) {
				vector value = vector_load(unit + k * LANES);

				sum[k] += delta[r] * value;
				vector_store(unit + k * LANES,
					     activation_slope(network->activation, value,
							      delta[r] * weight[k]));
			}
		}
		for (size_t k = 0; k < NETWORK_COLUMNS; k++)
			vector_store(gradient + c + k * LANES, sum[k]);
	}
}

/* Like single_back(), for several outputs. */
static void several_back(const struct network *network, const struct network_layer *layer,
			 const real *weights, const real *delta, size_t rows, real *units,
			 real *gradient)
{
	size_t outputs = layer->units, stride = layer->stride;

	for (size_t r = 0; r < rows; r++, units += stride, delta += outputs) {
		for (size_t j = 0; j < stride; j += LANES) {
			vector unit = vector_load(units + j), back = { 0 };

			for (size_t o = 0; o < outputs; o++) {
				real *sum = gradient + o * stride + j;

				vector_store(sum, vector_load(sum) + delta[o] * unit);
				back += delta[o] * vector_load(weights + o * stride + j);
			}
			vector_store(units + j, activation_slope(network->activation, unit, back));
		}
	}
}

static void output_back(struct tile *tile, const struct network *network, const real *numbers,
			real *gradient, size_t rows)
{
	const struct network_layer *layer = &network->layers[network->hidden];
	real *units = tile->units[network->hidden - 1];

	for (size_t r = 0; r < rows; r++) {
		for (size_t o = 0; o < layer->units; o++)
			gradient[layer->biases + o] += tile->delta[r * layer->units + o];
	}
	(layer->units == 1 ? single_back : several_back)(network, layer, numbers + layer->weights,
							 tile->delta, rows, units,
							 gradient + layer->weights);
}

/* Transposes the weights of the second hidden layer. */
static void transpose_weights(const struct network *network, const real *numbers, real *turned)
{
	const struct network_layer *layer = &network->layers[1];
	size_t stride = network->layers[0].stride;

	memset(turned, 0, layer->units * stride * sizeof(*turned));
	for (size_t i = 0; i < layer->inputs; i++) {
		for (size_t j = 0; j < layer->units; j++)
			turned[j * stride + i] = numbers[layer->weights + i * layer->stride + j];
	}
}

/* Computes the derivatives at the first hidden layer from those at the second. */
static void hidden_back(struct tile *tile, const struct network *network, size_t rows)
{
	const struct network_layer *first = &network->layers[0];
	struct network_layer back = { .inputs = network->layers[1].units, .stride = first->stride };
	real *units = tile->units[0];

	layer_forward(tile->rows[2], rows, &back, tile->turned, NULL, false, tile->slopes);
	for (size_t i = 0; i < rows * first->stride; i += LANES)
		vector_store(units + i,
			     activation_slope(network->activation, vector_load(units + i),
					      vector_load(tile->slopes + i)));
}

/* Copies rows first .. first + rows - 1 and their targets into the tile. */
static void fill_tile(struct tile *tile, const struct network *network,
		      const struct network_rows *from, size_t first, size_t rows, double *truth)
{
	size_t width = network->layers[0].inputs;
	bool number = network->output == NETWORK_NUMBER;

	for (size_t r = 0; r < rows; r++) {
		size_t row = from->order ? from->order[first + r] : first + r;
		const double *x = from->x + row * width;
		real *in = tile->inputs + r * tile->stride;

		for (size_t i = 0; i < width; i++)
			in[i] = (real)x[i];
		truth[r] = number ? (from->y[row] - from->center) / from->scale : from->y[row];
	}
}

static double run_pass(const struct network *network, const real *numbers, real *gradient,
		       const struct network_rows *rows, real *room)
{
	struct tile tile;
	double truth[NETWORK_TILE], loss = 0;

	tile_init(&tile, network, room);
	if (network->hidden == 2)
		transpose_weights(network, numbers, tile.turned);
	for (size_t at = 0; at < rows->count; at += NETWORK_TILE) {
		size_t n = rows->count - at < NETWORK_TILE ? rows->count - at : NETWORK_TILE;

		fill_tile(&tile, network, rows, at, n, truth);
		tile_forward(&tile, network, numbers, n);
		loss += tile_loss(&tile, network, numbers, truth, n);
		output_back(&tile, network, numbers, gradient, n);
		if (network->hidden == 2) {
			layer_gradient(tile.rows[1], tile.units[1], n, &network->layers[1],
				       gradient);
			hidden_back(&tile, network, n);
		}
		layer_gradient(tile.rows[0], tile.units[0], n, &network->layers[0], gradient);
	}
	return loss;
}

#endif
#endif
