/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A feed-forward network with one or two hidden layers: its parameters in memory, its predictions
 * and the gradient of its loss. perceptron.c trains it.
 *
 * All weights and biases are in one array, so that a solver sees one vector. Its rows are padded to
 * whole blocks of vector registers; the padding is zero, has a zero gradient and therefore stays
 * zero. Weights of hidden layers are stored as inputs x units, those of the output as outputs x
 * units, so that every loop runs along units.
 *
 * There are two precisions: predictions and L-BFGS use double. Adam uses float, because its steps
 * are noisy anyway and float is twice as fast.
 */
#ifndef SLUICE_LEARN_LEARNERS_NETWORK_NETWORK_H
#define SLUICE_LEARN_LEARNERS_NETWORK_NETWORK_H

#include <stddef.h>
#include <stdint.h>

enum network_activation { NETWORK_RELU, NETWORK_TANH, NETWORK_LOGISTIC };
#define NETWORK_ACTIVATIONS "relu|tanh|logistic"

/* The type of output and its loss. */
enum network_output {
	NETWORK_NUMBER,	 /* identity; half the squared error */
	NETWORK_CHANCE,	 /* logistic, probability of class 1 of two; log loss */
	NETWORK_CHANCES, /* softmax over classes; log loss */
};

enum { NETWORK_HIDDEN_MAX = 2, NETWORK_UNITS_MAX = 1000, NETWORK_OUTPUTS_MAX = 64 };

/*
 * Row r of the weights, which is an input of a hidden layer or an output, begins at weights + r *
 * stride.
 */
struct network_layer {
	size_t inputs, units, stride;
	/* Positions in the array, including padding. */
	size_t weights, weight_count, biases, bias_count;
};

struct network {
	struct network_layer layers[NETWORK_HIDDEN_MAX + 1]; /* the last one is the output */
	size_t hidden;					     /* number of hidden layers */
	size_t count; /* length of the array, including padding */
	enum network_activation activation;
	enum network_output output;
};

/* second: units of the second hidden layer, or 0. classes is that of struct samples. */
void network_init(struct network *network, size_t width, size_t first, size_t second,
		  size_t classes, enum network_activation activation);

/* Calls visit(arg, layer, index) for every number except padding, layer by layer. */
typedef void network_visit(void *arg, const struct network_layer *layer, size_t index);
void network_walk(const struct network *network, network_visit *visit, void *arg);

/* The rows of one pass. */
struct network_rows {
	const double *x, *y;
	const uint32_t *order; /* indices of the rows; NULL: 0 .. count - 1 */
	size_t count;
	double center, scale; /* the network learns (y - center) / scale */
};

/*
 * Returns the sum of the losses of the rows and adds their gradients to `gradient` (neither divided
 * by the number of rows nor with weight decay). room holds network_room() numbers of the same type.
 */
size_t network_room(const struct network *network);
double network_pass_float(const struct network *network, const float *numbers, float *gradient,
			  const struct network_rows *rows, float *room);
double network_pass_double(const struct network *network, const double *numbers, double *gradient,
			   const struct network_rows *rows, double *room);

/* Predicts one row: out gets one number, or one probability per class. Does not allocate. */
void network_answer(const struct network *network, const double *numbers, const double *row,
		    double *out);

/* Predicts many rows, bit by bit like network_answer(). room holds network_room() numbers. */
void network_answers(const struct network *network, const double *numbers, const double *x,
		     size_t rows, double *out, double *room);

#endif
