/* SPDX-License-Identifier: BSD-2-Clause */
/* The hot loop: a stack becomes look-ups in the counting table. */
#include "fold/stack.h"

#include <string.h>

#include "base/bytes.h"

/* A loop of one block that is no longer than this is taken for what it looks like. */
#define TIGHT_LOOP_BYTES 64

/* Of the next stack, at most: 64 records. */
#define PREFETCH_BYTES ((size_t)1536)

/* No range can begin: the last record gave no place to go on from. */
static const struct ep_fold_map nowhere = {.len = 0, .base = 1};
static const struct ep_fold_map unmapped = {.len = 0, .base = 0};
/* The upper half of the address space where no kernel map is known. */
static const struct ep_fold_map any_kernel = {.start = UINT64_C(1) << 63,
                                              .len = UINT64_C(1) << 63,
                                              .base = (uint64_t)EP_FOLD_BIN_KERNEL
                                                      << EP_FOLD_BIN_SHIFT};

#define TYPE_BIT(type) (UINT32_C(1) << (type))
/* Types (of the 4 bits in perf's place) that are not plain branches. */
#define SLOW_TYPES                                                                                 \
	(TYPE_BIT(EP_BRANCH_SYSCALL) | TYPE_BIT(EP_BRANCH_SYSRET) | TYPE_BIT(EP_BRANCH_ERET) |     \
	 TYPE_BIT(EP_BRANCH_IRQ) | TYPE_BIT(EP_BRANCH_SERROR) | TYPE_BIT(15))

/* Where the walk over a stack stands, oldest record to newest. */
struct walk {
	struct ep_fold_counter *counter;
	const struct ep_fold_job *job;
	struct ep_fold_map cur;       /* map of the last look-up */
	uint64_t start;               /* ip where the range under way began */
	struct ep_fold_map start_map; /* of `start`; nowhere: no range is under way */
	uint64_t span_bytes, n_ranges;
	uint64_t span_cycles, n_timed;
};

struct ep_error *ep_fold_counter_init(struct ep_fold_counter *counter, unsigned n_counters)
{
	*counter = (struct ep_fold_counter){0};
	return ep_fold_table_init(&counter->table, n_counters);
}

void ep_fold_counter_deinit(struct ep_fold_counter *counter)
{
	ep_fold_table_deinit(&counter->table);
	ep_vec_deinit(&counter->pending);
}

static const struct ep_fold_map *find_map(const struct ep_fold_maps *user,
                                          const struct ep_fold_maps *kernel, uint64_t ip)
{
	const struct ep_fold_map *map = ep_fold_maps_find(user, ip);

	if (!map)
		map = ep_fold_maps_find(kernel, ip);
	if (map)
		return map;
	return ip >> 63 ? &any_kernel : &unmapped;
}

/* Makes walk->cur the map of ip. */
static void look_up(struct walk *walk, uint64_t ip)
{
	if (EP_UNLIKELY(ip - walk->cur.start >= walk->cur.len))
		walk->cur = *find_map(walk->job->user, walk->job->kernel, ip);
}

static inline uint64_t compact(const struct ep_fold_map *map, uint64_t ip)
{
	return map->base + (ip & map->mask);
}

static bool is_real(const struct ep_fold_map *map)
{
	return map->mask;
}

static void drop(struct ep_fold_counter *counter, enum ep_drop reason, uint64_t n)
{
	counter->drops.n[reason] = ep_count_add(counter->drops.n[reason], n);
}

static void note(struct ep_fold_counter *counter, enum ep_note what, uint64_t n)
{
	counter->drops.notes[what] = ep_count_add(counter->drops.notes[what], n);
}

static void push(struct walk *walk, uint64_t from, uint64_t to, uint32_t what, uint64_t info)
{
	struct ep_fold_counter *counter = walk->counter;
	uint64_t hash = ep_fold_table_hash(&counter->table, from, to, what);

	ep_fold_table_prefetch(&counter->table, hash);
	/* Room for all look-ups of a stack was made before it. */
	counter->pending.v[counter->pending.n++] =
	    (struct ep_fold_pending){from, to, hash, what, -(uint32_t)(info & EP_INFO_MISPRED)};
}

