/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Finds the placement of ranks. Host names identify nodes; hwloc identifies sockets if it was
 * available at build time.
 */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "kernels/elemental.h"

#ifdef SLUICE_HWLOC
#include <hwloc.h>

/* Returns the socket to which this rank is bound; 0 if it may run on several. */
static uint32_t find_socket(void)
{
	hwloc_cpuset_t set = hwloc_bitmap_alloc();
	hwloc_topology_t topology;
	uint32_t found = 0;

	if (set && hwloc_topology_init(&topology) == 0) {
		hwloc_obj_t package = NULL;

		if (hwloc_topology_load(topology) == 0 &&
		    hwloc_get_cpubind(topology, set, HWLOC_CPUBIND_PROCESS) == 0)
			package = hwloc_get_next_obj_covering_cpuset_by_type(
				topology, set, HWLOC_OBJ_PACKAGE, NULL);
		if (package && hwloc_bitmap_isincluded(set, package->cpuset))
			found = package->logical_index;
		hwloc_topology_destroy(topology);
	}
	hwloc_bitmap_free(set);
	return found;
}
#else
static uint32_t find_socket(void)
{
	return 0;
}
#endif

/* Hashes the host name (FNV-1a), because names of all ranks would need 256 bytes per rank. */
static uint64_t hash_name(void)
{
	char name[MPI_MAX_PROCESSOR_NAME] = "";
	uint64_t hash = 0xcbf29ce484222325u;
	int n = 0;

	MPI_Get_processor_name(name, &n);
	for (int i = 0; i < n; i++)
		hash = (hash ^ (unsigned char)name[i]) * 0x100000001b3u;
	return hash;
}

/* Numbers nodes in the order of their first ranks. */
static void number_nodes(struct elemental_place *place, const uint64_t *hashes, int ranks)
{
	AUTO_FREE uint64_t *known = xcalloc((size_t)ranks, sizeof(*known));

	for (int r = 0; r < ranks; r++) {
		uint32_t node = 0;

		while (node < place->node_count && known[node] != hashes[r])
			node++;
		if (node == place->node_count)
			known[place->node_count++] = hashes[r];
		place->nodes[r] = node;
	}
}

void elemental_place_find(struct elemental_place *place, int rank, int ranks)
{
	AUTO_FREE uint64_t *hashes = xcalloc((size_t)ranks, sizeof(*hashes));
	uint32_t socket = find_socket();

	*place = (struct elemental_place){ 0 };
	place->nodes = xcalloc((size_t)ranks, sizeof(*place->nodes));
	place->sockets = xcalloc((size_t)ranks, sizeof(*place->sockets));
	hashes[rank] = hash_name();
	MPI_Allgather(MPI_IN_PLACE, 0, MPI_UINT64_T, hashes, 1, MPI_UINT64_T, MPI_COMM_WORLD);
	MPI_Allgather(&socket, 1, MPI_UINT32_T, place->sockets, 1, MPI_UINT32_T, MPI_COMM_WORLD);
	number_nodes(place, hashes, ranks);
}

void elemental_place_release(struct elemental_place *place)
{
	free(place->nodes);
	free(place->sockets);
	*place = (struct elemental_place){ 0 };
}
