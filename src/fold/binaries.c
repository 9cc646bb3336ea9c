/* SPDX-License-Identifier: BSD-2-Clause */
/* Which binary a map belongs to. */
#include "fold/binaries.h"

#include <string.h>
#include <sys/stat.h>

#include "base/bytes.h"

static const char deleted[] = " (deleted)";

static bool is_deleted(const char *path, size_t n)
{
	size_t n_tail = sizeof(deleted) - 1;

	return n > n_tail && !memcmp(path + n - n_tail, deleted, n_tail);
}

/* The last component, without " (deleted)"; borrowed. */
static const char *basename_of(const char *path, size_t *n_ret)
{
	size_t n = strlen(path);

	if (is_deleted(path, n))
		n -= sizeof(deleted) - 1;
	const char *slash = memrchr(path, '/', n);
	const char *name = slash ? slash + 1 : path;
	*n_ret = n - (size_t)(name - path);
	return name;
}

static struct ep_error *open_given(struct ep_fold_binaries *binaries, const char *path)
{
	size_t n, n_have;
	const char *name = basename_of(path, &n);
	struct ep_object *object;

	for (size_t i = 0; i < binaries->n_given; i++) {
		const char *have = basename_of(binaries->given[i]->path, &n_have);
		if (n == n_have && !memcmp(name, have, n))
			return ep_error_create(EP_ERROR_USAGE,
			                       "%s: a binary of that name is given twice", path);
	}
	EP_TRY(ep_object_open(path, &object));
	binaries->given[binaries->n_given++] = object;
	return NULL;
}

struct ep_error *ep_fold_binaries_init(struct ep_fold_binaries *binaries,
                                       const struct ep_fold_opts *opts,
                                       struct ep_warnings *warnings)
{
	*binaries = (struct ep_fold_binaries){.warnings = warnings};
	if (opts->n_binaries) {
		binaries->given = calloc(opts->n_binaries, sizeof(*binaries->given));
		if (!binaries->given)
			return ep_error_nomem();
	}
	for (size_t i = 0; i < opts->n_binaries; i++)
		EP_TRY(open_given(binaries, opts->binary_paths[i]));
	return NULL;
}

void ep_fold_binaries_deinit(struct ep_fold_binaries *binaries)
{
	for (size_t i = 0; i < binaries->n_given; i++)
		ep_object_close(binaries->given[i]);
	free(binaries->given);
	ep_vec_deinit(&binaries->all);
	ep_vec_deinit(&binaries->files);
	ep_vec_deinit(&binaries->late);
	ep_strtab_deinit(&binaries->keys);
	ep_strtab_deinit(&binaries->paths);
	ep_strtab_deinit(&binaries->hints);
	ep_strtab_deinit(&binaries->file_keys);
}

/*
 * The identity of the file that is at `path` now. Each state of a file is looked at once: while a
 * capture runs a file may be replaced under its path.
 */
static struct ep_error *look_at_file(struct ep_fold_binaries *binaries, const char *path,
                                     struct ep_fold_file *ret)
{
	struct ep_fold_file file = {0};
	struct stat st;
	uint32_t i;

	*ret = file;
	if (path[0] != '/' || is_deleted(path, strlen(path)) || stat(path, &st) < 0 ||
	    !S_ISREG(st.st_mode))
		return NULL;
	struct ep_buf key = {0};
	ep_buf_put(&key, path, strlen(path) + 1);
	ep_buf_u64(&key, (uint64_t)st.st_dev);
	ep_buf_u64(&key, (uint64_t)st.st_ino);
	ep_buf_u64(&key, (uint64_t)st.st_size);
	ep_buf_u64(&key, (uint64_t)st.st_mtim.tv_sec);
	ep_buf_u64(&key, (uint64_t)st.st_mtim.tv_nsec);
	struct ep_error *err = key.failed
	                           ? ep_error_nomem()
	                           : ep_strtab_add(&binaries->file_keys, (char *)key.v, key.n, &i);
	ep_buf_deinit(&key);
	if (err)
		return err;
	if (i == binaries->files.n) {
		/* A file that cannot be read or is not ELF just gives no identity. */
		ep_error_destroy(ep_object_build_id(path, &file.id, &file.machine));
		if (!ep_vec_push(&binaries->files, file))
			return ep_error_nomem();
	}
	*ret = binaries->files.v[i];
	return NULL;
}

