/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The smallest program that does I/O, to measure the overhead of capture at start and exit.
 */
#include <unistd.h>

int main(void)
{
	return write(STDOUT_FILENO, "x", 1) != 1;
}
