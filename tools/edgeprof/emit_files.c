/* SPDX-License-Identifier: BSD-2-Clause */
/* Where binaries and debug files are looked for. */
#include "emit_files.h"

#include <string.h>

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* True if the file at `path` has this identity. Whatever else it is does not matter. */
static bool is_file_of(const char *path, const struct ep_build_id *id)
{
	struct ep_build_id found;
	ep_autoerr err = ep_object_build_id(path, &found, NULL);

	return !err && ep_build_id_same(&found, id);
}

/* Formats a path and keeps it in *ret if its file has the identity. */
static struct ep_error *try(char **ret, const struct ep_build_id *id, const char *fmt, ...)
    EP_PRINTF(3, 4);

static struct ep_error *try(char **ret, const struct ep_build_id *id, const char *fmt, ...)
{
	char *path;
	va_list ap;

	if (*ret)
		return NULL;
	va_start(ap, fmt);
	int n = vasprintf(&path, fmt, ap);
	va_end(ap);
	if (n < 0)
		return ep_error_nomem();
	if (is_file_of(path, id))
		*ret = path;
	else
		free(path);
	return NULL;
}

/* FOLDER/.build-id/ab/cdef...SUFFIX */
static struct ep_error *try_build_id(char **ret, const struct ep_build_id *id, const char *folder,
                                     const char *suffix)
{
	char text[EP_BUILD_ID_TEXT_MAX];

	if (id->kind != EP_BUILD_ID_GNU || id->size < 2)
		return NULL;
	ep_build_id_format(id, text);
	return try(ret, id, "%s/.build-id/%.2s/%s%s", folder, text, text + 2, suffix);
}

static struct ep_error *search_binary(const struct ep_edges_binary *binary, const char *place,
                                      char **ret)
{
	EP_TRY(try(ret, &binary->build_id, "%s", place));
	for (uint32_t i = 0; i < binary->n_paths; i++) {
		EP_TRY(try(ret, &binary->build_id, "%s/%s", place, binary->paths[i]));
		EP_TRY(try(ret, &binary->build_id, "%s/%s", place, base_name(binary->paths[i])));
	}
	return try_build_id(ret, &binary->build_id, place, "");
}

struct ep_error *ep_emit_find_binary(const struct ep_edges_binary *binary,
                                     const char *const *search, size_t n_search,
                                     struct ep_object **ret)
{
	ep_autofree char *path = NULL;

	*ret = NULL;
	if (!binary->build_id.size)
		return NULL;
	for (size_t i = 0; i < n_search; i++)
		EP_TRY(search_binary(binary, search[i], &path));
	for (uint32_t i = 0; i < binary->n_paths; i++)
		EP_TRY(try(&path, &binary->build_id, "%s", binary->paths[i]));
	return path ? ep_object_open(path, ret) : NULL;
}

static struct ep_error *check_given(const struct ep_object *binary, const char *given, bool force)
{
	char id[EP_BUILD_ID_TEXT_MAX], other_id[EP_BUILD_ID_TEXT_MAX];
	struct ep_build_id other;

	EP_TRY(ep_object_build_id(given, &other, NULL));
	/* A content hash tells nothing here: the files differ. */
	if (force || other.kind != EP_BUILD_ID_GNU || binary->build_id.kind != EP_BUILD_ID_GNU ||
	    ep_build_id_same(&other, &binary->build_id))
		return NULL;
	return ep_error_hint(
	    ep_error_create(EP_ERROR_MISMATCH, "%s: build-id %s, but %s has %s", given,
	                    ep_build_id_format(&other, other_id), binary->path,
	                    ep_build_id_format(&binary->build_id, id)),
	    "give the debug file that was split from this binary; --force takes this one all the "
	    "same");
}

static struct ep_error *search_debug(const struct ep_object *binary, const char *const *search,
                                     size_t n_search, char **ret)
{
	const struct ep_build_id *id = &binary->build_id;
	int n_folder = (int)(base_name(binary->path) - binary->path);
	const char *link, *folder = n_folder ? binary->path : "./";
	uint32_t crc;

	n_folder = n_folder ? n_folder : 2;
	for (size_t i = 0; i < n_search; i++) {
		EP_TRY(try_build_id(ret, id, search[i], ".debug"));
		EP_TRY(try(ret, id, "%s/%s.debug", search[i], base_name(binary->path)));
	}
	if (ep_object_debuglink(binary, &link, &crc)) {
		EP_TRY(try(ret, id, "%.*s%s", n_folder, folder, link));
		EP_TRY(try(ret, id, "%.*s.debug/%s", n_folder, folder, link));
		for (size_t i = 0; i < n_search; i++)
			EP_TRY(try(ret, id, "%s/%s", search[i], link));
	}
	return try_build_id(ret, id, "/usr/lib/debug", ".debug");
}

struct ep_error *ep_emit_find_debug(const struct ep_object *binary, const char *given, bool force,
                                    const char *const *search, size_t n_search, char **ret)
{
	ep_autofree char *path = NULL;

	if (given)
		EP_TRY(check_given(binary, given, force));
	else if (!ep_object_section(binary, ".debug_info"))
		EP_TRY(search_debug(binary, search, n_search, &path));
	if (!path)
		path = strdup(given ? given : binary->path);
	if (!path)
		return ep_error_nomem();
	*ret = ep_take(path);
	return NULL;
}
