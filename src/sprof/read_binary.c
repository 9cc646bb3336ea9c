/* SPDX-License-Identifier: BSD-2-Clause */
/* Plain binary and ExtBinary of version 103. */
#include <string.h>

#include "sprof/private.h"

#define TABLE_ENTRY_SIZE 32
#define N_SECTIONS_MAX 4096

struct binary_reader {
	struct ep_sprof *prof;
	const struct ep_sprof_read_opts *opts;
	const char *name;
	struct ep_bytes b;     /* the file, then the section being read */
	const char *where;     /* the section's name, for errors */
	uint64_t where_offset; /* of b.begin in the file */
	bool unpacked;         /* b is decompressed: offsets are in it, not in the file */
	bool has_vtables;
	EP_VEC(uint32_t) names; /* of the current name table */
	uint64_t n_bodies;      /* read so far */
	uint64_t n_told;        /* number of functions by the summary */
	uint32_t metadata;      /* EP_SPROF_HAS_CHECKSUM | EP_SPROF_HAS_ATTRIBUTES */
};

static const char *section_name(uint64_t type)
{
	switch (type) {
	case SEC_SUMMARY:
		return "summary";
	case SEC_NAME_TABLE:
		return "name table";
	case SEC_SYMBOL_LIST:
		return "symbol list";
	case SEC_FUNC_OFFSETS:
		return "function offset table";
	case SEC_FUNC_METADATA:
		return "function metadata";
	case SEC_CONTEXT_TABLE:
		return "context table";
	case SEC_BODIES:
		return "function bodies";
	case EP_SPROF_SECTION_PROVENANCE:
		return "provenance";
	default:
		return "unknown section";
	}
}

static struct ep_error *bad_at(const struct binary_reader *r, const char *what)
{
	uint64_t offset = r->where_offset + ep_bytes_offset(&r->b);

	return ep_error_create(EP_ERROR_BAD_DATA, "%s: %s: %s at offset 0x%llx%s", r->name,
	                       r->where, what, (unsigned long long)offset,
	                       r->unpacked ? " of the decompressed section" : "");
}

/* What was wrong with the number or string just read. */
static struct ep_error *bad_bytes(const struct binary_reader *r)
{
	return bad_at(r, "truncated or malformed data");
}

static uint64_t number(struct binary_reader *r)
{
	return ep_bytes_uleb(&r->b);
}

static struct ep_error *read_name(struct binary_reader *r, uint32_t *ret)
{
	uint64_t i = number(r);

	if (r->b.failed)
		return bad_bytes(r);
	if (i >= r->names.n)
		return bad_at(r, "name index beyond the name table");
	*ret = r->names.v[i];
	return NULL;
}

static struct ep_error *read_location(struct binary_reader *r, uint32_t *offset_ret,
                                      uint32_t *discriminator_ret)
{
	uint64_t offset = number(r), discriminator = number(r);

	if (r->b.failed)
		return bad_bytes(r);
	if (offset > EP_SPROF_OFFSET_MAX)
		return bad_at(r, "line offset over 65535");
	if (discriminator > UINT32_MAX)
		return bad_at(r, "discriminator over 32 bits");
	*offset_ret = (uint32_t)offset;
	*discriminator_ret = (uint32_t)discriminator;
	return NULL;
}

static struct ep_error *read_targets(struct binary_reader *r, struct ep_sprof_record *record,
                                     uint64_t n)
{
	for (; n; n--) {
		uint32_t name = 0;
		EP_TRY(read_name(r, &name));
		uint64_t count = number(r);
		if (r->b.failed)
			return bad_bytes(r);
		EP_TRY(ep_sprof_target_add(r->prof, record, name, count));
	}
	return NULL;
}

static struct ep_error *read_records(struct binary_reader *r, struct ep_sprof_func *func)
{
	for (uint64_t n = number(r); n && !r->b.failed; n--) {
		struct ep_sprof_record *record;
		uint32_t offset = 0, discriminator = 0;
		EP_TRY(read_location(r, &offset, &discriminator));
		uint64_t count = number(r), n_targets = number(r);
		if (r->b.failed)
			return bad_bytes(r);
		EP_TRY(ep_sprof_record(r->prof, func, offset, discriminator, &record));
		record->count = ep_count_add(record->count, count);
		EP_TRY(read_targets(r, record, n_targets));
	}
	return r->b.failed ? bad_bytes(r) : NULL;
}

/* Kinds of virtual tables seen at calls: new in LLVM 21, used by no older version. */
static struct ep_error *skip_vtables(struct binary_reader *r)
{
	uint64_t n_locs = number(r);

