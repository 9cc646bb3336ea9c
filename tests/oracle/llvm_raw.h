/* SPDX-License-Identifier: BSD-2-Clause */
/* What the programs that read and write llvm-profgen's unsymbolised profiles share. */
#ifndef EP_TESTS_LLVM_RAW_H
#define EP_TESTS_LLVM_RAW_H

#include <stdio.h>

#include "object/object.h"

/* Where addresses (vaddr) count from: the page, of 4 KiB, of the first executable segment. */
static inline uint64_t llvm_raw_base(const struct ep_object *object)
{
	for (size_t i = 0; i < object->n_segments; i++)
		if (object->segments[i].executable)
			return object->segments[i].vaddr & ~UINT64_C(0xfff);
	return 0;
}

/* Ends the program if there is an error. */
static inline void llvm_raw_check(const char *program, struct ep_error *err)
{
	if (!err)
		return;
	fprintf(stderr, "%s: %s\n", program, err->message);
	if (err->hint)
		fprintf(stderr, "hint: %s\n", err->hint);
	exit(2);
}

#endif
