/* SPDX-License-Identifier: BSD-2-Clause */
/* One pass from tokens to instructions: recursive descent, expressions by precedence. */
#include "lex.h"
#include "vm.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { MAX_LOCALS = 200, MAX_NESTING = 100, MAX_BREAKS = 64, NOWHERE = -1 };

struct local {
	const char *name;
	size_t len;
};

struct compiler {
	struct mv_vm *vm;
	const char *name; /* of the source */
	struct mv_lex lex;
	bool failed;
	unsigned nesting;

	/* of the function being compiled */
	struct mv_fn *fn;
	bool top; /* it is the source's own code, not a fn */
	struct local locals[MAX_LOCALS];
	uint32_t n_locals;
	uint32_t depth; /* temporaries on the stack */
	uint32_t max_depth;
	size_t last_target; /* no instruction before it may be taken back */
	unsigned n_blocks;

	/* of the loop being compiled */
	bool in_loop;
	size_t breaks[MAX_BREAKS];
	size_t n_breaks;
};

typedef void (*prefix_fn)(struct compiler *c);

static void expression(struct compiler *c, int level);
static void block(struct compiler *c);

/* The first error counts; the rest of the source is skipped. */
static void __attribute__((format(printf, 2, 3))) fail(struct compiler *c, const char *fmt, ...)
{
	char buf[160];
	va_list ap;

	if (c->failed)
		return;
	va_start(ap, fmt);
	vsnprintf(buf, sizeof(buf), fmt, ap);
	va_end(ap);
	mv_fail(c->vm, "%s:%u: %s", c->name, c->lex.line, buf);
	c->failed = true;
	c->lex.p = c->lex.end;
	c->lex.kind = T_EOF;
}

static void next(struct compiler *c)
{
	mv_lex_next(&c->lex);
	if (c->lex.kind == T_BAD)
		fail(c, "not a token of this language");
}

static bool accept(struct compiler *c, enum mv_token kind)
{
	if (c->lex.kind != kind)
		return false;
	next(c);
	return true;
}

static void expect(struct compiler *c, enum mv_token kind, const char *what)
{
	if (!accept(c, kind))
		fail(c, "%s expected", what);
}

static void grow(struct compiler *c)
{
	struct mv_fn *fn = c->fn;
	size_t old = fn->cap_code, cap = old ? old * 2 : 32;

	fn->code =
	    mv_resize(&c->vm->heap, fn->code, old * sizeof(*fn->code), cap * sizeof(*fn->code));
	fn->lines =
	    mv_resize(&c->vm->heap, fn->lines, old * sizeof(*fn->lines), cap * sizeof(*fn->lines));
	fn->cap_code = cap;
}

/* effect: how many values more (or less) are on the stack after it. */
static size_t emit(struct compiler *c, enum mv_op op, size_t arg, int effect)
{
	struct mv_fn *fn = c->fn;

	if (arg >= 1u << 24)
		fail(c, "function too large");
	if (fn->n_code == fn->cap_code)
		grow(c);
	fn->code[fn->n_code] = (uint32_t)op | (uint32_t)arg << 8;
	fn->lines[fn->n_code] = c->lex.line;
	c->depth += (uint32_t)effect;
	if (c->depth > c->max_depth)
		c->max_depth = c->depth;
	return fn->n_code++;
}

static size_t target(struct compiler *c)
{
	c->last_target = c->fn->n_code;
	return c->last_target;
}

static void patch(struct compiler *c, size_t at)
{
	size_t to = target(c);

	if (to >= 1u << 24)
		fail(c, "function too large");
	c->fn->code[at] = (c->fn->code[at] & 0xff) | (uint32_t)to << 8;
}

