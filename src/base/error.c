/* SPDX-License-Identifier: BSD-2-Clause */
/* Error objects: one heap block for the object, strings beside it. */
#include "base/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static struct ep_error nomem = {
    .code = EP_ERROR_NOMEM,
    .message = "out of memory",
};

struct ep_error *ep_error_nomem(void)
{
	return &nomem;
}

static struct ep_error *create(enum ep_error_code code, int os_errno, char *message)
{
	struct ep_error *err = message ? malloc(sizeof(*err)) : NULL;

	if (!err) {
		free(message);
		return &nomem;
	}
	*err = (struct ep_error){.code = code, .os_errno = os_errno, .message = message};
	return err;
}

static EP_PRINTF(1, 0) char *format(const char *fmt, va_list args)
{
	char *text;

	return vasprintf(&text, fmt, args) < 0 ? NULL : text;
}

struct ep_error *ep_error_create(enum ep_error_code code, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	char *message = format(fmt, args);
	va_end(args);
	return create(code, 0, message);
}

struct ep_error *ep_error_os(int os_errno, const char *fmt, ...)
{
	va_list args;
	char *message;

	va_start(args, fmt);
	ep_autofree char *what = format(fmt, args);
	va_end(args);
	if (!what || asprintf(&message, "%s: %s", what, strerror(os_errno)) < 0)
		return &nomem;
	return create(EP_ERROR_OS, os_errno, message);
}

struct ep_error *ep_error_wrap(struct ep_error *err, const char *fmt, ...)
{
	va_list args;
	char *message;

	if (!err || err == &nomem)
		return err;
	va_start(args, fmt);
	ep_autofree char *context = format(fmt, args);
	va_end(args);
	if (!context || asprintf(&message, "%s: %s", context, err->message) < 0) {
		ep_error_destroy(err);
		return &nomem;
	}
	free((char *)err->message);
	err->message = message;
	return err;
}

struct ep_error *ep_error_hint(struct ep_error *err, const char *fmt, ...)
{
	va_list args;

	if (!err || err == &nomem || err->hint)
		return err;
	va_start(args, fmt);
	err->hint = format(fmt, args);
	va_end(args);
	return err;
}

void ep_error_destroy(struct ep_error *err)
{
	if (!err || err == &nomem)
		return;
	free((char *)err->message);
	free((char *)err->hint);
	free(err);
}
