/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The layout of the parameters of a network. The arithmetic is in network_pass.h.
 */
#include "learn/learners/network/network.h"

#include "learn/learners/network/network_pass.h"

static size_t pad_to_block(size_t count, size_t block)
{
	return (count + block - 1) / block * block;
}

static void layer_init(struct network *network, struct network_layer *layer, size_t inputs,
		       size_t units)
{
	*layer = (struct network_layer){ .inputs = inputs, .units = units };
	layer->stride = pad_to_block(units, NETWORK_PAD);
	layer->weights = network->count;
	layer->weight_count = pad_to_block(inputs, NETWORK_ROWS) * layer->stride;
	layer->biases = layer->weights + layer->weight_count;
	layer->bias_count = layer->stride;
	network->count = layer->biases + layer->bias_count;
}

static void output_init(struct network *network, struct network_layer *layer, size_t inputs,
			size_t units)
{
	*layer = (struct network_layer){ .inputs = inputs, .units = units };
	layer->stride = pad_to_block(inputs, NETWORK_PAD);
	layer->weights = network->count;
	layer->weight_count = units * layer->stride;
	layer->biases = layer->weights + layer->weight_count;
	layer->bias_count = units;
	network->count = layer->biases + layer->bias_count;
}

void network_init(struct network *network, size_t width, size_t first, size_t second,
		  size_t classes, enum network_activation activation)
{
	struct network_layer *layers = network->layers;

	*network = (struct network){ .hidden = second ? 2 : 1, .activation = activation };
	layer_init(network, &layers[0], width, first);
	if (second)
		layer_init(network, &layers[1], first, second);
	network->output = classes == 0	 ? NETWORK_NUMBER
			  : classes == 2 ? NETWORK_CHANCE
					 : NETWORK_CHANCES;
	output_init(network, &layers[network->hidden], second ? second : first,
		    classes > 2 ? classes : 1);
}

void network_walk(const struct network *network, network_visit *visit, void *arg)
{
	for (size_t h = 0; h <= network->hidden; h++) {
		const struct network_layer *layer = &network->layers[h];
		size_t rows = h < network->hidden ? layer->inputs : layer->units;
		size_t columns = h < network->hidden ? layer->units : layer->inputs;

		for (size_t r = 0; r < rows; r++) {
			for (size_t c = 0; c < columns; c++)
				visit(arg, layer, layer->weights + r * layer->stride + c);
		}
		for (size_t u = 0; u < layer->units; u++)
			visit(arg, layer, layer->biases + u);
	}
}

/*
 * A tile of inputs, of the units of each hidden layer and of the outputs; with two hidden layers
 * also derivatives and transposed weights.
 */
size_t network_room(const struct network *network)
{
	const struct network_layer *layers = network->layers;
	size_t count = pad_to_block(layers[0].inputs, NETWORK_ROWS) + layers[0].stride +
		       layers[network->hidden].units;

	count *= NETWORK_TILE;
	if (network->hidden == 2)
		count += NETWORK_TILE * (layers[0].stride + layers[1].stride) +
			 pad_to_block(layers[1].units, NETWORK_ROWS) * layers[0].stride;
	return count;
}