static void constant(struct compiler *c, struct mv_value v)
{
	struct mv_fn *fn = c->fn;
	size_t i = fn->n_consts > 64 ? fn->n_consts - 64 : 0;

	while (i < fn->n_consts && !(fn->consts[i].tag == v.tag && mv_equal(fn->consts[i], v)))
		i++;
	if (i == fn->n_consts) {
		if (i == fn->cap_consts) {
			size_t old = fn->cap_consts * sizeof(v);

			fn->cap_consts = fn->cap_consts ? fn->cap_consts * 2 : 8;
			fn->consts =
			    mv_resize(&c->vm->heap, fn->consts, old, fn->cap_consts * sizeof(v));
		}
		fn->consts[fn->n_consts++] = v;
	}
	emit(c, OP_CONST, i, 1);
}

static void constant_text(struct compiler *c)
{
	struct mv_str *str = mv_str_new(&c->vm->heap, c->lex.text, c->lex.len);

	constant(c, mv_from_obj(&str->obj));
	next(c);
}

static int find_local(const struct compiler *c, const char *name, size_t len)
{
	for (uint32_t i = c->n_locals; i-- > 0;) {
		if (c->locals[i].len == len && memcmp(c->locals[i].name, name, len) == 0)
			return (int)i;
	}
	return NOWHERE;
}

static uint32_t add_local(struct compiler *c, const char *name, size_t len)
{
	if (c->n_locals == MAX_LOCALS) {
		fail(c, "more than %d local variables", MAX_LOCALS);
		return 0;
	}
	c->locals[c->n_locals] = (struct local){.name = name, .len = len};
	if (c->n_locals + 1 > c->fn->n_locals)
		c->fn->n_locals = c->n_locals + 1;
	return c->n_locals++;
}

static size_t global(struct compiler *c, const char *name, size_t len)
{
	size_t slot = mv_vm_global(c->vm, name, len);

	if (slot == MV_GLOBALS)
		fail(c, "more than %d global variables", MV_GLOBALS);
	return slot;
}

/* Expressions between commas up to close; how many. */
static size_t list(struct compiler *c, enum mv_token close, const char *what)
{
	size_t n = 0;

	if (accept(c, close))
		return 0;
	do {
		expression(c, 0);
		n++;
	} while (accept(c, T_COMMA));
	expect(c, close, what);
	return n;
}

static const struct mv_builtin *find_builtin(const char *name, size_t len)
{
	for (size_t i = 0; i < mv_n_builtins; i++) {
		if (strlen(mv_builtins[i].name) == len &&
		    memcmp(mv_builtins[i].name, name, len) == 0)
			return &mv_builtins[i];
	}
	return NULL;
}

static void builtin_call(struct compiler *c, const struct mv_builtin *builtin)
{
	size_t n;

	expect(c, T_LPAREN, "( after a built-in function's name");
	n = list(c, T_RPAREN, ")");
	if (n != builtin->n_args)
		fail(c, "%s takes %u arguments, not %zu", builtin->name, builtin->n_args, n);
	emit(c, OP_BUILTIN, (size_t)(builtin - mv_builtins), 1 - (int)n);
}

static void name(struct compiler *c)
{
	const char *text = c->lex.text;
	size_t len = c->lex.len;
	int slot = find_local(c, text, len);
	const struct mv_builtin *builtin;

	next(c);
	if (slot != NOWHERE) {
		emit(c, OP_LOAD, (size_t)slot, 1);
		return;
	}
	builtin = find_builtin(text, len);
	if (builtin)
		builtin_call(c, builtin);
	else
		emit(c, OP_GLOBAL, global(c, text, len), 1);
}

static void integer(struct compiler *c)
{
	constant(c, mv_int(c->lex.i));
	next(c);
}

static void number(struct compiler *c)
{
	constant(c, mv_num(c->lex.d));
	next(c);
}

static void word(struct compiler *c)
{
	enum mv_op op = c->lex.kind == T_NIL ? OP_NIL : c->lex.kind == T_TRUE ? OP_TRUE : OP_FALSE;

	emit(c, op, 0, 1);
	next(c);
}

static void group(struct compiler *c)
{
	next(c);
	expression(c, 0);
	expect(c, T_RPAREN, ")");
	target(c); /* (a) = 1 is no assignment */
}

