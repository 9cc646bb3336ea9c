/* SPDX-License-Identifier: BSD-2-Clause */
/* Plain binary and ExtBinary, version 103, in the default layout of `llvm-profdata merge`. */
#include <string.h>

#include "sprof/private.h"

#define N_SECTIONS 7
#define N_SECTIONS_MAX 8
#define TABLE_ENTRY_SIZE 32
#define UNIQ_SUFFIX ".__uniq."

/* Positions in the section table, which is the order of reading. */
enum {
	IN_SUMMARY,
	IN_NAMES,
	IN_CONTEXTS,
	IN_OFFSETS,
	IN_BODIES,
	IN_SYMBOLS,
	IN_METADATA,
	IN_EXTRA
};

struct out_section {
	uint64_t type, flags;
	struct ep_buf data;
};

struct binary_writer {
	const struct ep_sprof *prof;
	bool md5;
	uint32_t *names; /* ids of the names in use, in order */
	uint32_t *index; /* name id to its place in `names` + 1; 0: not in use */
	uint32_t n_names;
	struct out_section sections[N_SECTIONS_MAX];
};

/* Recursion ends at EP_SPROF_DEPTH_MAX. */
static void mark_names(struct binary_writer *w, const struct ep_sprof_func *func)
{
	w->index[func->name] = 1;
	for (uint32_t i = 0; i < func->n_records; i++)
		for (uint32_t k = 0; k < func->records[i].n_targets; k++)
			w->index[func->records[i].targets[k].name] = 1;
	for (uint32_t i = 0; i < func->n_calls; i++)
		mark_names(w, func->calls[i].func);
}

/* Names end with a NUL in the files, and readers refuse empty ones. */
static struct ep_error *check_name(const struct ep_sprof *prof, uint32_t name)
{
	size_t n = ep_strtab_len(&prof->names, name);

	if (n && !memchr(ep_strtab_get(&prof->names, name), '\0', n))
		return NULL;
	return ep_error_create(EP_ERROR_USAGE, "a name that is %s cannot be written",
	                       n ? "cut by a NUL byte" : "empty");
}

/* The names in use, in the profile's order, and the numbers they go by. */
static struct ep_error *collect_names(struct binary_writer *w)
{
	const struct ep_sprof *prof = w->prof;
	uint32_t n = prof->n_rank_;

	w->index = calloc((size_t)n + 1, sizeof(*w->index));
	w->names = calloc((size_t)n + 1, sizeof(*w->names));
	if (!w->index || !w->names)
		return ep_error_nomem();
	for (size_t i = 0; i < prof->funcs.n; i++)
		mark_names(w, prof->funcs.v[i]);
	/* Through the ranks: first everything at its place, then the gaps are closed. */
	for (uint32_t id = 0; id < n; id++)
		if (w->index[id])
			w->names[prof->rank_[id]] = id + 1;
	for (uint32_t i = 0; i < n; i++) {
		if (!w->names[i])
			continue;
		w->names[w->n_names] = w->names[i] - 1;
		EP_TRY(check_name(w->prof, w->names[w->n_names]));
		w->index[w->names[w->n_names]] = w->n_names + 1;
		w->n_names++;
	}
	return NULL;
}

static void put_index(const struct binary_writer *w, struct ep_buf *out, uint32_t name)
{
	ep_buf_uleb(out, w->index[name] - 1);
}

static void put_cstr(const struct ep_sprof *prof, struct ep_buf *out, uint32_t name)
{
	ep_buf_put(out, ep_strtab_get(&prof->names, name), ep_strtab_len(&prof->names, name) + 1);
}

static void put_names(struct binary_writer *w, struct ep_buf *out, uint64_t *flags)
{
	const struct ep_strtab *names = &w->prof->names;

	ep_buf_uleb(out, w->n_names);
	for (uint32_t i = 0; i < w->n_names; i++) {
		uint32_t id = w->names[i];
		if (w->md5) {
			ep_buf_u64(out, ep_sprof_guid_of(w->prof, id));
			continue;
		}
		put_cstr(w->prof, out, id);
		if (!(*flags & SEC_NAMES_UNIQ) &&
		    memmem(ep_strtab_get(names, id), ep_strtab_len(names, id), UNIQ_SUFFIX,
		           sizeof(UNIQ_SUFFIX) - 1))
			*flags |= SEC_NAMES_UNIQ;
	}
	if (w->md5)
		*flags |= SEC_NAMES_MD5 | SEC_NAMES_MD5_FIXED;
}

static struct ep_error *put_summary(const struct ep_sprof *prof, struct ep_buf *out)
{
	struct ep_sprof_summary s;

