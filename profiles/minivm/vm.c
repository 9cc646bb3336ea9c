/* SPDX-License-Identifier: BSD-2-Clause */
/* The machine: its state, calls and the interpreter loop. */
#include "vm.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What the interpreter loop keeps at hand of the innermost frame. */
struct regs {
	const uint32_t *pc, *code;
	struct mv_value *sp; /* first free slot */
	struct mv_value *base;
	const struct mv_value *consts;
};

bool mv_fail(struct mv_vm *vm, const char *fmt, ...)
{
	va_list ap;

	if (vm->error[0])
		return false;
	va_start(ap, fmt);
	vsnprintf(vm->error, sizeof(vm->error), fmt, ap);
	va_end(ap);
	return false;
}

struct mv_vm *mv_vm_create(void)
{
	struct mv_vm *vm = calloc(1, sizeof(*vm));

	if (!vm)
		return NULL;
	mv_heap_init(&vm->heap);
	vm->stack = calloc(MV_STACK, sizeof(*vm->stack));
	vm->frames = calloc(MV_FRAMES, sizeof(*vm->frames));
	if (!vm->stack || !vm->frames) {
		mv_vm_destroy(vm);
		return NULL;
	}
	vm->stack_end = vm->stack + MV_STACK;
	vm->sp = vm->stack;
	vm->global_slots = mv_map_new(&vm->heap);
	return vm;
}

void mv_vm_destroy(struct mv_vm *vm)
{
	if (!vm)
		return;
	mv_heap_deinit(&vm->heap);
	mv_text_deinit(&vm->output);
	free(vm->stack);
	free(vm->frames);
	free(vm);
}

size_t mv_vm_global(struct mv_vm *vm, const char *name, size_t len)
{
	struct mv_str *str = mv_str_new(&vm->heap, name, len);
	struct mv_value key = mv_from_obj(&str->obj);
	struct mv_value *slot = mv_map_find(vm->global_slots, key);

	if (slot)
		return (size_t)slot->u.i;
	if (vm->n_globals == MV_GLOBALS)
		return MV_GLOBALS;
	mv_map_put(&vm->heap, vm->global_slots, key, mv_int((int64_t)vm->n_globals));
	return vm->n_globals++;
}

static void collect(struct mv_vm *vm)
{
	mv_mark_all(&vm->heap, vm->stack, (size_t)(vm->sp - vm->stack));
	mv_mark_all(&vm->heap, vm->globals, vm->n_globals);
	mv_mark(&vm->heap, mv_from_obj(&vm->global_slots->obj));
	mv_heap_sweep(&vm->heap);
}

static void safe_point(struct mv_vm *vm, struct mv_value *sp)
{
	if (mv_heap_full(&vm->heap)) {
		vm->sp = sp;
		collect(vm);
	}
}

static const char *type_name(struct mv_value v)
{
	return mv_types[v.tag]->name;
}

static bool fail_types(struct mv_vm *vm, const char *what, struct mv_value a, struct mv_value b)
{
	return mv_fail(vm, "cannot %s %s and %s", what, type_name(a), type_name(b));
}

static bool divide(struct mv_vm *vm, enum mv_op op, int64_t x, int64_t y, int64_t *ret)
{
	if (y == 0)
		return mv_fail(vm, "division by zero");
	if (y == -1) /* INT64_MIN / -1 has no value in C */
		*ret = op == OP_DIV ? (int64_t)(0 - (uint64_t)x) : 0;
	else
		*ret = op == OP_DIV ? x / y : x % y;
	return true;
}

/* Integers wrap around; the operands of shifts count modulo 64. */
static bool int_arith(struct mv_vm *vm, enum mv_op op, int64_t x, int64_t y, int64_t *ret)
{
	uint64_t a = (uint64_t)x, b = (uint64_t)y;

	switch (op) {
	case OP_ADD:
		*ret = (int64_t)(a + b);
		return true;
	case OP_SUB:
		*ret = (int64_t)(a - b);
		return true;
	case OP_MUL:
		*ret = (int64_t)(a * b);
		return true;
	case OP_BITAND:
		*ret = (int64_t)(a & b);
		return true;
	case OP_BITOR:
		*ret = (int64_t)(a | b);
		return true;
	case OP_BITXOR:
		*ret = (int64_t)(a ^ b);
		return true;
	case OP_SHL:
		*ret = (int64_t)(a << (b & 63));
		return true;
	case OP_SHR:
		*ret = (int64_t)(a >> (b & 63));
		return true;
	default:
		return divide(vm, op, x, y, ret);
	}
}