/* Why nothing between two places without a binary is counted. */
static enum ep_drop place_drop(uint32_t a, uint32_t b)
{
	if (a == EP_FOLD_BIN_AMBIGUOUS || b == EP_FOLD_BIN_AMBIGUOUS)
		return EP_DROP_AMBIGUOUS_PROCESS;
	if (a == EP_FOLD_BIN_OVERFLOW || b == EP_FOLD_BIN_OVERFLOW)
		return EP_DROP_UNIDENTIFIED;
	if (a == EP_FOLD_BIN_ANON || b == EP_FOLD_BIN_ANON)
		return EP_DROP_ANONYMOUS;
	if (a == EP_FOLD_BIN_KERNEL || b == EP_FOLD_BIN_KERNEL)
		return EP_DROP_KERNEL;
	return EP_DROP_UNMAPPED;
}

/* Why a record is not counted whose ends lie at compact addresses from and to; -1: it is. */
static int record_drop(uint64_t from, uint64_t to)
{
	uint32_t a = ep_fold_bin_of(from), b = ep_fold_bin_of(to);
	bool ambiguous = a == EP_FOLD_BIN_AMBIGUOUS || b == EP_FOLD_BIN_AMBIGUOUS;

	if (!ambiguous && (a >= EP_FOLD_BIN_FIRST || b >= EP_FOLD_BIN_FIRST))
		return -1;
	return (int)place_drop(a, b);
}

/*
 * Why [start, end] in these maps is no range; -1: it is one. Maps may be two pieces of one binary
 * that lie in memory as in the file.
 */
static int range_drop(const struct ep_fold_map *start_map, uint64_t start,
                      const struct ep_fold_map *end_map, uint64_t end)
{
	if (start_map->base != end_map->base)
		return EP_DROP_RANGE_CROSSES_MAP;
	if (end < start)
		return EP_DROP_NEGATIVE_RANGE;
	return end - start > EP_FOLD_RANGE_MAX ? EP_DROP_RANGE_TOO_LONG : -1;
}

/* An unmapped end ends a run (rule 3); places without a binary have no ranges to lose. */
static bool range_possible(const struct ep_fold_map *start_map, const struct ep_fold_map *end_map)
{
	return start_map->base != nowhere.base && start_map->base != unmapped.base &&
	       end_map->base != unmapped.base && (is_real(start_map) || is_real(end_map));
}

/*
 * The `what` bits of the range that is under way and ends at `end` in walk->cur; 0: there is none,
 * and the reason was counted.
 */
static uint32_t range_bits(struct walk *walk, uint64_t end)
{
	uint64_t repeat = walk->job->repeat;

	if (!range_possible(&walk->start_map, &walk->cur))
		return 0;
	int why = walk->job->filtered ? EP_DROP_RANGE_FILTERED
	                              : range_drop(&walk->start_map, walk->start, &walk->cur, end);
	if (why >= 0) {
		drop(walk->counter, (enum ep_drop)why, repeat);
		return 0;
	}
	walk->span_bytes += end - walk->start + EP_FOLD_INSN_BYTES;
	walk->n_ranges++;
	return EP_FOLD_WHAT_RANGE | (uint32_t)(end - walk->start) << EP_FOLD_WHAT_LENGTH_SHIFT;
}

static void push_edge(struct walk *walk, uint64_t from, uint64_t to, uint32_t what, uint64_t info)
{
	int why = record_drop(from, to);

	if (why < 0) {
		if (ep_fold_bin_of(from) != ep_fold_bin_of(to))
			note(walk->counter, EP_NOTE_EXTERNAL, walk->job->repeat);
		push(walk, from, to, what, info);
		return;
	}
	drop(walk->counter, (enum ep_drop)why, walk->job->repeat);
	/* The range before it was executed all the same. */
	if (what & EP_FOLD_WHAT_RANGE)
		push(walk, from, 0, what & ~(EP_FOLD_WHAT_EDGE | EP_FOLD_WHAT_TYPE_MASK), 0);
}