static const struct ep_object *given_by_name(const struct ep_fold_binaries *binaries,
                                             const char *path, bool is_kernel)
{
	size_t n, n_have;
	const char *name = basename_of(path, &n);

	for (size_t i = 0; i < binaries->n_given; i++) {
		const char *have = basename_of(binaries->given[i]->path, &n_have);
		if (n == n_have && !memcmp(name, have, n))
			return binaries->given[i];
		if (is_kernel && name[0] == '[' && n_have >= 7 && !memcmp(have, "vmlinux", 7))
			return binaries->given[i];
	}
	return NULL;
}

static const struct ep_object *given_by_id(const struct ep_fold_binaries *binaries,
                                           const struct ep_build_id *id)
{
	for (size_t i = 0; i < binaries->n_given; i++)
		if (ep_build_id_same(&binaries->given[i]->build_id, id))
			return binaries->given[i];
	return NULL;
}

/* The path that late build-ids name: of "[kernel.kallsyms]_text" up to the "]". */
static size_t path_length(const char *path)
{
	const char *end = path[0] == '[' ? strchr(path, ']') : NULL;

	return end ? (size_t)(end + 1 - path) : strlen(path);
}

static struct ep_error *add_hint(struct ep_fold_binaries *binaries, uint32_t i, const char *path,
                                 size_t n_path)
{
	struct ep_buf hint = {0};
	uint32_t i_hint;

	ep_buf_put(&hint, &i, sizeof(i));
	ep_buf_put(&hint, path, n_path);
	struct ep_error *err =
	    hint.failed ? ep_error_nomem()
	                : ep_strtab_add(&binaries->hints, (char *)hint.v, hint.n, &i_hint);
	ep_buf_deinit(&hint);
	return err;
}

/* What makes two maps belong to one binary: the id in the input, else path and what was found. */
static void put_key(const struct ep_fold_binary *binary, const char *path, size_t n_path,
                    struct ep_buf *key)
{
	bool own = binary->build_id.size;
	const struct ep_build_id *id = own ? &binary->build_id : &binary->found;

	ep_buf_u8(key, binary->linked);
	ep_buf_u8(key, (uint8_t)binary->space);
	ep_buf_u8(key, own);
	ep_buf_u8(key, id->kind);
	ep_buf_put(key, id->bytes, sizeof(id->bytes));
	if (!own)
		ep_buf_put(key, path, n_path);
}

/* The number of a binary; EP_FOLD_BIN_OVERFLOW if there is none left. */
static struct ep_error *number_of(struct ep_fold_binaries *binaries, const char *path,
                                  const struct ep_fold_binary *binary, uint32_t *ret)
{
	struct ep_fold_binary new = *binary;
	size_t n_path = path_length(path);
	struct ep_buf key = {0};
	uint32_t i = 0;

	EP_TRY(ep_strtab_add(&binaries->paths, path, n_path, &new.i_path));
	put_key(binary, path, n_path, &key);
	struct ep_error *err = key.failed ? ep_error_nomem() : NULL;
	if (!err)
		err = ep_strtab_add(&binaries->keys, (char *)key.v, key.n, &i);
	ep_buf_deinit(&key);
	if (err)
		return err;
	if (i >= EP_FOLD_BIN_END - EP_FOLD_BIN_FIRST) {
		ep_warn(binaries->warnings, "too-many-binaries",
		        "%s: more than %d binaries in one input: records in it are dropped", path,
		        EP_FOLD_BIN_END - EP_FOLD_BIN_FIRST);
		*ret = EP_FOLD_BIN_OVERFLOW;
		return NULL;
	}
	if (i == binaries->all.n && !ep_vec_push(&binaries->all, new))
		return ep_error_nomem();
	struct ep_fold_binary *have = &binaries->all.v[i];
	/* perf pads ids with zeros where it does not record their size: the shortest is right. */
	have->build_id.size = EP_MIN(have->build_id.size, binary->build_id.size);
	have->machine = EP_MAX(have->machine, binary->machine);
	*ret = EP_FOLD_BIN_FIRST + i;
	return add_hint(binaries, i, path, n_path);
}

/* Identity in the order of rule 8. */
static struct ep_error *identify(struct ep_fold_binaries *binaries, const struct ep_map *map,
                                 struct ep_fold_binary *binary)
{
	struct ep_fold_file file = {0};
	const struct ep_object *object;

	binary->build_id = map->build_id;
	if (binary->build_id.size) {
		object = given_by_id(binaries, &binary->build_id);
		if (object)
			binary->machine = object->machine;
		return NULL;
	}
	EP_TRY(look_at_file(binaries, map->path, &file));
	object = file.id.size ? NULL : given_by_name(binaries, map->path, map->is_kernel);
	binary->found = object ? object->build_id : file.id;
	binary->machine = object ? object->machine : file.machine;
	binary->given = object;
	return NULL;
}

