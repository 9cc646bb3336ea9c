/* SPDX-License-Identifier: BSD-2-Clause */
/* The functions built into the language, in one table the machine calls through. */
#include "vm.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool fail(struct mv_vm *vm, const char *name, struct mv_value v)
{
	return mv_fail(vm, "%s: not for a value of type %s", name, mv_types[v.tag]->name);
}

static bool do_len(struct mv_vm *vm, struct mv_value *args, struct mv_value *ret)
{
	switch (args[0].tag) {
	case MV_STR:
		*ret = mv_int((int64_t)args[0].u.str->len);
		return true;
	case MV_ARR:
		*ret = mv_int((int64_t)args[0].u.arr->n);
		return true;
	case MV_MAP:
		*ret = mv_int((int64_t)args[0].u.map->n);
		return true;
	default:
		return fail(vm, "len", args[0]);
	}
}

static bool do_push(struct mv_vm *vm, struct mv_value *args, struct mv_value *ret)
{
	if (args[0].tag != MV_ARR)
		return fail(vm, "push", args[0]);
	mv_arr_push(&vm->heap, args[0].u.arr, args[1]);
	*ret = args[0];
	return true;
}

static bool do_pop(struct mv_vm *vm, struct mv_value *args, struct mv_value *ret)
{
	if (args[0].tag != MV_ARR)
		return fail(vm, "pop", args[0]);
	if (args[0].u.arr->n == 0)
		return mv_fail(vm, "pop: the array is empty");
	*ret = args[0].u.arr->v[--args[0].u.arr->n];
	return true;
}

/* array(n, v): n times v. */
static bool do_array(struct mv_vm *vm, struct mv_value *args, struct mv_value *ret)
{
	struct mv_arr *arr;

	if (args[0].tag != MV_INT || args[0].u.i < 0 || args[0].u.i > 1 << 24)
		return fail(vm, "array", args[0]);
	arr = mv_arr_new(&vm->heap, (size_t)args[0].u.i);
	for (int64_t i = 0; i < args[0].u.i; i++)
		mv_arr_push(&vm->heap, arr, args[1]);
	*ret = mv_from_obj(&arr->obj);
	return true;
}

/* slice(s, from, to): the bytes from..to-1, as far as there are any. */
static bool do_slice(struct mv_vm *vm, struct mv_value *args, struct mv_value *ret)
{
	int64_t from, to, len;

	if (args[0].tag != MV_STR || args[1].tag != MV_INT || args[2].tag != MV_INT)
		return fail(vm, "slice", args[0]);
	len = (int64_t)args[0].u.str->len;
	from = args[1].u.i < 0 ? 0 : args[1].u.i;
	to = args[2].u.i > len ? len : args[2].u.i;
	if (from > to)
		from = to = 0;
	*ret = mv_from_obj(
	    &mv_str_new(&vm->heap, args[0].u.str->text + from, (size_t)(to - from))->obj);
	return true;
}

static bool do_chr(struct mv_vm *vm, struct mv_value *args, struct mv_value *ret)
{
	char c;

	if (args[0].tag != MV_INT)
		return fail(vm, "chr", args[0]);
	c = (char)(args[0].u.i & 0xff);
	*ret = mv_from_obj(&mv_str_new(&vm->heap, &c, 1)->obj);
	return true;
}

static bool do_str(struct mv_vm *vm, struct mv_value *args, struct mv_value *ret)
{
	struct mv_text text = {0};

	mv_show(&text, args[0]);
	*ret = mv_from_obj(&mv_str_new(&vm->heap, text.p, text.n)->obj);
	mv_text_deinit(&text);
	return true;
}