/* Counts the range before an exception whose return was not seen. */
static void end_suspended(struct walk *walk, const struct ep_fold_suspended *s)
{
	struct ep_fold_map cur = walk->cur, start_map = walk->start_map;
	uint64_t start = walk->start;

	if (s->half)
		return;
	walk->start = s->start;
	walk->start_map = s->map;
	walk->cur = s->map;
	if (s->pc > s->start) {
		uint32_t bits = range_bits(walk, s->pc);
		if (bits)
			push(walk, compact(&s->map, s->pc), 0, bits | EP_FOLD_WHAT_OPEN_END, 0);
	}
	walk->start = start;
	walk->start_map = start_map;
	walk->cur = cur;
}

static void end_all_suspended(struct walk *walk)
{
	struct ep_fold_counter *counter = walk->counter;

	for (size_t i = 0; i < counter->n_suspended; i++)
		end_suspended(walk, &counter->suspended[i]);
	counter->n_suspended = 0;
}

/* Puts the range under way aside at an exception taken at `pc`, which lies in walk->cur. */
static void suspend(struct walk *walk, uint64_t pc, bool half)
{
	struct ep_fold_counter *counter = walk->counter;
	const struct ep_fold_map *map = &walk->start_map;

	if (!range_possible(map, &walk->cur) || !is_real(map))
		return;
	int why = range_drop(map, walk->start, &walk->cur, pc);
	if (walk->job->filtered)
		why = EP_DROP_RANGE_FILTERED;
	if (why >= 0) {
		if (!half)
			drop(counter, (enum ep_drop)why, walk->job->repeat);
		return;
	}
	if (counter->n_suspended == EP_FOLD_SUSPENDED_MAX) {
		end_suspended(walk, &counter->suspended[0]);
		counter->n_suspended--;
		memmove(&counter->suspended[0], &counter->suspended[1],
		        counter->n_suspended * sizeof(counter->suspended[0]));
	}
	counter->suspended[counter->n_suspended++] =
	    (struct ep_fold_suspended){walk->start, pc, *map, half};
}

/* Goes on at `pc`: with the range that an exception interrupted there, else a new one. */
static void resume(struct walk *walk, uint64_t pc)
{
	struct ep_fold_counter *counter = walk->counter;
	const struct ep_fold_suspended *top =
	    counter->n_suspended ? &counter->suspended[counter->n_suspended - 1] : NULL;

	if (top && top->pc == pc) {
		walk->start = top->start;
		walk->start_map = top->map;
		counter->n_suspended--;
		note(counter, EP_NOTE_STITCHED, walk->job->repeat);
		return;
	}
	end_all_suspended(walk);
	look_up(walk, pc);
	walk->start = pc;
	walk->start_map = walk->cur;
}

static bool is_return(enum ep_branch_type type)
{
	return type == EP_BRANCH_ERET || type == EP_BRANCH_SYSRET;
}

static void half_record(struct walk *walk, const struct ep_branch *b, enum ep_branch_type type,
                        bool is_open)
{
	drop(walk->counter, EP_DROP_HALF_RECORD, walk->job->repeat);
	if (b->from && is_open) {
		look_up(walk, b->from);
		suspend(walk, b->from, true);
		walk->start_map = nowhere;
		return;
	}
	walk->start_map = nowhere;
	struct ep_fold_counter *counter = walk->counter;
	if (b->to && is_return(type) && counter->n_suspended &&
	    counter->suspended[counter->n_suspended - 1].pc == b->to)
		resume(walk, b->to);
	else
		end_all_suspended(walk);
}

/* True if the range that ends at this record may be counted. */
static bool continuous(struct walk *walk, uint64_t info)
{
	if (!(info & EP_INFO_DISCONTINUITY) || walk->start_map.base == nowhere.base)
		return true;
	if (info & EP_INFO_PC_MOVED) {
		if (is_real(&walk->start_map))
			drop(walk->counter, EP_DROP_RANGE_PC_MOVED, walk->job->repeat);
		walk->start_map = nowhere;
		return false;
	}
	return true;
}

