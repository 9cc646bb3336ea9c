/* SPDX-License-Identifier: BSD-2-Clause */
/* Fuzz entry: sample profiles, from seeds in the text format. */
#include "sprof.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	fuzz_profile(data, size);
	return 0;
}
