/* SPDX-License-Identifier: BSD-2-Clause */
/* Line programs, DWARF 2 to 5. */
#include <dwarf.h>
#include <string.h>

#include "symbolise/internal.h"

/*
 * libdw keeps 24 bits of a discriminator and refuses the whole table when one has more, which those
 * of pseudo-probes, of flow-sensitive profiles and of much unrolled loops do. It also builds all
 * rows of a unit; here only those are kept that are asked for.
 */
struct program {
	struct ep_bytes in;
	unsigned version, min_inst, line_range, opcode_base;
	int line_base;
	const unsigned char *lengths; /* of the standard opcodes from 1 on */

	/* The registers. */
	uint64_t address;
	uint32_t line, discriminator;

	/* The sequence under way: its rows are out->v[first...]. */
	size_t first;
	uint64_t lo;
	bool begun, unsorted;
	uint64_t last_address;
	uint32_t last_line, last_discriminator;
};

struct sequence {
	uint64_t lo, hi;
	size_t first, n; /* rows */
};

struct reader {
	const struct ep_symboliser *sym;
	const struct ep_intervals *intervals;
	struct program p;
	size_t i_interval; /* where the last row was */
	ep_sym_rows *out;
	EP_VEC(struct sequence) sequences;
};

static bool read_header(struct program *p)
{
	uint64_t length = ep_bytes_u32(&p->in), header;
	bool is_64 = length == UINT32_MAX;

	if (is_64)
		length = ep_bytes_u64(&p->in);
	if (p->in.failed || length > ep_bytes_left(&p->in))
		return false;
	p->in.end = p->in.pos + length;
	p->version = ep_bytes_u16(&p->in);
	if (p->version < 2 || p->version > 5)
		return false;
	if (p->version == 5) {
		ep_bytes_u16(&p->in); /* sizes of an address and of a segment selector */
	}
	header = is_64 ? ep_bytes_u64(&p->in) : ep_bytes_u32(&p->in);
	if (p->in.failed || header > ep_bytes_left(&p->in))
		return false;
	const unsigned char *program = p->in.pos + header;
	p->min_inst = ep_bytes_u8(&p->in);
	if (p->version >= 4)
		ep_bytes_u8(&p->in); /* operations of a VLIW instruction: 1 on our machines */
	ep_bytes_u8(&p->in);         /* default of is_stmt */
	p->line_base = (ep_bytes_u8(&p->in) ^ 0x80) - 0x80; /* it is signed */
	p->line_range = ep_bytes_u8(&p->in);
	p->opcode_base = ep_bytes_u8(&p->in);
	p->lengths = ep_bytes_take(&p->in, p->opcode_base ? p->opcode_base - 1u : 0);
	if (p->in.failed || !p->line_range || !p->opcode_base || p->in.pos > program)
		return false;
	p->in.pos = program;
	return true;
}

static void reset(struct program *p)
{
	p->address = 0;
	p->line = 1;
	p->discriminator = 0;
	p->begun = p->unsorted = false;
}

/* As ep_intervals_meet(); rows mostly go up. */
static bool meets(struct reader *r, uint64_t lo, uint64_t hi)
{
	const struct ep_intervals *all = r->intervals;
	size_t i = r->i_interval;

	if (i && all->v[i - 1].hi > lo)
		i = 0;
	if (!i && all->n && all->v[0].hi <= lo) {
		size_t end = all->n;

		/* The first interval that ends behind lo. */
		while (i < end) {
			size_t mid = i + (end - i) / 2;

			if (all->v[mid].hi <= lo)
				i = mid + 1;
			else
				end = mid;
		}
	}
	while (i < all->n && all->v[i].hi <= lo)
		i++;
	r->i_interval = i;
	return i < all->n && all->v[i].lo < hi;
}

/* Ends the row before at `address`. */
static bool close_row(struct reader *r, uint64_t address)
{
	struct program *p = &r->p;
	struct ep_sym_row row = {.at = {p->last_address, address},
	                         .line = p->last_line,
	                         .discriminator = p->last_discriminator};

	if (address < p->last_address)
		p->unsorted = true;
	if (address <= p->last_address || !meets(r, p->last_address, address))
		return true;
	return ep_vec_push(r->out, row);
}

static bool add_row(struct reader *r)
{
	struct program *p = &r->p;

	if (p->begun) {
		if (!close_row(r, p->address))
			return false;
	} else {
		p->begun = true;
		p->lo = p->address;
		p->first = r->out->n;
	}
	p->last_address = p->address;
	p->last_line = p->line;
	p->last_discriminator = p->discriminator;
	p->discriminator = 0;
	return true;
}