/* Records that are not plain branches between two known ends. */
static __attribute__((noinline)) void slow_record(struct walk *walk, const struct ep_branch *b,
                                                  uint64_t info)
{
	struct ep_fold_counter *counter = walk->counter;
	enum ep_branch_type type = ep_info_type(info);
	bool is_open = walk->job->open_types & TYPE_BIT(type);

	if ((info >> EP_INFO_SPEC_SHIFT & 3) == EP_SPEC_WRONG_PATH || (!b->from && !b->to)) {
		drop(counter, b->from || b->to ? EP_DROP_WRONG_PATH : EP_DROP_FILLER,
		     walk->job->repeat);
		end_all_suspended(walk);
		walk->start_map = nowhere;
		return;
	}
	bool joined = continuous(walk, info);
	if (!b->from || !b->to) {
		half_record(walk, b, type, is_open);
		return;
	}
	look_up(walk, b->from);
	uint32_t what = EP_FOLD_WHAT_EDGE | (uint32_t)type;
	uint64_t from = compact(&walk->cur, b->from);
	if (is_open)
		suspend(walk, b->from, false);
	else
		what |= range_bits(walk, b->from);
	if (joined && (info & EP_INFO_DISCONTINUITY) && (what & EP_FOLD_WHAT_RANGE))
		note(counter, EP_NOTE_ACROSS_DISCONTINUITY, walk->job->repeat);
	look_up(walk, b->to);
	push_edge(walk, from, compact(&walk->cur, b->to), what, info);
	if (is_return(type)) {
		resume(walk, b->to);
	} else {
		walk->start = b->to;
		walk->start_map = walk->cur;
	}
}

/* A plain branch between two known ends, anywhere. */
static __attribute__((noinline)) void plain_record(struct walk *walk, const struct ep_branch *b,
                                                   uint64_t info)
{
	uint32_t what = EP_FOLD_WHAT_EDGE | (uint32_t)(info >> EP_INFO_TYPE_SHIFT & 15);

	look_up(walk, b->from);
	uint64_t from = compact(&walk->cur, b->from);
	what |= range_bits(walk, b->from);
	look_up(walk, b->to);
	push_edge(walk, from, compact(&walk->cur, b->to), what, info);
	walk->start = b->to;
	walk->start_map = walk->cur;
}

/* Not a plain branch between two known ends. Without a branch of its own. */
static inline uint64_t is_special(uint64_t from, uint64_t to, uint64_t info)
{
	uint32_t type = info >> EP_INFO_TYPE_SHIFT & 15;

	return (uint64_t)!from | (uint64_t)!to | (SLOW_TYPES >> type & 1) |
	       (uint64_t)((info >> EP_INFO_SPEC_SHIFT & 3) == EP_SPEC_WRONG_PATH) | info >> 63;
}

/*
 * The loop this program exists for. What it handles itself is a plain branch inside the map of the
 * last one, with a range before it; all tests for that make one jump. The state of the walk is kept
 * in registers meanwhile.
 */
