/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Looks into a raw capture, for the tests of recording:
 *   check_capture FILE.epr                 totals, and each record and range against the binaries
 *   check_capture FILE.epr counts LIST     counted branches to functions; LIST has lines NAME COUNT
 *                                          or FILE:NAME COUNT, other lines are not looked at
 *   check_capture EXACT.epr against SAMPLED.epr   the sampled edges against the counted ones
 * Prints "KEY VALUE" lines; fails when something is wrong.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/vec.h"
#include "base/warn.h"
#include "isa/isa.h"
#include "object/object.h"
#include "record/raw.h"

struct binary {
	char *path;
	struct ep_object *object; /* NULL: not readable */
};

struct map {
	int32_t pid;
	uint64_t start, end, pgoff;
	size_t binary; /* index + 1; 0: anonymous */
};

/* Where an address is. */
struct place {
	size_t binary; /* index + 1, 0: nowhere known */
	uint64_t vaddr;
};

struct edge {
	struct place from, to;
	uint64_t count;
};

struct capture {
	EP_VEC(struct binary) binaries;
	EP_VEC(struct map) maps;
	EP_VEC(struct edge) edges;
	EP_VEC(int32_t) pids;
	uint64_t n_samples, n_records, n_ranges, n_bad, n_unmapped, n_discontinuities, n_moved;
	uint64_t n_lost, n_not_followed, n_corrupt, n_threads, n_exits, n_map_events, n_unmaps;
	uint64_t n_events, n_ended;
};

static void die(const char *what)
{
	fprintf(stderr, "check_capture: %s\n", what);
	exit(2);
}

#define PUSH(vec, ...)                                                                             \
	do {                                                                                       \
		if (!ep_vec_push(vec, __VA_ARGS__))                                                \
			die("out of memory");                                                      \
	} while (0)

static size_t find_binary(struct capture *c, const char *path)
{
	for (size_t i = 0; i < c->binaries.n; i++)
		if (!strcmp(c->binaries.v[i].path, path))
			return i + 1;
	struct binary b = {.path = strdup(path)};
	struct ep_error *err = ep_object_open(path, &b.object);
	ep_error_destroy(err);
	PUSH(&c->binaries, b);
	return c->binaries.n;
}

static void unmap(struct capture *c, int32_t pid, uint64_t start, uint64_t end)
{
	for (size_t i = 0; i < c->maps.n; i++) {
		struct map m = c->maps.v[i];
		if (m.pid != pid || m.end <= start || m.start >= end)
			continue;
		c->maps.v[i] = c->maps.v[--c->maps.n];
		i--;
		if (m.start < start) {
			struct map left = m;
			left.end = start;
			PUSH(&c->maps, left);
		}
		if (m.end > end) {
			struct map right = m;
			right.pgoff += end - right.start;
			right.start = end;
			PUSH(&c->maps, right);
		}
	}
}

static struct place locate(const struct capture *c, int32_t pid, uint64_t ip)
{
	struct place p = {0};

	for (size_t i = 0; i < c->maps.n; i++) {
		const struct map *m = &c->maps.v[i];
		if (m->pid != pid || ip < m->start || ip >= m->end || !m->binary)
			continue;
		struct ep_object *object = c->binaries.v[m->binary - 1].object;
		if (object && ep_object_foff_to_vaddr(object, ip - m->start + m->pgoff, &p.vaddr))
			p.binary = m->binary;
	}
	return p;
}

static bool decode(const struct capture *c, struct place p, struct ep_insn *ret)
{
	const struct ep_object *object = c->binaries.v[p.binary - 1].object;
	size_t n;
	const unsigned char *bytes = ep_object_bytes(object, p.vaddr, &n);

	if (!bytes || !ep_object_is_text(object, p.vaddr))
		return false;
	ep_isa_decode(object->machine, bytes, n, p.vaddr, ret);
	return true;
}

static void bad(struct capture *c, const char *what, uint64_t from, uint64_t to)
{
	if (c->n_bad++ < 10)
		printf("wrong %s 0x%" PRIx64 " 0x%" PRIx64 "\n", what, from, to);
}

