/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The functions of a module. They return 0 on success. A module writes one file with one dataset of
 * the same name.
 */
#ifndef SLUICE_TESTS_MODULE_H
#define SLUICE_TESTS_MODULE_H

#include <stdint.h>

int module_begin(const char *path, unsigned long long numbers);
int module_write(const int *numbers);
int module_end(void);

#endif