static void walk_stack(struct walk *walk, size_t first)
{
	const struct ep_fold_job *job = walk->job;
	const struct ep_fold_table *table = &walk->counter->table;
	struct ep_fold_pending *pending = walk->counter->pending.v;
	const char *p = (const char *)job->branches + job->n_branches * sizeof(struct ep_branch);
	const char *end = (const char *)job->branches + first * sizeof(struct ep_branch);
	uint64_t cur_start = 0, cur_len = 0, cur_base = 0, start = 0, max_length = 0;
	uint64_t span_bytes = 0, n_ranges = 0, span_cycles = 0, n_timed = 0;
	const uint64_t gap_flag = job->gap_without_cycles ? EP_INFO_DISCONTINUITY : 0;

	while (p > end) {
		struct ep_branch b;
		p -= sizeof(b);
		memcpy(&b, p, sizeof(b));
		uint64_t info = b.info & job->info_mask, cycles = ep_info_cycles(info);
		uint64_t length = b.from - start;
		span_cycles += cycles;
		info |= cycles || !n_timed ? 0 : gap_flag;
		n_timed += cycles != 0;
		uint64_t other =
		    is_special(b.from, b.to, info) | (uint64_t)(b.from - cur_start >= cur_len) |
		    (uint64_t)(b.to - cur_start >= cur_len) | (uint64_t)(length >= max_length);
		if (EP_LIKELY(!other)) {
			uint32_t what = EP_FOLD_WHAT_EDGE | EP_FOLD_WHAT_RANGE |
			                (uint32_t)length << EP_FOLD_WHAT_LENGTH_SHIFT |
			                (info >> EP_INFO_TYPE_SHIFT & 15);
			uint64_t from = cur_base + b.from, to = cur_base + b.to;
			uint64_t hash = ep_fold_table_hash(table, from, to, what);
			ep_fold_table_prefetch(table, hash);
			*pending++ = (struct ep_fold_pending){from, to, hash, what,
			                                      -(uint32_t)(info & EP_INFO_MISPRED)};
			span_bytes += length;
			n_ranges++;
			start = b.to;
			continue;
		}
		walk->start = start;
		if (max_length)
			walk->start_map = walk->cur;
		walk->counter->pending.n = (size_t)(pending - walk->counter->pending.v);
		if (is_special(b.from, b.to, info))
			slow_record(walk, &b, info);
		else
			plain_record(walk, &b, info);
		pending = walk->counter->pending.v + walk->counter->pending.n;
		start = walk->start;
		cur_start = walk->cur.start;
		cur_base = walk->cur.base;
		/* 0 sends all records to the functions above. */
		bool simple = is_real(&walk->cur) && !job->filtered;
		cur_len = simple ? walk->cur.len : 0;
		max_length = simple && walk->start_map.base == cur_base ? EP_FOLD_RANGE_MAX + 1 : 0;
	}
	walk->counter->pending.n = (size_t)(pending - walk->counter->pending.v);
	walk->span_bytes += span_bytes + n_ranges * EP_FOLD_INSN_BYTES;
	walk->n_ranges += n_ranges;
	walk->span_cycles = span_cycles;
	walk->n_timed = n_timed;
}

static struct ep_branch branch_at(const struct ep_fold_job *job, size_t i)
{
	struct ep_branch b;

	memcpy(&b, (const char *)job->branches + i * sizeof(b), sizeof(b));
	return b;
}

static bool same_ends(const struct ep_branch *a, const struct ep_branch *b)
{
	return a->from == b->from && a->to == b->to;
}

/*
 * Rule 9. The erratum doubles the newest entry, whatever it is. Loops of one block make equal
 * entries as well: a third one shows such a loop, and a very short one is taken for it.
 */
static bool has_duplicate_top(const struct ep_fold_job *job)
{
	if (!job->strip_duplicate_top || job->n_branches < 2)
		return false;
	struct ep_branch top = branch_at(job, 0), next = branch_at(job, 1);
	if (!same_ends(&top, &next) || !top.from || !top.to)
		return false;
	if (top.to <= top.from && top.from - top.to <= TIGHT_LOOP_BYTES)
		return false;
	struct ep_branch third = job->n_branches > 2 ? branch_at(job, 2) : (struct ep_branch){0};
	return !same_ends(&top, &third);
}

static uint64_t inverse(uint64_t n, uint64_t typical, uint64_t span)
{
	return EP_MAX((n * typical * EP_COUNT_ONE) / span, UINT64_C(1));
}

/* Fixed point. */
static uint64_t stack_weight(const struct walk *walk)
{
	enum ep_fold_span kind = walk->job->span;

	if (kind == EP_FOLD_SPAN_CYCLES && walk->n_timed)
		return inverse(walk->n_timed, EP_FOLD_TYPICAL_CYCLES, walk->span_cycles);
	if (kind != EP_FOLD_SPAN_NONE && walk->n_ranges)
		return inverse(walk->n_ranges, EP_FOLD_TYPICAL_BYTES, walk->span_bytes);
	return EP_COUNT_ONE;
}

static void count_pending(struct ep_fold_counter *counter, uint64_t count)
{
	const struct ep_fold_pending *p = counter->pending.v;

	for (size_t i = 0; i < counter->pending.n; i++)
		ep_fold_table_add(&counter->table, p[i].hash, p[i].from, p[i].to, p[i].what, count,
		                  p[i].mispredicted ? count : 0);
	counter->n_counted += counter->pending.n;
	counter->pending.n = 0;
}