static void array(struct compiler *c)
{
	size_t n;

	next(c);
	n = list(c, T_RBRACKET, "]");
	emit(c, OP_ARRAY, n, 1 - (int)n);
}

static void map(struct compiler *c)
{
	size_t n = 0;

	next(c);
	while (c->lex.kind != T_RBRACE && !c->failed) {
		if (c->lex.kind == T_NAME)
			constant_text(c);
		else
			expression(c, 0);
		expect(c, T_COLON, ": after the key");
		expression(c, 0);
		n++;
		if (!accept(c, T_COMMA))
			break;
	}
	expect(c, T_RBRACE, "}");
	emit(c, OP_MAP, n, 1 - 2 * (int)n);
}

enum { LEVEL_UNARY = 10 };

static void unary(struct compiler *c)
{
	enum mv_op op = c->lex.kind == T_MINUS ? OP_NEG : OP_NOT;

	next(c);
	expression(c, LEVEL_UNARY);
	emit(c, op, 0, 0);
}

static const prefix_fn prefixes[T_N] = {
    [T_INT] = integer,    [T_NUM] = number, [T_STR] = constant_text, [T_NAME] = name,
    [T_TRUE] = word,      [T_FALSE] = word, [T_NIL] = word,          [T_LPAREN] = group,
    [T_LBRACKET] = array, [T_LBRACE] = map, [T_MINUS] = unary,       [T_BANG] = unary,
};

/* level 0: no binary operator; and, or come before all others. */
static const struct {
	int level;
	enum mv_op op;
} infixes[T_N] = {
    [T_OR] = {1, OP_OR},        [T_AND] = {2, OP_AND},    [T_EQ] = {3, OP_EQ},
    [T_NE] = {3, OP_NE},        [T_LT] = {4, OP_LT},      [T_LE] = {4, OP_LE},
    [T_GT] = {4, OP_GT},        [T_GE] = {4, OP_GE},      [T_PIPE] = {5, OP_BITOR},
    [T_CARET] = {5, OP_BITXOR}, [T_AMP] = {6, OP_BITAND}, [T_SHL] = {7, OP_SHL},
    [T_SHR] = {7, OP_SHR},      [T_PLUS] = {8, OP_ADD},   [T_MINUS] = {8, OP_SUB},
    [T_STAR] = {9, OP_MUL},     [T_SLASH] = {9, OP_DIV},  [T_PERCENT] = {9, OP_MOD},
};

/* Calls, subscripts and fields after a primary expression. */
static void suffixes(struct compiler *c)
{
	while (!c->failed) {
		if (accept(c, T_LPAREN)) {
			size_t n = list(c, T_RPAREN, ")");

			emit(c, OP_CALL, n, -(int)n);
		} else if (accept(c, T_LBRACKET)) {
			expression(c, 0);
			expect(c, T_RBRACKET, "]");
			emit(c, OP_INDEX, 0, -1);
		} else if (accept(c, T_DOT)) {
			if (c->lex.kind == T_NAME)
				constant_text(c);
			else
				fail(c, "a field's name expected");
			emit(c, OP_INDEX, 0, -1);
		} else {
			return;
		}
	}
}

/* An expression of operators that bind tighter than level. */
static void expression(struct compiler *c, int level)
{
	prefix_fn prefix = prefixes[c->lex.kind];

	if (!prefix || c->nesting == MAX_NESTING) {
		fail(c, prefix ? "expression too deep" : "an expression expected");
		return;
	}
	c->nesting++;
	prefix(c);
	suffixes(c);
	while (infixes[c->lex.kind].level > level) {
		int inner = infixes[c->lex.kind].level;
		enum mv_op op = infixes[c->lex.kind].op;

		next(c);
		if (op == OP_AND || op == OP_OR) {
			size_t at = emit(c, op, 0, -1);

			expression(c, inner);
			patch(c, at);
		} else {
			expression(c, inner);
			emit(c, op, 0, -1);
		}
	}
	c->nesting--;
}