static bool num_arith(struct mv_vm *vm, enum mv_op op, double x, double y, double *ret)
{
	switch (op) {
	case OP_ADD:
		*ret = x + y;
		return true;
	case OP_SUB:
		*ret = x - y;
		return true;
	case OP_MUL:
		*ret = x * y;
		return true;
	case OP_DIV:
		*ret = x / y;
		return true;
	default:
		return mv_fail(vm, "operator for integers used on a num");
	}
}

static bool is_number(struct mv_value v)
{
	return v.tag == MV_INT || v.tag == MV_NUM;
}

static double to_num(struct mv_value v)
{
	return v.tag == MV_NUM ? v.u.d : (double)v.u.i;
}

/* *a = *a op b */
static bool arith(struct mv_vm *vm, enum mv_op op, struct mv_value *a, struct mv_value b)
{
	if (a->tag == MV_INT && b.tag == MV_INT)
		return int_arith(vm, op, a->u.i, b.u.i, &a->u.i);
	if (is_number(*a) && is_number(b)) {
		*a = mv_num(to_num(*a));
		return num_arith(vm, op, a->u.d, to_num(b), &a->u.d);
	}
	if (a->tag == MV_STR && b.tag == MV_STR && op == OP_ADD) {
		*a = mv_from_obj(&mv_str_concat(&vm->heap, a->u.str, b.u.str)->obj);
		return true;
	}
	return fail_types(vm, "combine", *a, b);
}

/* A comparison's answer, from a three-way comparison. */
static bool decide(enum mv_op op, int order)
{
	switch (op) {
	case OP_EQ:
		return order == 0;
	case OP_NE:
		return order != 0;
	case OP_LT:
		return order < 0;
	case OP_LE:
		return order <= 0;
	case OP_GT:
		return order > 0;
	default:
		return order >= 0;
	}
}

/* With a NaN nothing is true but !=. */
static bool compare_nums(enum mv_op op, double x, double y)
{
	if (x != x || y != y)
		return op == OP_NE;
	return decide(op, (x > y) - (x < y));
}

/* *a = *a op b */
static bool compare(struct mv_vm *vm, enum mv_op op, struct mv_value *a, struct mv_value b)
{
	bool yes;

	if (a->tag == MV_INT && b.tag == MV_INT)
		yes = decide(op, (a->u.i > b.u.i) - (a->u.i < b.u.i));
	else if (is_number(*a) && is_number(b))
		yes = compare_nums(op, to_num(*a), to_num(b));
	else if (op == OP_EQ || op == OP_NE)
		yes = mv_equal(*a, b) == (op == OP_EQ);
	else if (a->tag == MV_STR && b.tag == MV_STR)
		yes = decide(op, mv_str_compare(a->u.str, b.u.str));
	else
		return fail_types(vm, "compare", *a, b);
	*a = mv_bool(yes);
	return true;
}

static bool negate(struct mv_vm *vm, struct mv_value *a)
{
	if (a->tag == MV_INT)
		*a = mv_int((int64_t)(0 - (uint64_t)a->u.i));
	else if (a->tag == MV_NUM)
		*a = mv_num(-a->u.d);
	else
		return mv_fail(vm, "cannot negate %s", type_name(*a));
	return true;
}

static bool in_range(struct mv_vm *vm, struct mv_value key, size_t n)
{
	if (key.tag != MV_INT)
		return mv_fail(vm, "subscript is %s, not int", type_name(key));
	if (key.u.i < 0 || (uint64_t)key.u.i >= n)
		return mv_fail(vm, "subscript %lld outside 0..%zu", (long long)key.u.i, n);
	return true;
}

/* *a = (*a)[key]; a map has nil where it has nothing, a string has bytes. */
static bool index_get(struct mv_vm *vm, struct mv_value *a, struct mv_value key)
{
	const struct mv_value *found;

	switch (a->tag) {
	case MV_ARR:
		if (!in_range(vm, key, a->u.arr->n))
			return false;
		*a = a->u.arr->v[key.u.i];
		return true;
	case MV_MAP:
		if (!mv_is_key(key))
			return mv_fail(vm, "%s is no key", type_name(key));
		found = mv_map_find(a->u.map, key);
		*a = found ? *found : mv_nil();
		return true;
	case MV_STR:
		if (!in_range(vm, key, a->u.str->len))
			return false;
		*a = mv_int((unsigned char)a->u.str->text[key.u.i]);
		return true;
	default:
		return mv_fail(vm, "%s has no subscripts", type_name(*a));
	}
}