	EP_TRY(ep_sprof_summarise(prof, &s));
	ep_buf_uleb(out, s.total_count);
	ep_buf_uleb(out, s.max_count);
	ep_buf_uleb(out, s.max_head);
	ep_buf_uleb(out, s.n_counts);
	ep_buf_uleb(out, s.n_funcs);
	ep_buf_uleb(out, EP_SPROF_N_CUTOFFS);
	for (size_t i = 0; i < EP_SPROF_N_CUTOFFS; i++) {
		ep_buf_uleb(out, s.cutoffs[i].cutoff);
		ep_buf_uleb(out, s.cutoffs[i].min_count);
		ep_buf_uleb(out, s.cutoffs[i].n_counts);
	}
	return NULL;
}

/* Recursion ends at EP_SPROF_DEPTH_MAX. */
static void put_body(const struct binary_writer *w, struct ep_buf *out,
                     const struct ep_sprof_func *func)
{
	put_index(w, out, func->name);
	ep_buf_uleb(out, func->total);
	ep_buf_uleb(out, func->n_records);
	for (uint32_t i = 0; i < func->n_records; i++) {
		const struct ep_sprof_record *r = &func->records[i];
		ep_buf_uleb(out, r->offset);
		ep_buf_uleb(out, r->discriminator);
		ep_buf_uleb(out, r->count);
		ep_buf_uleb(out, r->n_targets);
		for (uint32_t k = 0; k < r->n_targets; k++) {
			put_index(w, out, r->targets[k].name);
			ep_buf_uleb(out, r->targets[k].count);
		}
	}
	ep_buf_uleb(out, func->n_calls);
	for (uint32_t i = 0; i < func->n_calls; i++) {
		ep_buf_uleb(out, func->calls[i].offset);
		ep_buf_uleb(out, func->calls[i].discriminator);
		put_body(w, out, func->calls[i].func);
	}
}

/* Bodies, and the table of where each function's begins. */
static void put_bodies(const struct binary_writer *w, struct ep_buf *bodies, struct ep_buf *offsets)
{
	const struct ep_sprof *prof = w->prof;

	if (offsets)
		ep_buf_uleb(offsets, prof->funcs.n);
	for (size_t i = 0; i < prof->funcs.n; i++) {
		const struct ep_sprof_func *func = prof->funcs.v[i];
		if (offsets) {
			put_index(w, offsets, func->name);
			ep_buf_uleb(offsets, bodies->n);
		}
		ep_buf_uleb(bodies, func->head);
		put_body(w, bodies, func);
	}
}

/* Recursion ends at EP_SPROF_DEPTH_MAX. */
static void put_metadata(const struct binary_writer *w, struct ep_buf *out,
                         const struct ep_sprof_func *func)
{
	put_index(w, out, func->name);
	if (w->prof->flags & EP_SPROF_PROBE)
		ep_buf_uleb(out, func->checksum);
	if (w->prof->flags & EP_SPROF_PREINLINED)
		ep_buf_uleb(out, func->attributes);
	ep_buf_uleb(out, func->n_calls);
	for (uint32_t i = 0; i < func->n_calls; i++) {
		ep_buf_uleb(out, func->calls[i].offset);
		ep_buf_uleb(out, func->calls[i].discriminator);
		put_metadata(w, out, func->calls[i].func);
	}
}

static uint64_t summary_flags(uint32_t flags)
{
	return (flags & EP_SPROF_PARTIAL ? SEC_SUMMARY_PARTIAL : 0) |
	       (flags & EP_SPROF_FS ? SEC_SUMMARY_FS : 0) |
	       (flags & EP_SPROF_PREINLINED ? SEC_SUMMARY_PREINLINED : 0);
}

static uint64_t metadata_flags(uint32_t flags)
{
	return (flags & EP_SPROF_PROBE ? SEC_METADATA_PROBE : 0) |
	       (flags & EP_SPROF_PREINLINED ? SEC_METADATA_ATTRIBUTES : 0);
}

static struct ep_error *fill_sections(struct binary_writer *w)
{
	static const uint32_t types[] = {SEC_SUMMARY,      SEC_NAME_TABLE, SEC_CONTEXT_TABLE,
	                                 SEC_FUNC_OFFSETS, SEC_BODIES,     SEC_SYMBOL_LIST,
	                                 SEC_FUNC_METADATA};
	const struct ep_sprof *prof = w->prof;
	struct out_section *s = w->sections;

	for (size_t i = 0; i < N_SECTIONS; i++)
		s[i].type = types[i];
	s[IN_SUMMARY].flags = summary_flags(prof->flags);
	EP_TRY(put_summary(prof, &s[IN_SUMMARY].data));
	put_names(w, &s[IN_NAMES].data, &s[IN_NAMES].flags);
	ep_buf_uleb(&s[IN_CONTEXTS].data, 0);
	put_bodies(w, &s[IN_BODIES].data, &s[IN_OFFSETS].data);
	for (size_t i = 0; i < prof->symbols.n; i++)
		put_cstr(prof, &s[IN_SYMBOLS].data, prof->symbols.v[i]);
	s[IN_METADATA].flags = metadata_flags(prof->flags);
	for (size_t i = 0; i < prof->funcs.n && s[IN_METADATA].flags; i++)
		put_metadata(w, &s[IN_METADATA].data, prof->funcs.v[i]);
	return NULL;
}