	if (n_locs)
		ep_warn(r->opts->warnings, "vtable-types", "%s: virtual table counts are left out",
		        r->name);
	for (; n_locs && !r->b.failed; n_locs--) {
		uint32_t offset = 0, discriminator = 0, name = 0;
		EP_TRY(read_location(r, &offset, &discriminator));
		for (uint64_t n = number(r); n && !r->b.failed; n--) {
			EP_TRY(read_name(r, &name));
			number(r);
		}
	}
	return r->b.failed ? bad_bytes(r) : NULL;
}

/* Recursion ends at EP_SPROF_DEPTH_MAX, in ep_sprof_callee(). */
static struct ep_error *read_body(struct binary_reader *r, struct ep_sprof_func *func)
{
	func->total = ep_count_add(func->total, number(r));
	EP_TRY(read_records(r, func));
	for (uint64_t n = number(r); n && !r->b.failed; n--) {
		struct ep_sprof_func *callee;
		uint32_t offset = 0, discriminator = 0, name = 0;
		EP_TRY(read_location(r, &offset, &discriminator));
		EP_TRY(read_name(r, &name));
		struct ep_error *err =
		    ep_sprof_callee(r->prof, func, offset, discriminator, name, &callee);
		if (err)
			return ep_error_wrap(err, "%s: %s", r->name, r->where);
		EP_TRY(read_body(r, callee));
	}
	if (r->b.failed)
		return bad_bytes(r);
	return r->has_vtables ? skip_vtables(r) : NULL;
}

static struct ep_error *read_bodies(struct binary_reader *r)
{
	while (ep_bytes_left(&r->b)) {
		struct ep_sprof_func *func;
		uint32_t name = 0;
		uint64_t head = number(r);
		EP_TRY(read_name(r, &name));
		EP_TRY(ep_sprof_func(r->prof, name, &func));
		func->head = ep_count_add(func->head, head);
		EP_TRY(read_body(r, func));
		r->n_bodies++;
		EP_TRY(ep_sprof_check_memory(r->prof, r->name, r->opts));
	}
	return NULL;
}

/* The summary is made anew from the counts when needed: only its form counts, and n_told. */
static struct ep_error *read_summary(struct binary_reader *r)
{
	for (int i = 0; i < 4; i++)
		number(r);
	r->n_told = number(r);
	for (uint64_t n = number(r); n && !r->b.failed; n--)
		for (int i = 0; i < 3; i++)
			number(r);
	return r->b.failed ? bad_bytes(r) : NULL;
}

static struct ep_error *add_name(struct binary_reader *r, const char *s, size_t n)
{
	uint32_t id;

	if (!n)
		return bad_at(r, "empty name");
	EP_TRY(ep_sprof_name(r->prof, s, n, &id));
	return ep_vec_push(&r->names, id) ? NULL : ep_error_nomem();
}

static struct ep_error *add_guid(struct binary_reader *r, uint64_t guid)
{
	char digits[20];
	size_t i = sizeof(digits);

	if (r->b.failed)
		return bad_bytes(r);
	if (!guid)
		return bad_at(r, "GUID of 0");
	for (; guid; guid /= 10)
		digits[--i] = (char)('0' + guid % 10);
	return add_name(r, digits + i, sizeof(digits) - i);
}

/* A later table takes the place of an earlier one. */
static struct ep_error *read_names(struct binary_reader *r, uint64_t flags)
{
	uint64_t n = number(r);
	bool md5 = flags & SEC_NAMES_MD5, fixed = flags & SEC_NAMES_MD5_FIXED;

	if (r->b.failed)
		return bad_bytes(r);
	if (n > ep_bytes_left(&r->b) / (fixed ? 8 : 1))
		return bad_at(r, "name table larger than its section");
	if (r->prof->funcs.n && md5 != !!(r->prof->flags & EP_SPROF_MD5))
		return bad_at(r, "GUIDs and names in one profile");
	if (md5 || fixed)
		r->prof->flags |= EP_SPROF_MD5;
	r->names.n = 0;
	for (; n; n--) {
		if (fixed || md5) {
			EP_TRY(add_guid(r, fixed ? ep_bytes_u64(&r->b) : number(r)));
			continue;
		}
		size_t len;
		const char *s = ep_bytes_cstr(&r->b, &len);
		if (!s)
			return bad_bytes(r);
		EP_TRY(add_name(r, s, len));
	}
	return ep_sprof_check_memory(r->prof, r->name, r->opts);
}

static struct ep_error *read_symbols(struct binary_reader *r)
{
	while (ep_bytes_left(&r->b)) {
		uint32_t id;
		size_t len;
		const char *s = ep_bytes_cstr(&r->b, &len);
		if (!s)
			return bad_bytes(r);
		EP_TRY(ep_sprof_name(r->prof, s, len, &id));
		EP_TRY(ep_sprof_symbol_add(r->prof, id));
	}
	return ep_sprof_check_memory(r->prof, r->name, r->opts);
}