static void check_edge(struct capture *c, int32_t pid, uint64_t from, uint64_t to, unsigned type,
                       uint64_t count)
{
	struct edge e = {locate(c, pid, from), locate(c, pid, to), count};
	struct ep_insn insn;

	c->n_records++;
	if (!e.from.binary || !e.to.binary)
		c->n_unmapped++;
	PUSH(&c->edges, e);
	if (!e.from.binary)
		return;
	if (!decode(c, e.from, &insn) || !ep_insn_transfers(insn.cls))
		bad(c, "source", from, to);
	else if (type == EP_BRANCH_UNKNOWN || !ep_insn_agrees(insn.cls, type))
		bad(c, "type", from, to);
	else if (insn.has_target && e.to.binary == e.from.binary && insn.target != e.to.vaddr)
		bad(c, "target", from, to);
}

static void check_range(struct capture *c, int32_t pid, uint64_t start, uint64_t end)
{
	struct place p = locate(c, pid, start), last = locate(c, pid, end);
	struct ep_insn insn;

	c->n_ranges++;
	if (!p.binary || !last.binary)
		return;
	if (p.binary != last.binary || p.vaddr > last.vaddr) {
		bad(c, "range", start, end);
		return;
	}
	while (p.vaddr < last.vaddr) {
		if (!decode(c, p, &insn) || ep_insn_leaves(insn.cls)) {
			bad(c, "straight line", start, end);
			return;
		}
		p.vaddr += insn.length;
	}
	if (p.vaddr != last.vaddr)
		bad(c, "end of a range", start, end);
}

static void check_sample(struct capture *c, int32_t pid, const struct ep_sample *s)
{
	struct ep_branch newer = {0};

	c->n_samples++;
	for (uint32_t i = 0; i < s->n_branches; i++) {
		struct ep_branch b;
		memcpy(&b, s->branches + i, sizeof(b));
		b.info &= s->info_mask;
		c->n_discontinuities += !!(b.info & EP_INFO_DISCONTINUITY);
		c->n_moved += !!(b.info & EP_INFO_PC_MOVED);
		check_edge(c, pid, b.from, b.to, ep_info_type(b.info), 1);
		if (i && !(newer.info & EP_INFO_PC_MOVED))
			check_range(c, pid, b.to, newer.from);
		newer = b;
	}
}

static void copy_maps(struct capture *c, int32_t from, int32_t to)
{
	unmap(c, to, 0, UINT64_MAX);
	for (size_t i = 0, n = c->maps.n; i < n; i++) {
		struct map m = c->maps.v[i];
		if (m.pid != from)
			continue;
		m.pid = to;
		PUSH(&c->maps, m);
	}
}

static void add_map(struct capture *c, int32_t pid, const struct ep_map *map)
{
	c->n_map_events++;
	unmap(c, pid, map->start, map->start + map->len);
	PUSH(&c->maps, (struct map){pid, map->start, map->start + map->len, map->pgoff,
	                            map->is_file ? find_binary(c, map->path) : 0});
	if (map->is_file && !map->build_id.size)
		bad(c, "map without build-id", map->start, map->len);
}

static void add_lost(struct capture *c, enum ep_lost_reason reason, uint64_t n)
{
	if (reason == EP_LOST_RECORDER)
		c->n_lost += n;
	else if (reason == EP_LOST_NOT_FOLLOWED)
		c->n_not_followed += n;
	else
		c->n_corrupt += n;
}

static void note_pid(struct capture *c, int32_t pid)
{
	for (size_t i = 0; i < c->pids.n; i++)
		if (c->pids.v[i] == pid)
			return;
	PUSH(&c->pids, pid);
}

static struct ep_error *on_event(void *payload, const struct ep_event *e)
{
	struct capture *c = payload;
	const struct ep_counted *n = &e->u.counted;

