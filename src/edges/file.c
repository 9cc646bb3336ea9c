/* SPDX-License-Identifier: BSD-2-Clause */
/* Whole `.edges` files: from and to a table in memory. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <zstd.h>

#include "base/out.h"
#include "base/vec.h"
#include "edges/cursor.h"
#include "edges/rows.h"

bool ep_edges_detect(const void *data, size_t n)
{
	return n >= EP_EDGES_MAGIC_SIZE && !memcmp(data, EP_EDGES_MAGIC, EP_EDGES_MAGIC_SIZE);
}

/* Writes drop reasons, those of the program's own list and the unknown ones, by number. */
static struct ep_error *write_reasons(struct ep_edges_writer *writer, const struct ep_edges *edges,
                                      bool is_note)
{
	const uint64_t *known = is_note ? edges->drops.notes : edges->drops.n;
	uint32_t n_known = is_note ? EP_NOTE_N : EP_DROP_N;

	for (uint32_t i = 0; i < n_known; i++) {
		struct ep_edges_reason row = {.number = i, .is_note = is_note, .n = known[i]};
		if (row.n)
			EP_TRY(ep_edges_writer_reason(writer, &row));
	}
	for (size_t i = 0; i < edges->n_unknown_reasons; i++) {
		const struct ep_edges_reason *row = &edges->unknown_reasons[i];
		if (row->is_note == is_note && row->number >= n_known && row->n)
			EP_TRY(ep_edges_writer_reason(writer, row));
	}
	return NULL;
}

static struct ep_error *write_rows(struct ep_edges_writer *writer, const struct ep_edges *edges)
{
	for (size_t i = 0; i < edges->n_provenance; i++)
		EP_TRY(ep_edges_writer_provenance(writer, &edges->provenance[i]));
	EP_TRY(write_reasons(writer, edges, false));
	EP_TRY(write_reasons(writer, edges, true));
	for (size_t i = 0; i < edges->n_binaries; i++) {
		if (i &&
		    ep_edges_compare_binaries(&edges->binaries[i - 1], &edges->binaries[i]) >= 0)
			return ep_error_create(EP_ERROR_BUG, "%s: binaries are not in order",
			                       writer->blocks.name);
		EP_TRY(ep_edges_writer_binary(writer, &edges->binaries[i]));
	}
	for (size_t i = 0; i < edges->n_binaries; i++)
		for (size_t k = 0; k < edges->binaries[i].n_edges; k++)
			EP_TRY(ep_edges_writer_edge(writer, (uint32_t)i,
			                            &edges->binaries[i].edges[k]));
	for (size_t i = 0; i < edges->n_binaries; i++)
		for (size_t k = 0; k < edges->binaries[i].n_ranges; k++)
			EP_TRY(ep_edges_writer_range(writer, (uint32_t)i,
			                             &edges->binaries[i].ranges[k]));
	return ep_edges_writer_finish(writer, NULL);
}

struct ep_error *ep_edges_encode(const struct ep_edges *edges, struct ep_buf *ret)
{
	struct ep_edges_writer writer;

	EP_TRY(ep_edges_writer_init(NULL, "(memory)", &writer));
	struct ep_error *err = write_rows(&writer, edges);
	if (!err) {
		ep_buf_put(ret, writer.blocks.out.v, writer.blocks.out.n);
		if (ret->failed)
			err = ep_error_nomem();
	}
	ep_edges_writer_deinit(&writer);
	return err;
}

struct ep_error *ep_edges_write(const struct ep_edges *edges, const char *path)
{
	struct ep_out out = {0};
	struct ep_edges_writer writer = {0};

	EP_TRY(ep_out_open(path, &out));
	struct ep_error *err = ep_edges_writer_init(out.file, path, &writer);
	if (!err)
		err = write_rows(&writer, edges);
	ep_edges_writer_deinit(&writer);
	if (err) {
		ep_out_abort(&out);
		return err;
	}
	return ep_out_commit(&out);
}

/* A table being read; arrays move to the arena when they are complete. */
struct loader {
	struct ep_edges_cursor cursor;
	struct ep_edges edges;
	EP_VEC(struct ep_provenance) provenance;
	EP_VEC(struct ep_edges_reason) reasons;
	EP_VEC(struct ep_edges_binary) binaries;
	EP_VEC(struct ep_edge) binary_edges;
	EP_VEC(struct ep_range) binary_ranges;
};

/* A copy of n elements in the arena. */
static struct ep_error *keep(struct loader *loader, const void *v, size_t n, size_t elem_size,
                             void *ret)
{
	void *p = ep_arena_alloc(&loader->edges.arena, n * elem_size);

	if (!p)
		return ep_error_nomem();
	if (n)
		memcpy(p, v, n * elem_size);
	memcpy(ret, &p, sizeof(p));
	return NULL;
}

static struct ep_error *keep_string(struct loader *loader, const char **s)
{
	*s = ep_arena_strndup(&loader->edges.arena, *s, strlen(*s));
	return *s ? NULL : ep_error_nomem();
}

static struct ep_error *load_provenance(struct loader *loader)
{
	struct ep_provenance row = loader->cursor.row.u.provenance;
	const char **texts[] = {&row.host, &row.kernel, &row.cpu, &row.event, &row.tool};

	for (size_t i = 0; i < EP_ARRAY_LEN(texts); i++)
		EP_TRY(keep_string(loader, texts[i]));
	return ep_vec_push(&loader->provenance, row) ? NULL : ep_error_nomem();
}

static struct ep_error *load_reason(struct loader *loader)
{
	const struct ep_edges_reason *row = &loader->cursor.row.u.reason;
	struct ep_drops *drops = &loader->edges.drops;

