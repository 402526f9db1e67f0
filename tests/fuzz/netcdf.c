/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Reads arbitrary bytes as a NetCDF file in a classic format, and the items as they are passed from
 * one process to another. The file is rejected with an error message, or all its items are read
 * back.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/err.h"
#include "tune/content/digest_netcdf.h"
#include "tune/content/item_writer.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void read_items(FILE *stream, size_t expected)
{
	struct manifest manifest = { 0 };

	rewind(stream);
	item_writer_read(&manifest, stream);
	if (manifest.count != expected)
		abort();
	manifest_release(&manifest);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int fd = memfd_create("netcdf", MFD_CLOEXEC);
	FILE *items = tmpfile(), *bytes = tmpfile();
	struct manifest manifest = { 0 };
	struct item_writer writer;
	struct err err = { 0 };
	size_t count;

	if (fd < 0 || !items || !bytes || write(fd, data, size) != (ssize_t)size)
		abort();
	item_writer_init(&writer, items);
	item_writer_file(&writer, "file", MANIFEST_OUTPUT);
	if (digest_is_netcdf(fd) && digest_netcdf(&writer, fd, &err) < 0 && !err.text[0])
		abort();
	item_writer_end(&writer);
	count = writer.items;
	item_writer_release(&writer);
	read_items(items, count);
	/* Half an item, or one that was damaged. */
	fwrite(data, 1, size, bytes);
	rewind(bytes);
	item_writer_read(&manifest, bytes);
	manifest_release(&manifest);
	fclose(items);
	fclose(bytes);
	close(fd);
	return 0;
}