	switch ((int)e->type) {
	case EP_EVENT_EXEC:
		unmap(c, e->pid, 0, UINT64_MAX);
		c->n_threads++;
		break;
	case EP_EVENT_MAP:
		add_map(c, e->pid, &e->u.map);
		break;
	case EP_EVENT_UNMAP:
		c->n_unmaps++;
		unmap(c, e->pid, e->u.unmap.start, e->u.unmap.start + e->u.unmap.len);
		break;
	case EP_EVENT_FORK:
		c->n_threads++;
		if (e->pid != e->u.fork.ppid)
			copy_maps(c, e->u.fork.ppid, e->pid);
		break;
	case EP_EVENT_EXIT:
		c->n_exits++;
		break;
	case EP_EVENT_SAMPLE:
		note_pid(c, e->pid);
		check_sample(c, e->pid, &e->u.sample);
		break;
	case EP_EVENT_EDGE:
		note_pid(c, e->pid);
		check_edge(c, e->pid, n->from, n->to, n->type, n->count);
		break;
	case EP_EVENT_RANGE:
		check_range(c, e->pid, n->from, n->to);
		break;
	case EP_EVENT_LOST:
		add_lost(c, e->u.lost.reason, e->u.lost.n);
		break;
	case EP_EVENT_END:
		c->n_ended++;
		c->n_events = e->u.end.n_events;
		break;
	}
	return NULL;
}

static void read_capture(const char *path, struct capture *c)
{
	struct ep_event_sink sink = {on_event, c};
	struct ep_warnings warnings = {0};
	struct ep_arena arena = {0};
	struct ep_capture_info info;
	struct ep_file file;
	struct ep_error *err = ep_file_open(path, 0, &file);

	if (!err)
		err =
		    ep_raw_read_memory(path, file.data, file.size, &sink, &warnings, &arena, &info);
	if (err)
		die(err->message);
	if (warnings.n)
		die(warnings.v[0].first);
	ep_file_close(&file);
	ep_arena_deinit(&arena);
	ep_warnings_deinit(&warnings);
}

static void print_totals(const struct capture *c)
{
	const struct {
		const char *name;
		uint64_t v;
	} totals[] = {
	    {"samples", c->n_samples},
	    {"records", c->n_records},
	    {"ranges", c->n_ranges},
	    {"bad", c->n_bad},
	    {"unmapped", c->n_unmapped},
	    {"discontinuities", c->n_discontinuities},
	    {"moved", c->n_moved},
	    {"lost", c->n_lost},
	    {"not-followed", c->n_not_followed},
	    {"corrupt", c->n_corrupt},
	    {"processes", c->pids.n},
	    {"threads", c->n_threads},
	    {"exits", c->n_exits},
	    {"maps", c->n_map_events},
	    {"unmaps", c->n_unmaps},
	    {"events", c->n_events},
	    {"ended", c->n_ended},
	};

	for (size_t i = 0; i < EP_ARRAY_LEN(totals); i++)
		printf("%s %" PRIu64 "\n", totals[i].name, totals[i].v);
	for (size_t i = 0; i < c->binaries.n; i++)
		printf("binary %s\n", c->binaries.v[i].path);
}

/* -- counts -- */

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* Taken branches to the first instruction of a function, in files of that name ("": any). */
static uint64_t count_calls(const struct capture *c, const char *file, const char *function)
{
	uint64_t n = 0;

	for (size_t i = 0; i < c->binaries.n; i++) {
		const struct binary *b = &c->binaries.v[i];
		const struct ep_symbol *symbols;
		size_t n_symbols;
		if (!b->object || (*file && strcmp(base_name(b->path), file) != 0))
			continue;
		ep_autoerr err = ep_object_symbols(b->object, &symbols, &n_symbols);
		if (err)
			die(err->message);
		for (size_t k = 0; k < n_symbols; k++) {
			if (strcmp(symbols[k].name, function) != 0)
				continue;
			for (size_t e = 0; e < c->edges.n; e++)
				if (c->edges.v[e].to.binary == i + 1 &&
				    c->edges.v[e].to.vaddr == symbols[k].vaddr)
					n += c->edges.v[e].count;
		}
	}
	return n;
}

static int check_counts(const struct capture *c, const char *list)
{
	FILE *f = fopen(list, "r");
	char line[256], name[200];
	unsigned long long want;
	int n_lines = 0, n_wrong = 0;

	if (!f)
		die("the list of counts cannot be read");
	while (fgets(line, sizeof(line), f)) {
		if (sscanf(line, "%199s %llu", name, &want) != 2)
			continue;
		char *colon = strchr(name, ':');
		if (colon)
			*colon = '\0';
		uint64_t got =
		    colon ? count_calls(c, base_name(name), colon + 1) : count_calls(c, "", name);
		n_lines++;
		if (got == want)
			continue;
		n_wrong++;
		printf("wrong count of %s%s%s: %" PRIu64 ", not %llu\n", name, colon ? ":" : "",
		       colon ? colon + 1 : "", got, want);
	}
	fclose(f);
	printf("counts %d\n", n_lines);
	return n_wrong || !n_lines;
}

