/* SPDX-License-Identifier: BSD-2-Clause */
/* Which of the binaries in the edges is the one that was given. */
#include <stdio.h>
#include <string.h>

#include "emit/emit.h"

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* perf marks files that were replaced while they ran. */
static size_t name_length(const char *name)
{
	size_t n = strlen(name), n_mark = strlen(" (deleted)");

	return n > n_mark && !strcmp(name + n - n_mark, " (deleted)") ? n - n_mark : n;
}

static bool has_name(const struct ep_edges_binary *binary, const char *name)
{
	for (uint32_t i = 0; i < binary->n_paths; i++) {
		const char *other = base_name(binary->paths[i]);
		size_t n = name_length(other);

		if (n == name_length(name) && !strncmp(other, name, n))
			return true;
	}
	return false;
}

struct candidates {
	size_t same, unidentified, other; /* indexes */
	size_t n_same, n_unidentified, n_other;
};

static struct candidates find_candidates(const struct ep_edges *edges,
                                         const struct ep_object *object)
{
	const char *name = base_name(object->path);
	struct candidates c = {0};

	for (size_t i = 0; i < edges->n_binaries; i++) {
		const struct ep_edges_binary *binary = &edges->binaries[i];

		if (binary->build_id.size &&
		    ep_build_id_same(&binary->build_id, &object->build_id)) {
			c.n_same++;
			c.same = i;
		} else if (has_name(binary, name) && !binary->build_id.size) {
			c.n_unidentified++;
			c.unidentified = i;
		} else if (has_name(binary, name)) {
			c.n_other++;
			c.other = i;
		}
	}
	return c;
}

/* "a, b, c and 4 more": the binaries that are there. */
static void list_names(const struct ep_edges *edges, char *buf, size_t size)
{
	size_t n = 0, shown = EP_MIN(edges->n_binaries, (size_t)4);

	buf[0] = 0;
	for (size_t i = 0; i < shown && n < size; i++) {
		const struct ep_edges_binary *binary = &edges->binaries[i];
		char id[EP_BUILD_ID_TEXT_MAX];

		n += (size_t)snprintf(buf + n, size - n, "%s%s (%s)", i ? ", " : "",
		                      binary->n_paths ? base_name(binary->paths[0]) : "?",
		                      ep_build_id_format(&binary->build_id, id));
	}
	if (edges->n_binaries > shown && n < size)
		snprintf(buf + n, size - n, " and %zu more", edges->n_binaries - shown);
}

static struct ep_error *refuse(const struct ep_edges *edges, const struct ep_object *object,
                               const struct candidates *c)
{
	char id[EP_BUILD_ID_TEXT_MAX], other_id[EP_BUILD_ID_TEXT_MAX], names[512];

	ep_build_id_format(&object->build_id, id);
	if (c->n_other) {
		const struct ep_edges_binary *other = &edges->binaries[c->other];

		return ep_error_hint(
		    ep_error_create(EP_ERROR_MISMATCH,
		                    "%s: build-id %s, but the samples of that name are of %s",
		                    object->path, id,
		                    ep_build_id_format(&other->build_id, other_id)),
		    "give the binary that ran; --force takes this one all the same, with wrong "
		    "counts "
		    "where the two differ");
	}
	list_names(edges, names, sizeof(names));
	if (c->n_unidentified > 1)
		return ep_error_hint(
		    ep_error_create(EP_ERROR_MISMATCH,
		                    "%s: several unidentified binaries have that name",
		                    object->path),
		    "give fold --binary, so that samples are identified");
	return ep_error_hint(
	    ep_error_create(EP_ERROR_MISSING, "%s: no samples of this binary (build-id %s)",
	                    object->path, id),
	    edges->n_binaries ? "there are samples of %s" : "there are no samples of any binary%s",
	    names);
}

struct ep_error *ep_emit_find(const struct ep_edges *edges, const struct ep_object *object,
                              bool force, size_t *i_ret, enum ep_emit_match *match_ret)
{
	struct candidates c = find_candidates(edges, object);

	if (c.n_same) {
		*i_ret = c.same;
		*match_ret = EP_EMIT_MATCH_BUILD_ID;
	} else if (c.n_unidentified == 1 && !c.n_other) {
		*i_ret = c.unidentified;
		*match_ret = EP_EMIT_MATCH_NAME;
	} else if (force && (c.n_other || c.n_unidentified || edges->n_binaries == 1)) {
		*i_ret = c.n_other ? c.other : c.n_unidentified ? c.unidentified : 0;
		*match_ret = EP_EMIT_MATCH_FORCED;
	} else {
		return refuse(edges, object, &c);
	}
	return NULL;
}