/*
 * How far a kernel image runs from where it is linked. perf gives as pgoff of the map of
 * "[kernel.kallsyms]_text" the run-time address of the symbol behind the "]"; _stext begins .text,
 * _text the image. Without the image at hand run-time addresses are kept: they are the linked ones
 * unless the kernel was started at a random address.
 */
static uint64_t kernel_slide(const struct ep_fold_binaries *binaries, const struct ep_map *map,
                             const struct ep_fold_binary *binary)
{
	const struct ep_object *object = binary->build_id.size
	                                     ? given_by_id(binaries, &binary->build_id)
	                                     : given_by_name(binaries, map->path, true);
	const char *symbol = strchr(map->path, ']');
	const struct ep_section *text = object ? ep_object_section(object, ".text") : NULL;

	if (!object || !symbol || !object->n_text)
		return 0;
	if (!strcmp(symbol, "]_stext") && text)
		return map->pgoff - text->vaddr;
	return strcmp(symbol, "]_text") ? 0 : map->pgoff - object->text[0].vaddr;
}

bool ep_fold_is_kernel_image(const struct ep_map *map)
{
	return map->is_kernel && !strncmp(map->path, "[kernel", 7);
}

/* Kernel vaddrs must be canonical in 48 bits, file offsets fit in them. */
static bool fits(uint64_t address, uint64_t len, enum ep_space space)
{
	uint64_t last = address + (len - 1), top = UINT64_C(1) << (EP_FOLD_BIN_SHIFT - 1);

	return last >= address && (last < top || (space == EP_SPACE_VADDR && address >= -top));
}

struct ep_error *ep_fold_binaries_place(struct ep_fold_binaries *binaries, const struct ep_map *map,
                                        struct ep_fold_map *ret)
{
	const uint64_t half = -(UINT64_C(1) << (EP_FOLD_BIN_SHIFT - 1));
	bool image = ep_fold_is_kernel_image(map);
	struct ep_fold_binary binary = {.space = image ? EP_SPACE_VADDR : EP_SPACE_FOFF};
	uint32_t number = EP_FOLD_BIN_ANON;
	uint64_t address = map->pgoff, skip = 0;

	if (!map->len || map->start + (map->len - 1) < map->start) {
		*ret = (struct ep_fold_map){0};
		return NULL;
	}
	if (map->is_file || map->is_kernel) {
		EP_TRY(identify(binaries, map, &binary));
		if (image)
			address = map->start - kernel_slide(binaries, map, &binary);
		/* A map that begins far in front of the image: nothing of it is there. */
		if (image && map->start >= half && address < half && half - address < map->len)
			skip = half - address;
		if (fits(address + skip, map->len - skip, binary.space))
			EP_TRY(number_of(binaries, map->path, &binary, &number));
		else
			number = map->start >> 63 ? EP_FOLD_BIN_KERNEL : EP_FOLD_BIN_UNMAPPED;
	}
	*ret = ep_fold_map_make(map->start + skip, map->len - skip, number, address + skip);
	return NULL;
}

struct ep_error *ep_fold_binaries_linked(struct ep_fold_binaries *binaries,
                                         struct ep_fold_room *room, struct ep_fold_maps **ret)
{
	struct ep_fold_maps *maps = NULL;
	struct ep_error *err = NULL;
	uint32_t number;

	*ret = NULL;
	if (binaries->n_given != 1)
		return NULL;
	const struct ep_object *object = binaries->given[0];
	struct ep_fold_binary binary = {
	    .found = object->build_id, .machine = object->machine, .linked = true};
	EP_TRY(number_of(binaries, object->path, &binary, &number));
	for (size_t i = 0; !err && i < object->n_segments; i++) {
		const struct ep_segment *s = &object->segments[i];
		struct ep_fold_map map = ep_fold_map_make(s->vaddr, s->file_size, number, s->foff);
		if (s->executable && s->file_size && fits(s->foff, s->file_size, EP_SPACE_FOFF))
			err = ep_fold_maps_add(&maps, &map, room);
	}
	if (err) {
		ep_fold_maps_unref(maps);
		return err;
	}
	*ret = maps;
	return NULL;
}

struct ep_error *ep_fold_binaries_late(struct ep_fold_binaries *binaries, const char *path,
                                       const struct ep_build_id *id)
{
	uint32_t i;

	if (!ep_strtab_find(&binaries->paths, path, path_length(path), &i))
		return NULL;
	size_t n_more = i >= binaries->late.n ? i + 1 - binaries->late.n : 0;
	if (!ep_vec_reserve(&binaries->late, n_more))
		return ep_error_nomem();
	for (; binaries->late.n <= i; binaries->late.n++)
		binaries->late.v[binaries->late.n] = (struct ep_build_id){0};
	binaries->late.v[i] = *id;
	return NULL;
}