/* -- sampled against exact -- */

static int compare_place(struct place a, struct place b)
{
	if (a.binary != b.binary)
		return a.binary < b.binary ? -1 : 1;
	return a.vaddr < b.vaddr ? -1 : a.vaddr > b.vaddr;
}

static int compare_edges(const void *a, const void *b)
{
	const struct edge *x = a, *y = b;
	int order = compare_place(x->from, y->from);

	return order ? order : compare_place(x->to, y->to);
}

/* Sorts and sums the edges; returns the sum of all. */
static double sum_edges(struct capture *c)
{
	size_t n = 0;
	double total = 0;

	qsort(c->edges.v, c->edges.n, sizeof(*c->edges.v), compare_edges);
	for (size_t i = 0; i < c->edges.n; i++) {
		total += (double)c->edges.v[i].count;
		if (n && !compare_edges(&c->edges.v[n - 1], &c->edges.v[i]))
			c->edges.v[n - 1].count += c->edges.v[i].count;
		else
			c->edges.v[n++] = c->edges.v[i];
	}
	c->edges.n = n;
	return total;
}

/*
 * The records of a stack are not independent of each other: what an edge's share may differ by is
 * reckoned as if each sample gave one record. Sampled edges that were never executed are wrong.
 */
static int compare(struct capture *exact, struct capture *sampled)
{
	double n_exact = sum_edges(exact), n_sampled = sum_edges(sampled), overlap = 0, worst = 0;
	double n = (double)sampled->n_samples;
	int n_wrong = 0, n_tested = 0;
	size_t i = 0;

	for (size_t k = 0; k < sampled->edges.n; k++) {
		const struct edge *s = &sampled->edges.v[k];
		while (i < exact->edges.n && compare_edges(&exact->edges.v[i], s) < 0)
			i++;
		if (i == exact->edges.n || compare_edges(&exact->edges.v[i], s) != 0) {
			n_wrong++;
			continue;
		}
		double p = (double)exact->edges.v[i].count / n_exact;
		double q = (double)s->count / n_sampled;
		overlap += p < q ? p : q;
		if (p * n < 10)
			continue;
		double z = fabs(q - p) / sqrt(p * (1 - p) / n);
		n_tested++;
		worst = z > worst ? z : worst;
	}
	printf("edges %zu of %zu\ntested %d\nnever-executed %d\nworst-deviation %.2f\n"
	       "overlap %.4f\n",
	       sampled->edges.n, exact->edges.n, n_tested, n_wrong, worst, overlap);
	return n_wrong || worst > 4.5 || n_tested < 5 || overlap < 0.95;
}

static void capture_deinit(struct capture *c)
{
	for (size_t i = 0; i < c->binaries.n; i++) {
		free(c->binaries.v[i].path);
		ep_object_close(c->binaries.v[i].object);
	}
	ep_vec_deinit(&c->binaries);
	ep_vec_deinit(&c->maps);
	ep_vec_deinit(&c->edges);
	ep_vec_deinit(&c->pids);
}

int main(int argc, char **argv)
{
	struct capture c = {0}, other = {0};
	int status = 0;

	if (argc != 2 && argc != 4)
		die("usage: check_capture FILE.epr [counts LIST | against SAMPLED.epr]");
	read_capture(argv[1], &c);
	print_totals(&c);
	if (argc == 4 && !strcmp(argv[2], "counts"))
		status = check_counts(&c, argv[3]);
	if (argc == 4 && !strcmp(argv[2], "against")) {
		/* The same files in the same order, so that places compare. */
		for (size_t i = 0; i < c.binaries.n; i++)
			find_binary(&other, c.binaries.v[i].path);
		read_capture(argv[3], &other);
		status = compare(&c, &other) || other.n_bad;
	}
	status = status || c.n_bad || c.n_ended != 1;
	capture_deinit(&c);
	capture_deinit(&other);
	return status;
}