static struct ep_error *read_metadata_of(struct binary_reader *r, struct ep_sprof_func *func,
                                         uint32_t depth);

static struct ep_error *read_callee_metadata(struct binary_reader *r, struct ep_sprof_func *func,
                                             uint32_t depth)
{
	struct ep_sprof_func *callee = NULL;
	uint32_t offset = 0, discriminator = 0, name = 0;

	EP_TRY(read_location(r, &offset, &discriminator));
	EP_TRY(read_name(r, &name));
	if (depth >= EP_SPROF_DEPTH_MAX)
		return bad_at(r, "too many levels of inlining");
	if (func)
		EP_TRY(ep_sprof_callee(r->prof, func, offset, discriminator, name, &callee));
	return read_metadata_of(r, callee, depth + 1);
}

/* Of a function that is not there it is read over. Recursion ends at EP_SPROF_DEPTH_MAX. */
static struct ep_error *read_metadata_of(struct binary_reader *r, struct ep_sprof_func *func,
                                         uint32_t depth)
{
	struct ep_sprof_func none;
	struct ep_sprof_func *to = func ? func : &none;

	if (r->metadata & EP_SPROF_HAS_CHECKSUM)
		to->checksum = number(r);
	if (r->metadata & EP_SPROF_HAS_ATTRIBUTES) {
		uint64_t attributes = number(r);
		if (attributes > UINT32_MAX)
			return bad_at(r, "attributes over 32 bits");
		to->attributes = (uint32_t)attributes;
	}
	if (func)
		func->flags |= r->metadata;
	for (uint64_t n = number(r); n && !r->b.failed; n--)
		EP_TRY(read_callee_metadata(r, func, depth));
	return r->b.failed ? bad_bytes(r) : NULL;
}

static struct ep_error *read_metadata(struct binary_reader *r, uint64_t flags)
{
	r->metadata = (flags & SEC_METADATA_PROBE ? EP_SPROF_HAS_CHECKSUM : 0) |
	              (flags & SEC_METADATA_ATTRIBUTES ? EP_SPROF_HAS_ATTRIBUTES : 0);
	if (flags & SEC_METADATA_PROBE)
		r->prof->flags |= EP_SPROF_PROBE;
	while (ep_bytes_left(&r->b)) {
		uint32_t name = 0;
		EP_TRY(read_name(r, &name));
		EP_TRY(read_metadata_of(r, ep_sprof_func_find(r->prof, name), 0));
	}
	return NULL;
}

static struct ep_error *read_summary_section(struct binary_reader *r, uint64_t flags)
{
	uint32_t *to = &r->prof->flags;

	if (flags & SEC_SUMMARY_CONTEXT)
		return ep_error_hint(ep_error_create(EP_ERROR_UNSUPPORTED,
		                                     "%s: a context-sensitive profile, which is "
		                                     "not read yet",
		                                     r->name),
		                     "nest it: llvm-profdata merge --sample --extbinary "
		                     "--convert-sample-profile-layout=nest");
	*to |= (flags & SEC_SUMMARY_PARTIAL ? EP_SPROF_PARTIAL : 0) |
	       (flags & SEC_SUMMARY_FS ? EP_SPROF_FS : 0) |
	       (flags & SEC_SUMMARY_PREINLINED ? EP_SPROF_PREINLINED : 0);
	r->has_vtables |= (flags & SEC_SUMMARY_VTABLES) != 0;
	return read_summary(r);
}

/* The provenance, or a section of some other tool, is kept as it is. */
static struct ep_error *keep_section(struct binary_reader *r, struct ep_sprof_section *section)
{
	size_t n = ep_bytes_left(&r->b);
	unsigned char *copy = ep_arena_alloc(&r->prof->arena, n);

	if (!copy)
		return ep_error_nomem();
	memcpy(copy, ep_bytes_take(&r->b, n), n);
	section->data = copy;
	section->data_size = n;
	if (section->type != EP_SPROF_SECTION_PROVENANCE)
		ep_warn(r->opts->warnings, "unknown-section",
		        "%s: section of unknown type %llu left unread", r->name,
		        (unsigned long long)section->type);
	return NULL;
}

static struct ep_error *read_contents(struct binary_reader *r, struct ep_sprof_section *section)
{
	switch (section->type) {
	case SEC_SUMMARY:
		return read_summary_section(r, section->flags);
	case SEC_NAME_TABLE:
		return read_names(r, section->flags);
	case SEC_SYMBOL_LIST:
		return read_symbols(r);
	case SEC_BODIES:
		return read_bodies(r);
	case SEC_FUNC_METADATA:
		return read_metadata(r, section->flags);
	case SEC_FUNC_OFFSETS:
	case SEC_CONTEXT_TABLE:
		/* For loading a part of the functions, and for profiles with contexts. */
		ep_bytes_take(&r->b, ep_bytes_left(&r->b));
		return NULL;
	default:
		return keep_section(r, section);
	}
}