/* Whether the identity is that of the file looked at or given, for want of a better one. */
static bool goes_by_found(const struct ep_fold_binaries *binaries,
                          const struct ep_fold_binary *binary)
{
	bool late = !binary->linked && binary->i_path < binaries->late.n &&
	            binaries->late.v[binary->i_path].size;

	return !binary->build_id.size && !late;
}

static const struct ep_build_id *final_id(const struct ep_fold_binaries *binaries,
                                          const struct ep_fold_binary *binary)
{
	if (goes_by_found(binaries, binary))
		return &binary->found;
	return binary->build_id.size ? &binary->build_id : &binaries->late.v[binary->i_path];
}

void ep_fold_binaries_warn(const struct ep_fold_binaries *binaries, uint32_t i)
{
	const struct ep_fold_binary *binary = &binaries->all.v[i];
	const char *path = ep_strtab_get(&binaries->paths, binary->i_path);

	if (binary->linked || !goes_by_found(binaries, binary))
		return;
	if (!binary->found.size && path[0] == '[')
		ep_warn(binaries->warnings, "no-kernel-identity",
		        "%s: no build-id in the input: known by this name only", path);
	else if (!binary->found.size)
		ep_warn(binaries->warnings, "no-identity",
		        "%s: no build-id in the input and no such file here: known by this path "
		        "only, unless --binary says where it is",
		        path);
	else
		ep_warn(binaries->warnings, binary->given ? "identity-by-name" : "identity-by-path",
		        "%s: the input has no build-id for it: taken for %s", path,
		        binary->given ? binary->given->path : "the file that is there now");
}

static void warn_unused(const struct ep_fold_binaries *binaries, const struct ep_object *given)
{
	char own[EP_BUILD_ID_TEXT_MAX], mapped[EP_BUILD_ID_TEXT_MAX];
	const struct ep_build_id *id = NULL;
	size_t n, n_have;
	const char *name = basename_of(given->path, &n);

	for (size_t i = 0; i < binaries->all.n; i++) {
		const struct ep_fold_binary *binary = &binaries->all.v[i];
		const char *have =
		    basename_of(ep_strtab_get(&binaries->paths, binary->i_path), &n_have);
		if (ep_build_id_same(final_id(binaries, binary), &given->build_id) &&
		    !binary->linked)
			return;
		if (!binary->linked && n == n_have && !memcmp(name, have, n))
			id = final_id(binaries, binary);
	}
	ep_build_id_format(&given->build_id, own);
	if (id)
		ep_warn(binaries->warnings, "unused-binary",
		        "%s: its build-id is %s, but what ran under that name has %s", given->path,
		        own, ep_build_id_format(id, mapped));
	else
		ep_warn(binaries->warnings, "unused-binary",
		        "%s: nothing of that name or build-id (%s) is mapped in the input",
		        given->path, own);
}

void ep_fold_binaries_warn_given(const struct ep_fold_binaries *binaries)
{
	for (size_t i = 0; i < binaries->n_given; i++)
		warn_unused(binaries, binaries->given[i]);
}

struct ep_error *ep_fold_binaries_export(const struct ep_fold_binaries *binaries,
                                         struct ep_arena *arena, struct ep_edges_binary *ret)
{
	uint32_t i;

	for (size_t h = 0; h < binaries->hints.n; h++) {
		memcpy(&i, ep_strtab_get(&binaries->hints, (uint32_t)h), sizeof(i));
		ret[i].n_paths++;
	}
	for (i = 0; i < binaries->all.n; i++) {
		const struct ep_fold_binary *binary = &binaries->all.v[i];
		ret[i].build_id = *final_id(binaries, binary);
		ret[i].space = binary->space;
		ret[i].machine = binary->machine;
		ret[i].paths = ep_arena_calloc(arena, ret[i].n_paths, sizeof(*ret[i].paths));
		if (!ret[i].paths)
			return ep_error_nomem();
		ret[i].n_paths = 0;
	}
	for (size_t h = 0; h < binaries->hints.n; h++) {
		const char *hint = ep_strtab_get(&binaries->hints, (uint32_t)h);
		size_t n = ep_strtab_len(&binaries->hints, (uint32_t)h);
		memcpy(&i, hint, sizeof(i));
		const char *path = ep_arena_strndup(arena, hint + sizeof(i), n - sizeof(i));
		if (!path)
			return ep_error_nomem();
		/* An unidentified binary is named by one path only; see number_of(). */
		ret[i].paths[ret[i].n_paths++] = path;
	}
	return NULL;
}