/* Stores the value on the stack where the instruction taken back had loaded from. */
static void store(struct compiler *c, uint32_t load)
{
	switch (load & 0xff) {
	case OP_LOAD:
		emit(c, OP_STORE, load >> 8, -1);
		break;
	case OP_GLOBAL:
		emit(c, OP_SETGLOBAL, load >> 8, -1);
		break;
	default:
		emit(c, OP_SETINDEX, 0, -3);
		break;
	}
}

static void assign_or_call(struct compiler *c)
{
	struct mv_fn *fn = c->fn;
	uint32_t last;
	enum mv_op op;

	expression(c, 0);
	if (c->failed)
		return;
	if (!accept(c, T_ASSIGN)) {
		emit(c, OP_POP, 0, -1);
		return;
	}
	last = fn->code[fn->n_code - 1];
	op = last & 0xff;
	if (c->last_target == fn->n_code || (op != OP_LOAD && op != OP_GLOBAL && op != OP_INDEX)) {
		fail(c, "cannot assign to this");
		return;
	}
	fn->n_code--;
	c->depth += op == OP_INDEX ? 1 : (uint32_t)-1;
	expression(c, 0);
	store(c, last);
}

static void let(struct compiler *c)
{
	const char *text = c->lex.text;
	size_t len = c->lex.len;

	expect(c, T_NAME, "a variable's name");
	if (accept(c, T_ASSIGN))
		expression(c, 0);
	else
		emit(c, OP_NIL, 0, 1);
	if (c->top && c->n_blocks == 0)
		emit(c, OP_SETGLOBAL, global(c, text, len), -1);
	else
		emit(c, OP_STORE, add_local(c, text, len), -1);
}

static void if_else(struct compiler *c)
{
	size_t over, out;

	expression(c, 0);
	over = emit(c, OP_JUMP_FALSE, 0, -1);
	block(c);
	if (!accept(c, T_ELSE)) {
		patch(c, over);
		return;
	}
	out = emit(c, OP_JUMP, 0, 0);
	patch(c, over);
	if (c->lex.kind == T_IF && c->nesting < MAX_NESTING) {
		c->nesting++;
		next(c);
		if_else(c);
		c->nesting--;
	} else {
		block(c);
	}
	patch(c, out);
}

/* The body of a loop that starts at start and is left from over; step is the counter or NOWHERE. */
static void loop_body(struct compiler *c, size_t start, size_t over, int step)
{
	bool outer = c->in_loop;
	size_t n_outer = c->n_breaks;

	c->in_loop = true;
	block(c);
	if (step != NOWHERE) {
		emit(c, OP_LOAD, (size_t)step, 1);
		constant(c, mv_int(1));
		emit(c, OP_ADD, 0, -1);
		emit(c, OP_STORE, (size_t)step, -1);
	}
	emit(c, OP_LOOP, start, 0);
	patch(c, over);
	while (c->n_breaks > n_outer)
		patch(c, c->breaks[--c->n_breaks]);
	c->in_loop = outer;
}

static void while_loop(struct compiler *c)
{
	size_t start = target(c);

	expression(c, 0);
	loop_body(c, start, emit(c, OP_JUMP_FALSE, 0, -1), NOWHERE);
}

/* for i = a, b { }: i runs from a to b - 1; b is computed once. */
static void for_loop(struct compiler *c)
{
	uint32_t n_outer = c->n_locals, counter, limit;
	const char *text = c->lex.text;
	size_t len = c->lex.len, start;

	expect(c, T_NAME, "the counter's name");
	expect(c, T_ASSIGN, "=");
	expression(c, 0);
	expect(c, T_COMMA, ", and the limit");
	counter = add_local(c, text, len);
	emit(c, OP_STORE, counter, -1);
	expression(c, 0);
	limit = add_local(c, "", 0);
	emit(c, OP_STORE, limit, -1);
	start = target(c);
	emit(c, OP_LOAD, counter, 1);
	emit(c, OP_LOAD, limit, 1);
	emit(c, OP_LT, 0, -1);
	loop_body(c, start, emit(c, OP_JUMP_FALSE, 0, -1), (int)counter);
	c->n_locals = n_outer;
}