static struct ep_error *read_section(struct binary_reader *r, const struct ep_bytes *file,
                                     struct ep_sprof_section *section)
{
	ep_autofree unsigned char *unpacked = NULL;
	const unsigned char *data = file->begin + section->offset;
	size_t n = (size_t)section->size;

	r->where = section_name(section->type);
	r->unpacked = section->flags & SEC_COMPRESSED;
	if (r->unpacked) {
		struct ep_error *err =
		    ep_sprof_inflate(data, n, r->opts->memory_max, &unpacked, &n);
		if (err)
			return ep_error_wrap(err, "%s: %s at offset 0x%llx", r->name, r->where,
			                     (unsigned long long)section->offset);
		data = unpacked;
	}
	r->where_offset = r->unpacked ? 0 : section->offset;
	r->b = ep_bytes_init(data, n, ep_swap_for(false));
	EP_TRY(read_contents(r, section));
	if (ep_bytes_left(&r->b))
		return bad_at(r, "the section does not end where its contents do");
	return NULL;
}

static struct ep_error *read_table_entry(struct binary_reader *r, uint64_t *sum)
{
	size_t file_size = (size_t)(r->b.end - r->b.begin);
	struct ep_sprof_section s = {.type = ep_bytes_u64(&r->b),
	                             .flags = ep_bytes_u64(&r->b),
	                             .offset = ep_bytes_u64(&r->b),
	                             .size = ep_bytes_u64(&r->b)};

	if (r->b.failed)
		return bad_bytes(r);
	if (s.size && (s.offset > file_size || s.size > file_size - s.offset))
		return bad_at(r, "section outside of the file");
	/* Sections that overlap could make a small file take any time. */
	*sum += s.size;
	if (*sum > file_size)
		return bad_at(r, "sections overlap");
	return ep_vec_push(&r->prof->sections, s) ? NULL : ep_error_nomem();
}

static struct ep_error *read_ext(struct binary_reader *r)
{
	uint64_t n = ep_bytes_u64(&r->b), sum = 0;

	if (r->b.failed)
		return bad_bytes(r);
	if (n > N_SECTIONS_MAX || n > ep_bytes_left(&r->b) / TABLE_ENTRY_SIZE)
		return bad_at(r, "more sections than the file holds");
	for (uint64_t i = 0; i < n; i++)
		EP_TRY(read_table_entry(r, &sum));
	struct ep_bytes file = r->b;
	for (uint64_t i = 0; i < n; i++)
		if (r->prof->sections.v[i].size)
			EP_TRY(read_section(r, &file, &r->prof->sections.v[i]));
	return NULL;
}

/* This format has no other mark of its end than how many functions there are. */
static struct ep_error *read_plain(struct binary_reader *r)
{
	EP_TRY(read_summary(r));
	EP_TRY(read_names(r, 0));
	EP_TRY(read_bodies(r));
	if (r->n_bodies != r->n_told)
		return bad_at(r, "another number of functions than the summary tells");
	return NULL;
}

static struct ep_error *read_file(struct binary_reader *r)
{
	uint64_t magic = number(r), version = number(r);

	if (r->b.failed)
		return bad_bytes(r);
	r->prof->version = version;
	if (version != FORMAT_VERSION)
		return ep_error_hint(ep_error_create(EP_ERROR_UNSUPPORTED,
		                                     "%s: sample profile of format version %llu; "
		                                     "version %d is read",
		                                     r->name, (unsigned long long)version,
		                                     FORMAT_VERSION),
		                     "let the llvm-profdata that wrote it write it as text");
	if (magic == MAGIC_EXTBINARY) {
		EP_TRY(read_ext(r));
	} else {
		EP_TRY(read_plain(r));
	}
	if (!r->prof->funcs.n)
		return ep_error_create(EP_ERROR_MISSING, "%s: no function in the profile", r->name);
	return NULL;
}

struct ep_error *ep_sprof_read_binary(const void *data, size_t n, const char *name,
                                      const struct ep_sprof_read_opts *opts, struct ep_sprof *prof)
{
	struct binary_reader r = {.prof = prof, .opts = opts, .name = name, .where = "header"};

	r.b = ep_bytes_init(data, n, ep_swap_for(false));
	struct ep_error *err = read_file(&r);
	ep_vec_deinit(&r.names);
	return err;
}