/*
 * Stacks mostly lie behind one another in a mapped file, but are walked from their ends: no
 * processor foresees that. Asking for memory that is not there does no harm.
 */
static void prefetch_next_stack(const struct ep_fold_job *job)
{
	size_t n = job->n_branches * sizeof(struct ep_branch);
	uintptr_t next = (uintptr_t)job->branches + n;

	for (size_t i = 0; i < EP_MIN(n, PREFETCH_BYTES) + 64; i += 64)
		__builtin_prefetch((const void *)(next + i), 0);
}

struct ep_error *ep_fold_count_stack(struct ep_fold_counter *counter, const struct ep_fold_job *job)
{
	struct walk walk = {.counter = counter, .job = job, .cur = unmapped, .start_map = nowhere};
	size_t first = has_duplicate_top(job), n = job->n_branches;

	/* A record makes one look-up, and an exception one more for the range before it. */
	if (!ep_vec_reserve(&counter->pending, 2 * n + EP_FOLD_SUSPENDED_MAX))
		return ep_error_nomem();
	/* Any of them may need a second entry for its mispredicts. */
	EP_TRY(ep_fold_table_reserve(&counter->table, 2 * (2 * n + EP_FOLD_SUSPENDED_MAX)));
	if (first)
		drop(counter, EP_DROP_DUPLICATE_TOP, job->repeat);
	prefetch_next_stack(job);
	walk_stack(&walk, first);
	end_all_suspended(&walk);
	count_pending(counter, ep_count_mul(stack_weight(&walk), job->repeat));
	return NULL;
}

static struct ep_error *add_one(struct ep_fold_counter *counter, uint64_t from, uint64_t to,
                                uint32_t what, uint64_t count, uint64_t mispreds)
{
	if (!count)
		return NULL;
	EP_TRY(ep_fold_table_reserve(&counter->table, 2));
	ep_fold_table_add(&counter->table, ep_fold_table_hash(&counter->table, from, to, what),
	                  from, to, what, ep_count_from_whole(count),
	                  ep_count_from_whole(mispreds));
	counter->n_counted++;
	return NULL;
}

static struct ep_error *count_edge(struct ep_fold_counter *counter, const struct ep_counted *c,
                                   uint64_t from, uint64_t to)
{
	uint32_t what =
	    EP_FOLD_WHAT_EDGE | (c->type < EP_BRANCH_N_TYPES ? c->type : EP_BRANCH_UNKNOWN);
	int why = c->from && c->to ? record_drop(from, to) : EP_DROP_HALF_RECORD;

	if (why >= 0) {
		drop(counter, (enum ep_drop)why, c->count);
		return NULL;
	}
	if (ep_fold_bin_of(from) != ep_fold_bin_of(to))
		note(counter, EP_NOTE_EXTERNAL, c->count);
	return add_one(counter, from, to, what, c->count, EP_MIN(c->mispreds, c->count));
}

struct ep_error *ep_fold_count_counted(struct ep_fold_counter *counter,
                                       const struct ep_fold_maps *user,
                                       const struct ep_fold_maps *kernel,
                                       const struct ep_counted *counted, bool is_edge)
{
	struct ep_fold_map from = *find_map(user, kernel, counted->from);
	struct ep_fold_map to = *find_map(user, kernel, counted->to);
	uint64_t length = counted->to - counted->from;

	if (is_edge)
		return count_edge(counter, counted, compact(&from, counted->from),
		                  compact(&to, counted->to));
	if (!is_real(&from) && !is_real(&to)) {
		drop(counter, place_drop(ep_fold_bin_of(from.base), ep_fold_bin_of(to.base)),
		     counted->count);
		return NULL;
	}
	int why = range_drop(&from, counted->from, &to, counted->to);
	if (why >= 0) {
		drop(counter, (enum ep_drop)why, counted->count);
		return NULL;
	}
	return add_one(counter, compact(&to, counted->to), 0,
	               EP_FOLD_WHAT_RANGE | (uint32_t)length << EP_FOLD_WHAT_LENGTH_SHIFT |
	                   (counted->open_end ? EP_FOLD_WHAT_OPEN_END : 0),
	               counted->count, 0);
}
