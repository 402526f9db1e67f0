/* SPDX-License-Identifier: BSD-3-Clause
 *
 * @libraries hdf5
 * @set SLUICE_FINDINGS_MIN_TIME=0
 * @set SLUICE_FINDINGS_TIME_PERCENT=0
 *
 * HDF5 locks a file when it opens it. On a local disk this takes no time, so the thresholds are 0.
 */
#include "fix.h"

static void program(void)
{
	hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
	hid_t dataset = dataset_create(file, H5P_DEFAULT);

	rows_write(dataset);
	H5_MUST(H5Dclose(dataset));
	H5_MUST(H5Fclose(file));
}
