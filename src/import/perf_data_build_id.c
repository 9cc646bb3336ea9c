/* SPDX-License-Identifier: BSD-2-Clause */
/* Build-ids that perf.data tells apart from the maps they belong to. */
#include <inttypes.h>
#include <string.h>

#include "import/perf_data_reader.h"
#include "record/build_id.h"

/* Header, pid, 20 bytes of id, size, padding: the file name follows. */
enum { RECORD_MIN = 36, ID_BYTES = 20, KEY_MAX = 256 };
/* Paths that are kept: far more than any recording maps. */
enum { MAX_PATHS = 1 << 18 };

/* Ends `n` before a suffix, if it is there. */
static size_t without(const char *s, size_t n, const char *suffix)
{
	size_t k = strlen(suffix);

	return n >= k && !memcmp(s + n - k, suffix, k) ? n - k : n;
}

/*
 * One form for the ways a kernel file is named: "[kernel.kallsyms]_text", vmlinux and kcore become
 * "[kernel.kallsyms]"; "/lib/modules/x/nf-nat.ko.xz" and "[nf_nat]" become "[nf_nat]". Returns the
 * length of what is in buf.
 */
static size_t kernel_key(const char *path, size_t n, char buf[KEY_MAX])
{
	const char *slash = memrchr(path, '/', n), *close;
	const char *base = slash ? slash + 1 : path;
	size_t k = n - (size_t)(base - path);

	if (base[0] == '[' && (close = memchr(base, ']', k))) {
		base++;
		k = (size_t)(close - base);
	} else {
		static const char *const ends[] = {".xz", ".gz", ".zst", ".ko"};
		for (size_t i = 0; i < EP_ARRAY_LEN(ends); i++)
			k = without(base, k, ends[i]);
	}
	if ((k >= 7 && !memcmp(base, "vmlinux", 7)) || (k == 5 && !memcmp(base, "kcore", 5))) {
		base = "kernel.kallsyms";
		k = strlen(base);
	}
	k = EP_MIN(k, (size_t)KEY_MAX - 2);
	buf[0] = '[';
	for (size_t i = 0; i < k; i++)
		buf[1 + i] = base[i] == '-' ? '_' : base[i];
	buf[1 + k] = ']';
	return k + 2;
}

static struct ep_error *add(struct ep_perf_reader *r, const char *path, size_t n, bool is_kernel,
                            const struct ep_build_id *id)
{
	struct ep_perf_build_ids *ids = &r->build_ids;
	char key[KEY_MAX];
	uint32_t i;

	if (is_kernel) {
		n = kernel_key(path, n, key);
		path = key;
	}
	EP_TRY(ep_strtab_add(&ids->paths, path, n, &i));
	if (i == ids->ids.n) {
		if (!ep_vec_push(&ids->ids, (struct ep_perf_build_id){*id, is_kernel, false}))
			return ep_error_nomem();
	} else if (!ep_build_id_same(&ids->ids.v[i].id, id)) {
		ids->ids.v[i].ambiguous = true;
		ep_warn(r->warnings, "ambiguous-build-id",
		        "%s: two build-ids are given for %.*s, none is used", r->in->name, (int)n,
		        path);
	}
	return NULL;
}

/* The bytes in use when their number is not told: trailing zeros are padding. */
static size_t id_size(const unsigned char *id)
{
	size_t n = ID_BYTES;

	while (n && !id[n - 1])
		n--;
	return n;
}

struct ep_error *ep_perf_build_id_read(struct ep_perf_reader *r, const unsigned char *rec,
                                       size_t size, bool *ok_ret)
{
	*ok_ret = size > RECORD_MIN && size <= PERF_RECORD_MAX;
	if (!*ok_ret)
		return NULL;
	uint16_t misc = ep_load_u16(rec + 4, r->swap);
	unsigned mode = misc & PERF_CPUMODE_MASK;
	const unsigned char *id = rec + 12;
	const char *path = (const char *)rec + RECORD_MIN;
	size_t n = id[ID_BYTES], n_path = strnlen(path, size - RECORD_MIN);

	if (!(misc & PERF_MISC_BUILD_ID_SIZE) || !n || n > ID_BYTES)
		n = id_size(id);
	if (!n || !n_path || mode >= PERF_CPUMODE_GUEST_KERNEL || r->build_ids.ids.n >= MAX_PATHS)
		return NULL;
	struct ep_build_id build_id = ep_build_id_make(EP_BUILD_ID_GNU, id, n);
	return add(r, path, n_path, mode == PERF_CPUMODE_KERNEL, &build_id);
}

/* The id known for a path; NULL: none, or more than one. */
static const struct ep_build_id *find(const struct ep_perf_build_ids *ids, const char *path,
                                      bool is_kernel)
{
	size_t n = strlen(path);
	char key[KEY_MAX];
	uint32_t i;

	if (is_kernel) {
		n = kernel_key(path, n, key);
		path = key;
	}
	if (!ep_strtab_find(&ids->paths, path, n, &i) || ids->ids.v[i].ambiguous ||
	    ids->ids.v[i].is_kernel != is_kernel)
		return NULL;
	return &ids->ids.v[i].id;
}

struct ep_error *ep_perf_build_id_apply(struct ep_perf_reader *r, struct ep_map *map)
{
	const struct ep_build_id *id;
	struct ep_strtab *waiting =
	    map->is_kernel ? &r->build_ids.waiting_kernel : &r->build_ids.waiting;
	uint32_t i;

	if (map->build_id.size || !map->is_file)
		return NULL;
	id = find(&r->build_ids, map->path, map->is_kernel);
	if (id)
		map->build_id = *id;
	else if (r->late_ids && waiting->n < MAX_PATHS)
		return ep_strtab_add(waiting, map->path, strlen(map->path), &i);
	return NULL;
}

static struct ep_error *send_waiting(struct ep_perf_reader *r, const struct ep_strtab *waiting,
                                     bool is_kernel)
{
	for (uint32_t i = 0; i < waiting->n; i++) {
		struct ep_event event = {.type = EP_EVENT_BUILD_ID};
		const char *path = ep_strtab_get(waiting, i);
		const struct ep_build_id *id = find(&r->build_ids, path, is_kernel);
		if (!id)
			continue;
		event.u.build_id.path = path;
		event.u.build_id.build_id = *id;
		event.u.build_id.is_kernel = is_kernel;
		EP_TRY(ep_perf_send(r, &event));
	}
	return NULL;
}

struct ep_error *ep_perf_build_ids_send(struct ep_perf_reader *r)
{
	EP_TRY(send_waiting(r, &r->build_ids.waiting_kernel, true));
	return send_waiting(r, &r->build_ids.waiting, false);
}

void ep_perf_build_ids_deinit(struct ep_perf_build_ids *ids)
{
	ep_strtab_deinit(&ids->paths);
	ep_strtab_deinit(&ids->waiting);
	ep_strtab_deinit(&ids->waiting_kernel);
	ep_vec_deinit(&ids->ids);
}
