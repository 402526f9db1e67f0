/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A feed-forward network of one or two hidden layers: its numbers in memory, what it answers, and
 * the gradient of its loss. Training is perceptron.c's.
 *
 * All weights and biases are one array, so that a solver sees a vector. Rows of it are padded to
 * whole blocks of vector registers; padding is zero, gets a gradient of zero and so stays zero.
 * Weights of hidden layers are inputs x units, those of the output are outputs x units: every
 * loop then runs along units.
 *
 * In two precisions: answers and L-BFGS work in double. Adam's noisy steps do not miss the digits
 * and take float, at twice the speed.
 */
#ifndef SLUICE_LEARN_LEARNERS_NETWORK_NETWORK_H
#define SLUICE_LEARN_LEARNERS_NETWORK_NETWORK_H

#include <stddef.h>
#include <stdint.h>

enum network_activation { NETWORK_RELU, NETWORK_TANH, NETWORK_LOGISTIC };
#define NETWORK_ACTIVATIONS "relu|tanh|logistic"

/* What comes out, and the loss that belongs to it. */
enum network_output {
	NETWORK_NUMBER,	 /* as it is; half the squared error */
	NETWORK_CHANCE,	 /* logistic, of class 1 of two; log loss */
	NETWORK_CHANCES, /* softmax over classes; log loss */
};

enum { NETWORK_HIDDEN_MAX = 2, NETWORK_UNITS_MAX = 1000, NETWORK_OUTPUTS_MAX = 64 };

/* Row r of the weights is at weights + r * stride: an input of a hidden layer, or an output. */
struct network_layer {
	size_t inputs, units, stride;
	size_t weights, weight_count, biases, bias_count; /* places in the array, with padding */
};

struct network {
	struct network_layer layers[NETWORK_HIDDEN_MAX + 1]; /* the last one is the output */
	size_t hidden;					     /* hidden layers */
	size_t count;					     /* numbers in all, with padding */
	enum network_activation activation;
	enum network_output output;
};

/* second: units of a second hidden layer, 0 for none. classes as in struct samples. */
void network_init(struct network *network, size_t width, size_t first, size_t second,
		  size_t classes, enum network_activation activation);

/* Calls visit(arg, layer, index) for every number but padding: weights and biases by layer. */
typedef void network_visit(void *arg, const struct network_layer *layer, size_t index);
void network_walk(const struct network *network, network_visit *visit, void *arg);

/* Rows to go through. */
struct network_rows {
	const double *x, *y;
	const uint32_t *order; /* which rows; NULL: 0 .. count - 1 */
	size_t count;
	double centre, scale; /* a number to learn is (y - centre) / scale */
};

/*
 * Returns the sum of losses over the rows and adds their gradients to `gradient` (not divided by
 * rows, without decay). room holds network_room() numbers of the same type.
 */
size_t network_room(const struct network *network);
double network_pass_float(const struct network *network, const float *numbers, float *gradient,
			  const struct network_rows *rows, float *room);
double network_pass_double(const struct network *network, const double *numbers, double *gradient,
			   const struct network_rows *rows, double *room);

/* One row: out has one number, or a chance per class. Does not allocate. */
void network_answer(const struct network *network, const double *numbers, const double *row,
		    double *out);

/* Many; the same answers to the bit. room as above. */
void network_answers(const struct network *network, const double *numbers, const double *x,
		     size_t rows, double *out, double *room);

#endif