static bool index_set(struct mv_vm *vm, struct mv_value a, struct mv_value key, struct mv_value v)
{
	switch (a.tag) {
	case MV_ARR:
		if (!in_range(vm, key, a.u.arr->n))
			return false;
		a.u.arr->v[key.u.i] = v;
		return true;
	case MV_MAP:
		if (!mv_is_key(key))
			return mv_fail(vm, "%s is no key", type_name(key));
		mv_map_put(&vm->heap, a.u.map, key, v);
		return true;
	default:
		return mv_fail(vm, "%s cannot be changed", type_name(a));
	}
}

static struct mv_value make_array(struct mv_vm *vm, const struct mv_value *v, size_t n)
{
	struct mv_arr *arr = mv_arr_new(&vm->heap, n);

	for (size_t i = 0; i < n; i++)
		mv_arr_push(&vm->heap, arr, v[i]);
	return mv_from_obj(&arr->obj);
}

static bool make_map(struct mv_vm *vm, const struct mv_value *v, size_t n, struct mv_value *ret)
{
	struct mv_map *map = mv_map_new(&vm->heap);

	for (size_t i = 0; i < n; i++) {
		if (!mv_is_key(v[2 * i]))
			return mv_fail(vm, "%s is no key", type_name(v[2 * i]));
		mv_map_put(&vm->heap, map, v[2 * i], v[2 * i + 1]);
	}
	*ret = mv_from_obj(&map->obj);
	return true;
}

/* Enters the function under the n arguments on the stack. */
static bool call(struct mv_vm *vm, size_t n)
{
	struct mv_value *callee = vm->sp - n - 1, *base = callee + 1;
	struct mv_fn *fn = callee->u.fn;

	if (callee->tag != MV_FN)
		return mv_fail(vm, "cannot call %s", type_name(*callee));
	if (n != fn->n_params)
		return mv_fail(vm, "%s takes %u arguments, not %zu", fn->name, fn->n_params, n);
	if (vm->n_frames == MV_FRAMES || (size_t)(vm->stack_end - base) < fn->n_slots)
		return mv_fail(vm, "%s: calls too deep", fn->name);
	for (size_t i = n; i < fn->n_locals; i++)
		base[i] = mv_nil();
	vm->sp = base + fn->n_locals;
	vm->frames[vm->n_frames++] = (struct mv_frame){.fn = fn, .pc = fn->code, .base = base};
	safe_point(vm, vm->sp);
	return true;
}

/* Leaves the innermost function; its value replaces the callee and the arguments. */
static void leave(struct mv_vm *vm, struct mv_value v)
{
	struct mv_value *base = vm->frames[--vm->n_frames].base;

	base[-1] = v;
	vm->sp = base;
}

static struct regs load(const struct mv_vm *vm)
{
	const struct mv_frame *f = &vm->frames[vm->n_frames - 1];

	return (struct regs){.pc = f->pc,
	                     .code = f->fn->code,
	                     .sp = vm->sp,
	                     .base = f->base,
	                     .consts = f->fn->consts};
}

static void save(struct mv_vm *vm, const uint32_t *pc, struct mv_value *sp)
{
	vm->frames[vm->n_frames - 1].pc = pc;
	vm->sp = sp;
}

/* Adds where it happened to the error. */
static bool trap(struct mv_vm *vm, const uint32_t *pc)
{
	const struct mv_fn *fn = vm->frames[vm->n_frames - 1].fn;
	size_t at = (size_t)(pc - fn->code) - 1, len = strlen(vm->error);

	snprintf(vm->error + len, sizeof(vm->error) - len, " (%s, line %u)", fn->name,
	         fn->lines[at]);
	return false;
}

/* The instructions that are not worth a place in the loop; the new sp, NULL on an error. */
static struct mv_value *step(struct mv_vm *vm, uint32_t ins, struct mv_value *sp)
{
	size_t arg = ins >> 8;
	struct mv_value v = mv_nil();

