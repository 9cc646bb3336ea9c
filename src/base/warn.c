/* SPDX-License-Identifier: BSD-2-Clause */
/* A small table of warning kinds. */
#include "base/warn.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static struct ep_warning *find(const struct ep_warnings *warnings, const char *kind)
{
	for (size_t i = 0; i < warnings->n; i++)
		if (!strcmp(warnings->v[i].kind, kind))
			return (struct ep_warning *)&warnings->v[i];
	return NULL;
}

void ep_warn(struct ep_warnings *warnings, const char *kind, const char *fmt, ...)
{
	struct ep_warning *w = warnings ? find(warnings, kind) : NULL;
	va_list args;

	if (!warnings)
		return;
	if (!w && warnings->n == EP_ARRAY_LEN(warnings->v))
		w = &warnings->v[warnings->n - 1];
	if (!w) {
		w = &warnings->v[warnings->n++];
		*w = (struct ep_warning){.kind = kind};
		va_start(args, fmt);
		if (vasprintf(&w->first, fmt, args) < 0)
			w->first = NULL;
		va_end(args);
	}
	w->count++;
}

uint64_t ep_warn_count(const struct ep_warnings *warnings, const char *kind)
{
	const struct ep_warning *w = find(warnings, kind);

	return w ? w->count : 0;
}

void ep_warnings_deinit(struct ep_warnings *warnings)
{
	for (size_t i = 0; i < warnings->n; i++)
		free(warnings->v[i].first);
	*warnings = (struct ep_warnings){0};
}
