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

/* How a binary of the edges relates to the object. */
enum relation {
	UNRELATED,
	SAME,         /* of its identity */
	UNIDENTIFIED, /* of its name, without an identity */
	OTHER,        /* of its name, of another identity */
	N_RELATIONS,
};

static enum relation relation(const struct ep_edges_binary *binary, const struct ep_object *object)
{
	if (binary->build_id.size && ep_build_id_same(&binary->build_id, &object->build_id))
		return SAME;
	if (!has_name(binary, base_name(object->path)))
		return UNRELATED;
	return binary->build_id.size ? OTHER : UNIDENTIFIED;
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
                               const struct ep_edges_binary *other, size_t n_unidentified)
{
	char id[EP_BUILD_ID_TEXT_MAX], other_id[EP_BUILD_ID_TEXT_MAX], names[512];

	ep_build_id_format(&object->build_id, id);
	if (other)
		return ep_error_hint(
		    ep_error_create(EP_ERROR_MISMATCH,
		                    "%s: build-id %s, but the samples of that name are of %s",
		                    object->path, id,
		                    ep_build_id_format(&other->build_id, other_id)),
		    "give the binary that ran; --force takes this one all the same, with wrong "
		    "counts "
		    "where the two differ");
	if (n_unidentified > 1)
		return ep_error_hint(
		    ep_error_create(EP_ERROR_MISMATCH,
		                    "%s: several unidentified binaries have that name",
		                    object->path),
		    "give fold --binary, so that samples are identified");
	list_names(edges, names, sizeof(names));
	return ep_error_hint(
	    ep_error_create(EP_ERROR_MISSING, "%s: no samples of this binary (build-id %s)",
	                    object->path, id),
	    edges->n_binaries ? "there are samples of %s" : "there are no samples of any binary%s",
	    names);
}

/* All binaries of a relation to the object. */
static struct ep_error *take(const struct ep_edges *edges, const struct ep_object *object,
                             enum relation wanted, enum ep_emit_match match,
                             struct ep_emit_found *ret)
{
	ret->match = match;
	for (size_t i = 0; i < edges->n_binaries; i++) {
		const struct ep_edges_binary *binary = &edges->binaries[i];

		if (relation(binary, object) == wanted && !ep_vec_push(&ret->binaries, binary))
			return ep_error_nomem();
	}
	return NULL;
}

struct ep_error *ep_emit_find(const struct ep_edges *edges, const struct ep_object *object,
                              bool force, struct ep_emit_found *ret)
{
	const struct ep_edges_binary *other = NULL;
	size_t n[N_RELATIONS] = {0};

	for (size_t i = 0; i < edges->n_binaries; i++) {
		enum relation r = relation(&edges->binaries[i], object);

		n[r]++;
		if (r == OTHER)
			other = &edges->binaries[i];
	}
	if (n[SAME]) {
		ret->n_passed_over = n[UNIDENTIFIED];
		return take(edges, object, SAME, EP_EMIT_MATCH_BUILD_ID, ret);
	}
	if (n[UNIDENTIFIED] == 1 && !other)
		return take(edges, object, UNIDENTIFIED, EP_EMIT_MATCH_NAME, ret);
	if (!force || (!other && !n[UNIDENTIFIED] && edges->n_binaries != 1))
		return refuse(edges, object, other, n[UNIDENTIFIED]);
	return take(edges, object,
	            other             ? OTHER
	            : n[UNIDENTIFIED] ? UNIDENTIFIED
	                              : UNRELATED,
	            EP_EMIT_MATCH_FORCED, ret);
}

void ep_emit_found_deinit(struct ep_emit_found *found)
{
	ep_vec_deinit(&found->binaries);
}
