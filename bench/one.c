/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The least program that does I/O: what a start and an exit under capture cost, and nothing
 * besides.
 */
#include <unistd.h>

int main(void)
{
	return write(STDOUT_FILENO, "x", 1) != 1;
}