	switch (ins & 0xff) {
	case OP_GLOBAL:
		v = vm->globals[arg];
		break;
	case OP_SETGLOBAL:
		vm->globals[arg] = *--sp;
		return sp;
	case OP_POP:
		return sp - 1;
	case OP_NIL:
		break;
	case OP_TRUE:
	case OP_FALSE:
		v = mv_bool((ins & 0xff) == OP_TRUE);
		break;
	case OP_BITAND ... OP_SHR:
		return arith(vm, ins & 0xff, sp - 2, sp[-1]) ? sp - 1 : NULL;
	case OP_NEG:
		return negate(vm, sp - 1) ? sp : NULL;
	case OP_NOT:
		v = mv_bool(!mv_truthy(*--sp));
		break;
	case OP_ARRAY:
		sp -= arg;
		v = make_array(vm, sp, arg);
		break;
	case OP_MAP:
		sp -= 2 * arg;
		if (!make_map(vm, sp, arg, &v))
			return NULL;
		break;
	default:
		mv_fail(vm, "bad instruction %u", ins & 0xff);
		return NULL;
	}
	*sp = v;
	return sp + 1;
}

/* Calls through the table; the new sp, NULL on an error. */
static struct mv_value *builtin(struct mv_vm *vm, const struct mv_builtin *b, struct regs r)
{
	struct mv_value *args = r.sp - b->n_args, ret = mv_nil();

	save(vm, r.pc, r.sp);
	if (!b->fn(vm, args, &ret))
		return NULL;
	*args = ret;
	return args + 1;
}

/* A case of the loop: the operator known, so that the compiler can choose a copy of fn for it. */
#define BINARY(op, fn)                                                                             \
	case op:                                                                                   \
		ok = fn(vm, op, r.sp - 2, r.sp[-1]);                                               \
		r.sp--;                                                                            \
		break

/* Runs until no more than stop frames are left. */
static bool run(struct mv_vm *vm, size_t stop)
{
	struct regs r = load(vm);

	for (;;) {
		uint32_t ins = *r.pc++, arg = ins >> 8;
		enum mv_op op = ins & 0xff;
		bool ok = true;

		switch (op) {
		case OP_CONST:
			*r.sp++ = r.consts[arg];
			break;
		case OP_LOAD:
			*r.sp++ = r.base[arg];
			break;
		case OP_STORE:
			r.base[arg] = *--r.sp;
			break;
		case OP_LOOP:
			safe_point(vm, r.sp);
			__attribute__((fallthrough));
		case OP_JUMP:
			r.pc = r.code + arg;
			break;
		case OP_JUMP_FALSE:
			if (!mv_truthy(*--r.sp))
				r.pc = r.code + arg;
			break;
		case OP_AND:
		case OP_OR:
			if (mv_truthy(r.sp[-1]) == (op == OP_OR))
				r.pc = r.code + arg;
			else
				r.sp--;
			break;
			BINARY(OP_ADD, arith);
			BINARY(OP_SUB, arith);
			BINARY(OP_MUL, arith);
			BINARY(OP_DIV, arith);
			BINARY(OP_MOD, arith);
			BINARY(OP_EQ, compare);
			BINARY(OP_NE, compare);
			BINARY(OP_LT, compare);
			BINARY(OP_LE, compare);
			BINARY(OP_GT, compare);
			BINARY(OP_GE, compare);
		case OP_INDEX:
			ok = index_get(vm, r.sp - 2, r.sp[-1]);
			r.sp--;
			break;
		case OP_SETINDEX:
			ok = index_set(vm, r.sp[-3], r.sp[-2], r.sp[-1]);
			r.sp -= 3;
			break;
		case OP_CALL:
			save(vm, r.pc, r.sp);
			ok = call(vm, arg);
			r = load(vm);
			break;
		case OP_RETURN:
			leave(vm, r.sp[-1]);
			if (vm->n_frames == stop)
				return true;
			r = load(vm);
			break;
		case OP_BUILTIN:
			r.sp = builtin(vm, &mv_builtins[arg], r);
			ok = r.sp != NULL;
			break;
		default:
			r.sp = step(vm, ins, r.sp);
			ok = r.sp != NULL;
			break;
		}
		if (!ok)
			return trap(vm, r.pc);
	}
}

bool mv_vm_call(struct mv_vm *vm, struct mv_fn *fn, const struct mv_value *args, size_t n,
                struct mv_value *ret)
{
	size_t stop = vm->n_frames;
	struct mv_value *sp = vm->sp;
	bool ok;

	if (vm->n_runs == MV_NESTED_RUNS || (size_t)(vm->stack_end - sp) < n + 1)
		return mv_fail(vm, "calls too deep");
	*vm->sp++ = mv_from_obj(&fn->obj);
	for (size_t i = 0; i < n; i++)
		*vm->sp++ = args[i];
	vm->n_runs++;
	ok = call(vm, n) && run(vm, stop);
	vm->n_runs--;
	if (ok)
		*ret = *sp;
	vm->n_frames = stop;
	vm->sp = sp;
	return ok;
}