static struct ep_error *compress_section(struct out_section *section)
{
	struct ep_buf packed = {0};

	section->flags |= SEC_COMPRESSED;
	struct ep_error *err = ep_sprof_deflate(section->data.v, section->data.n, &packed);
	if (err) {
		ep_buf_deinit(&packed);
		return err;
	}
	ep_buf_deinit(&section->data);
	section->data = packed;
	return NULL;
}

/* A failed write stays on the stream, and is reported when it is committed. */
static void write_buf(const struct ep_buf *buf, FILE *out)
{
	if (buf->n)
		(void)!fwrite(buf->v, 1, buf->n, out);
}

/* The table is in the order of reading, the data in that of writing. */
static struct ep_error *write_sections(struct binary_writer *w, size_t n, FILE *out)
{
	static const unsigned char order[] = {IN_SUMMARY, IN_NAMES,   IN_CONTEXTS, IN_BODIES,
	                                      IN_SYMBOLS, IN_OFFSETS, IN_METADATA, IN_EXTRA};
	struct out_section *s = w->sections;
	uint64_t offset[N_SECTIONS_MAX];
	struct ep_buf header = {0};

	ep_buf_uleb(&header, MAGIC_EXTBINARY);
	ep_buf_uleb(&header, FORMAT_VERSION);
	uint64_t end = header.n + sizeof(uint64_t) + n * TABLE_ENTRY_SIZE;
	for (size_t i = 0; i < n; i++) {
		if (s[order[i]].data.failed)
			header.failed = true;
		offset[order[i]] = end;
		end += s[order[i]].data.n;
	}
	ep_buf_u64(&header, n);
	for (size_t i = 0; i < n; i++) {
		ep_buf_u64(&header, s[i].type);
		ep_buf_u64(&header, s[i].flags);
		ep_buf_u64(&header, offset[i]);
		ep_buf_u64(&header, s[i].data.n);
	}
	if (header.failed) {
		ep_buf_deinit(&header);
		return ep_error_nomem();
	}
	write_buf(&header, out);
	for (size_t i = 0; i < n; i++)
		write_buf(&s[order[i]].data, out);
	ep_buf_deinit(&header);
	return NULL;
}

static struct ep_error *write_ext(struct binary_writer *w, const struct ep_sprof_write_opts *opts,
                                  FILE *out)
{
	size_t n = N_SECTIONS;

	EP_TRY(fill_sections(w));
	if (opts->provenance) {
		w->sections[n].type = EP_SPROF_SECTION_PROVENANCE;
		ep_buf_put(&w->sections[n].data, opts->provenance, opts->provenance_size);
		n++;
	}
	for (size_t i = 0; i < n && opts->compress; i++) {
		if (w->sections[i].data.failed)
			return ep_error_nomem();
		EP_TRY(compress_section(&w->sections[i]));
	}
	return write_sections(w, n, out);
}

static struct ep_error *write_plain(struct binary_writer *w, FILE *out)
{
	struct ep_buf *buf = &w->sections[0].data;
	uint64_t unused_flags = 0;

	if (w->prof->flags & EP_SPROF_PROBE)
		return ep_error_hint(ep_error_create(EP_ERROR_USAGE,
		                                     "plain binary cannot hold a probe-based "
		                                     "profile"),
		                     "write it as extbinary");
	ep_buf_uleb(buf, MAGIC_BINARY);
	ep_buf_uleb(buf, FORMAT_VERSION);
	EP_TRY(put_summary(w->prof, buf));
	put_names(w, buf, &unused_flags);
	put_bodies(w, buf, NULL);
	if (buf->failed)
		return ep_error_nomem();
	write_buf(buf, out);
	return NULL;
}

struct ep_error *ep_sprof_write_binary(const struct ep_sprof *prof,
                                       const struct ep_sprof_write_opts *opts, FILE *out)
{
	struct binary_writer w = {.prof = prof};
	bool ext = opts->format == EP_SPROF_EXTBINARY;

	if (!ext && (prof->flags & EP_SPROF_MD5))
		return ep_error_hint(
		    ep_error_create(EP_ERROR_USAGE, "plain binary cannot hold GUIDs"),
		    "write the profile as extbinary");
	w.md5 = ext && (opts->md5 || (prof->flags & EP_SPROF_MD5));
	struct ep_error *err = collect_names(&w);
	if (!err)
		err = ext ? write_ext(&w, opts, out) : write_plain(&w, out);
	for (size_t i = 0; i < N_SECTIONS_MAX; i++)
		ep_buf_deinit(&w.sections[i].data);
	free(w.names);
	free(w.index);
	return err;
}
