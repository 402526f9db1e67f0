/* SPDX-License-Identifier: BSD-3-Clause */
#include "cmd/format_option.h"

#include "base/option.h"

const struct trace_format *format_option(int choice)
{
	char word[16] = "";

	if (choice >= 0)
		option_choice_name(FORMAT_WORDS, choice, word, sizeof(word));
	return trace_format_by_name(word);
}