static bool do_int(struct mv_vm *vm, struct mv_value *args, struct mv_value *ret)
{
	switch (args[0].tag) {
	case MV_INT:
		*ret = args[0];
		return true;
	case MV_NUM:
		if (!(args[0].u.d > -9e18 && args[0].u.d < 9e18))
			return mv_fail(vm, "int: number too large");
		*ret = mv_int((int64_t)args[0].u.d);
		return true;
	case MV_STR:
		*ret = mv_int(strtoll(args[0].u.str->text, NULL, 10));
		return true;
	default:
		return fail(vm, "int", args[0]);
	}
}

static bool do_num(struct mv_vm *vm, struct mv_value *args, struct mv_value *ret)
{
	if (args[0].tag == MV_INT)
		*ret = mv_num((double)args[0].u.i);
	else if (args[0].tag == MV_NUM)
		*ret = args[0];
	else if (args[0].tag == MV_STR)
		*ret = mv_num(strtod(args[0].u.str->text, NULL));
	else
		return fail(vm, "num", args[0]);
	return true;
}

static bool do_sqrt(struct mv_vm *vm, struct mv_value *args, struct mv_value *ret)
{
	if (args[0].tag != MV_NUM && args[0].tag != MV_INT)
		return fail(vm, "sqrt", args[0]);
	*ret = mv_num(sqrt(args[0].tag == MV_NUM ? args[0].u.d : (double)args[0].u.i));
	return true;
}

static bool do_has(struct mv_vm *vm, struct mv_value *args, struct mv_value *ret)
{
	if (args[0].tag != MV_MAP || !mv_is_key(args[1]))
		return fail(vm, "has", args[0].tag != MV_MAP ? args[0] : args[1]);
	*ret = mv_bool(mv_map_find(args[0].u.map, args[1]) != NULL);
	return true;
}

static bool do_remove(struct mv_vm *vm, struct mv_value *args, struct mv_value *ret)
{
	if (args[0].tag != MV_MAP || !mv_is_key(args[1]))
		return fail(vm, "remove", args[0].tag != MV_MAP ? args[0] : args[1]);
	*ret = mv_bool(mv_map_remove(args[0].u.map, args[1]));
	return true;
}

/* keys(m): an array, in no promised order but the same on every run. */
static bool do_keys(struct mv_vm *vm, struct mv_value *args, struct mv_value *ret)
{
	const struct mv_map *map = args[0].u.map;
	struct mv_arr *arr;

	if (args[0].tag != MV_MAP)
		return fail(vm, "keys", args[0]);
	arr = mv_arr_new(&vm->heap, map->n);
	for (size_t i = 0; i < map->cap; i++) {
		if (map->e[i].key.tag != MV_NIL)
			mv_arr_push(&vm->heap, arr, map->e[i].key);
	}
	*ret = mv_from_obj(&arr->obj);
	return true;
}

static bool do_print(struct mv_vm *vm, struct mv_value *args, struct mv_value *ret)
{
	(void)ret;
	mv_show(&vm->output, args[0]);
	mv_text_add(&vm->output, "\n", 1);
	return true;
}

/* eval(text): compiles and runs a source, its return value is the result. */
static bool do_eval(struct mv_vm *vm, struct mv_value *args, struct mv_value *ret)
{
	struct mv_fn *fn;

	if (args[0].tag != MV_STR)
		return fail(vm, "eval", args[0]);
	fn = mv_compile(vm, "eval", args[0].u.str->text, args[0].u.str->len);
	return fn && mv_vm_call(vm, fn, NULL, 0, ret);
}

const struct mv_builtin mv_builtins[] = {
    {"len", 1, do_len},     {"push", 2, do_push},   {"pop", 1, do_pop},   {"array", 2, do_array},
    {"slice", 3, do_slice}, {"chr", 1, do_chr},     {"str", 1, do_str},   {"int", 1, do_int},
    {"num", 1, do_num},     {"sqrt", 1, do_sqrt},   {"has", 2, do_has},   {"remove", 2, do_remove},
    {"keys", 1, do_keys},   {"print", 1, do_print}, {"eval", 1, do_eval},
};
const size_t mv_n_builtins = sizeof(mv_builtins) / sizeof(mv_builtins[0]);