static void break_loop(struct compiler *c)
{
	if (!c->in_loop)
		fail(c, "break outside a loop");
	else if (c->n_breaks == MAX_BREAKS)
		fail(c, "more than %d breaks", MAX_BREAKS);
	else
		c->breaks[c->n_breaks++] = emit(c, OP_JUMP, 0, 0);
}

static void return_value(struct compiler *c)
{
	if (c->lex.kind == T_SEMICOLON)
		emit(c, OP_NIL, 0, 1);
	else
		expression(c, 0);
	emit(c, OP_RETURN, 0, -1);
}

static void end_function(struct compiler *c)
{
	emit(c, OP_NIL, 0, 1);
	emit(c, OP_RETURN, 0, -1);
	c->fn->n_slots = c->fn->n_locals + c->max_depth;
}

static void begin_function(struct compiler *c, const char *text, size_t len, bool top)
{
	c->fn = mv_fn_new(&c->vm->heap, text, len);
	c->top = top;
	c->n_locals = c->depth = c->max_depth = 0;
	c->last_target = 0;
	c->n_blocks = 0;
	c->in_loop = false;
	c->n_breaks = 0;
}

/* fn name(a, b) { }, at the top level only. */
static void function(struct compiler *c)
{
	struct compiler outer = *c;
	const char *text = c->lex.text;
	size_t len = c->lex.len;
	struct mv_fn *fn;

	if (!c->top || c->n_blocks > 0)
		fail(c, "fn inside a function or block");
	expect(c, T_NAME, "the function's name");
	begin_function(c, text, len, false);
	expect(c, T_LPAREN, "(");
	while (c->lex.kind == T_NAME) {
		add_local(c, c->lex.text, c->lex.len);
		c->fn->n_params++;
		next(c);
		if (!accept(c, T_COMMA))
			break;
	}
	expect(c, T_RPAREN, ")");
	block(c);
	end_function(c);
	fn = c->fn;
	outer.lex = c->lex;
	outer.failed = c->failed;
	*c = outer;
	constant(c, mv_from_obj(&fn->obj));
	emit(c, OP_SETGLOBAL, global(c, text, len), -1);
}

static void statement(struct compiler *c)
{
	if (accept(c, T_IF)) {
		if_else(c);
	} else if (accept(c, T_WHILE)) {
		while_loop(c);
	} else if (accept(c, T_FOR)) {
		for_loop(c);
	} else if (accept(c, T_FN)) {
		function(c);
	} else if (c->lex.kind == T_LBRACE) {
		block(c);
	} else {
		if (accept(c, T_LET))
			let(c);
		else if (accept(c, T_BREAK))
			break_loop(c);
		else if (accept(c, T_RETURN))
			return_value(c);
		else
			assign_or_call(c);
		expect(c, T_SEMICOLON, ";");
	}
}

static void block(struct compiler *c)
{
	uint32_t n_outer = c->n_locals;

	expect(c, T_LBRACE, "{");
	if (c->nesting == MAX_NESTING) {
		fail(c, "blocks too deep");
		return;
	}
	c->nesting++;
	c->n_blocks++;
	while (c->lex.kind != T_RBRACE && c->lex.kind != T_EOF)
		statement(c);
	expect(c, T_RBRACE, "}");
	c->n_blocks--;
	c->nesting--;
	c->n_locals = n_outer;
}

struct mv_fn *mv_compile(struct mv_vm *vm, const char *name, const char *src, size_t len)
{
	struct compiler c = {.vm = vm, .name = name};

	mv_lex_init(&c.lex, src, len);
	begin_function(&c, "(top)", 5, true);
	next(&c);
	while (c.lex.kind != T_EOF)
		statement(&c);
	end_function(&c);
	return c.failed ? NULL : c.fn;
}