	if (row->number < (row->is_note ? (uint32_t)EP_NOTE_N : (uint32_t)EP_DROP_N)) {
		(row->is_note ? drops->notes : drops->n)[row->number] = row->n;
		return NULL;
	}
	return ep_vec_push(&loader->reasons, *row) ? NULL : ep_error_nomem();
}

static struct ep_error *load_binary(struct loader *loader)
{
	struct ep_edges_binary row = loader->cursor.row.u.identity;

	EP_TRY(keep(loader, row.paths, row.n_paths, sizeof(*row.paths), &row.paths));
	for (uint32_t i = 0; i < row.n_paths; i++)
		EP_TRY(keep_string(loader, &row.paths[i]));
	return ep_vec_push(&loader->binaries, row) ? NULL : ep_error_nomem();
}

/* Gives the edges or ranges collected so far to their binary. */
static struct ep_error *end_binary(struct loader *loader, uint32_t i)
{
	struct ep_edges_binary *binary = &loader->binaries.v[i];

	if (loader->binary_edges.n) {
		binary->n_edges = loader->binary_edges.n;
		EP_TRY(keep(loader, loader->binary_edges.v, binary->n_edges, sizeof(*binary->edges),
		            &binary->edges));
		loader->binary_edges.n = 0;
	}
	if (loader->binary_ranges.n) {
		binary->n_ranges = loader->binary_ranges.n;
		EP_TRY(keep(loader, loader->binary_ranges.v, binary->n_ranges,
		            sizeof(*binary->ranges), &binary->ranges));
		loader->binary_ranges.n = 0;
	}
	return NULL;
}

static struct ep_error *load_counts(struct loader *loader, unsigned table)
{
	const struct ep_edges_row *row = &loader->cursor.row;
	uint32_t binary = 0;
	bool more = true;

	for (;;) {
		EP_TRY(ep_edges_cursor_next(&loader->cursor, table, &more));
		if (!more || row->binary != binary) {
			if (loader->binaries.n)
				EP_TRY(end_binary(loader, binary));
			binary = row->binary;
		}
		if (!more)
			return NULL;
		if (table == EP_EDGES_TABLE_EDGES
		        ? !ep_vec_push(&loader->binary_edges, row->u.edge)
		        : !ep_vec_push(&loader->binary_ranges, row->u.range))
			return ep_error_nomem();
	}
}

static struct ep_error *load_table(struct loader *loader, unsigned table,
                                   struct ep_error *(*load)(struct loader *loader))
{
	bool more = true;

	for (;;) {
		EP_TRY(ep_edges_cursor_next(&loader->cursor, table, &more));
		if (!more)
			return NULL;
		EP_TRY(load(loader));
	}
}

static struct ep_error *load(struct loader *loader)
{
	struct ep_edges *edges = &loader->edges;
	bool more;

	EP_TRY(load_table(loader, EP_EDGES_TABLE_PROVENANCE, load_provenance));
	EP_TRY(load_table(loader, EP_EDGES_TABLE_REASONS, load_reason));
	EP_TRY(load_table(loader, EP_EDGES_TABLE_BINARIES, load_binary));
	EP_TRY(load_counts(loader, EP_EDGES_TABLE_EDGES));
	EP_TRY(load_counts(loader, EP_EDGES_TABLE_RANGES));
	EP_TRY(ep_edges_cursor_next(&loader->cursor, EP_EDGES_TABLE_END, &more));
	edges->n_provenance = loader->provenance.n;
	EP_TRY(keep(loader, loader->provenance.v, loader->provenance.n, sizeof(*edges->provenance),
	            &edges->provenance));
	edges->n_unknown_reasons = loader->reasons.n;
	EP_TRY(keep(loader, loader->reasons.v, loader->reasons.n, sizeof(*edges->unknown_reasons),
	            &edges->unknown_reasons));
	edges->n_binaries = loader->binaries.n;
	EP_TRY(keep(loader, loader->binaries.v, loader->binaries.n, sizeof(*edges->binaries),
	            &edges->binaries));
	memcpy(edges->digest, loader->cursor.blocks.footer.digest, EP_DIGEST_SIZE);
	edges->n_unknown_blocks = (size_t)loader->cursor.blocks.n_unknown;
	return NULL;
}

static struct ep_error *load_from(const void *data, size_t n, int fd, const char *name,
                                  struct ep_edges *ret)
{
	struct loader loader = {0};
	ZSTD_DCtx *dctx = ZSTD_createDCtx();

	if (!dctx)
		return ep_error_nomem();
	struct ep_error *err = ep_edges_cursor_init(data, n, fd, name, dctx, &loader.cursor);
	if (!err)
		err = load(&loader);
	ep_edges_cursor_deinit(&loader.cursor);
	ZSTD_freeDCtx(dctx);
	ep_vec_deinit(&loader.provenance);
	ep_vec_deinit(&loader.reasons);
	ep_vec_deinit(&loader.binaries);
	ep_vec_deinit(&loader.binary_edges);
	ep_vec_deinit(&loader.binary_ranges);
	if (err) {
		ep_edges_deinit(&loader.edges);
		return err;
	}
	*ret = loader.edges;
	return NULL;
}

struct ep_error *ep_edges_decode(const void *data, size_t n, const char *name, struct ep_edges *ret)
{
	return load_from(data ? data : "", n, -1, name, ret);
}

struct ep_error *ep_edges_read(const char *path, struct ep_edges *ret)
{
	if (!strcmp(path, "-"))
		return load_from(NULL, 0, STDIN_FILENO, "standard input", ret);
	ep_autoclose int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return ep_error_os(errno, "%s", path);
	return load_from(NULL, 0, fd, path, ret);
}