/* Of sequences that run backwards nothing is known; dead ones lie where there is no code. */
static bool end_sequence(struct reader *r)
{
	struct program *p = &r->p;
	uint64_t hi = p->address;

	if (p->begun && !close_row(r, hi))
		return false;
	bool good = p->begun && !p->unsorted && p->lo < hi &&
	            (r->sym->dead_code || ep_object_is_text(r->sym->binary, p->lo));
	if (!good) {
		if (p->begun)
			r->out->n = p->first;
		reset(p);
		return true;
	}
	struct sequence sequence = {
	    .lo = p->lo, .hi = hi, .first = p->first, .n = r->out->n - p->first};
	reset(p);
	return ep_vec_push(&r->sequences, sequence);
}

/* False: no memory. */
static bool extended(struct reader *r)
{
	struct program *p = &r->p;
	uint64_t length = ep_bytes_uleb(&p->in);

	if (p->in.failed || !length || length > ep_bytes_left(&p->in)) {
		p->in.failed = true;
		return true;
	}
	const unsigned char *end = p->in.pos + length;
	switch (ep_bytes_u8(&p->in)) {
	case DW_LNE_end_sequence:
		if (!end_sequence(r))
			return false;
		break;
	case DW_LNE_set_address:
		if (length == 9)
			p->address = ep_bytes_u64(&p->in);
		else if (length == 5)
			p->address = ep_bytes_u32(&p->in);
		else
			p->in.failed = true;
		break;
	case DW_LNE_set_discriminator:
		p->discriminator = (uint32_t)ep_bytes_uleb(&p->in);
		break;
	default:
		break;
	}
	if (p->in.pos > end)
		p->in.failed = true;
	p->in.pos = end;
	return true;
}

static bool standard(struct reader *r, unsigned opcode)
{
	struct program *p = &r->p;

	switch (opcode) {
	case DW_LNS_copy:
		return add_row(r);
	case DW_LNS_advance_pc:
		p->address += ep_bytes_uleb(&p->in) * p->min_inst;
		break;
	case DW_LNS_advance_line:
		p->line += (uint32_t)ep_bytes_sleb(&p->in);
		break;
	case DW_LNS_const_add_pc:
		p->address += (uint64_t)((255 - p->opcode_base) / p->line_range) * p->min_inst;
		break;
	case DW_LNS_fixed_advance_pc:
		p->address += ep_bytes_u16(&p->in);
		break;
	default:
		for (unsigned i = p->lengths[opcode - 1]; i && !p->in.failed; i--)
			ep_bytes_uleb(&p->in);
	}
	return true;
}

static bool special(struct reader *r, unsigned opcode)
{
	struct program *p = &r->p;
	unsigned adjusted = opcode - p->opcode_base;

	p->address += (uint64_t)(adjusted / p->line_range) * p->min_inst;
	p->line += (uint32_t)(p->line_base + (int)(adjusted % p->line_range));
	return add_row(r);
}

static bool run(struct reader *r)
{
	struct program *p = &r->p;

	reset(p);
	while (ep_bytes_left(&p->in) && !p->in.failed) {
		unsigned opcode = ep_bytes_u8(&p->in);
		bool ok = opcode >= p->opcode_base ? special(r, opcode)
		          : opcode                 ? standard(r, opcode)
		                                   : extended(r);

		if (!ok)
			return false;
	}
	/* Rows of a sequence that does not end have no last address. */
	if (p->begun)
		r->out->n = p->first;
	return true;
}

static int compare_sequences(const void *a, const void *b)
{
	const struct sequence *x = a, *y = b;

	if (x->hi != y->hi)
		return x->hi < y->hi ? -1 : 1;
	return (x->first > y->first) - (x->first < y->first);
}

/* Where sequences overlap, the one that ends first has the address: LLVM's rule. */
static bool settle(struct reader *r)
{
	ep_sym_rows sorted = {0};
	uint64_t from = 0;

	if (r->sequences.n)
		qsort(r->sequences.v, r->sequences.n, sizeof(*r->sequences.v), compare_sequences);
	if (!ep_vec_reserve(&sorted, r->out->n))
		return false;
	for (size_t i = 0; i < r->sequences.n; i++) {
		const struct sequence *sequence = &r->sequences.v[i];

		for (size_t j = sequence->first; j < sequence->first + sequence->n; j++) {
			struct ep_sym_row row = r->out->v[j];

			row.at.lo = EP_MAX(row.at.lo, from);
			if (row.at.lo < row.at.hi)
				sorted.v[sorted.n++] = row;
		}
		from = sequence->hi;
	}
	free(r->out->v);
	*r->out = sorted;
	return true;
}

struct ep_error *ep_sym_lines_read(const struct ep_symboliser *sym, uint64_t offset,
                                   const struct ep_intervals *intervals, ep_sym_rows *rows,
                                   bool *bad_ret)
{
	struct reader r = {.sym = sym, .intervals = intervals, .out = rows};

	r.p.in = sym->debug_line;
	*bad_ret = false;
	if (!ep_bytes_take(&r.p.in, offset) || !read_header(&r.p)) {
		*bad_ret = true;
		return NULL;
	}
	bool ok = run(&r) && settle(&r);
	*bad_ret = r.p.in.failed;
	ep_vec_deinit(&r.sequences);
	return ok ? NULL : ep_error_nomem();
}
