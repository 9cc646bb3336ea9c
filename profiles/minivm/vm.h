/* SPDX-License-Identifier: BSD-2-Clause */
/* The compiler's output, the machine that runs it, and the functions built into it. */
#ifndef MINIVM_VM_H
#define MINIVM_VM_H

#include "heap.h"

/* An instruction is op | arg << 8. "top" is the last value of the stack. */
enum mv_op {
	OP_NIL,        /* push nil */
	OP_TRUE,       /* push true */
	OP_FALSE,      /* push false */
	OP_CONST,      /* push constant arg */
	OP_LOAD,       /* push local arg */
	OP_STORE,      /* local arg = pop */
	OP_GLOBAL,     /* push global arg */
	OP_SETGLOBAL,  /* global arg = pop */
	OP_POP,        /* pop */
	OP_JUMP,       /* pc = arg */
	OP_LOOP,       /* pc = arg, backwards: the point where a collection may happen */
	OP_JUMP_FALSE, /* pop; if false, pc = arg */
	OP_AND,        /* if top is false, pc = arg, else pop */
	OP_OR,         /* if top is true, pc = arg, else pop */
	OP_ADD,        /* the binary ones: pop b, pop a, push a op b */
	OP_SUB,
	OP_MUL,
	OP_DIV,
	OP_MOD,
	OP_BITAND,
	OP_BITOR,
	OP_BITXOR,
	OP_SHL,
	OP_SHR,
	OP_EQ,
	OP_NE,
	OP_LT,
	OP_LE,
	OP_GT,
	OP_GE,
	OP_NEG,
	OP_NOT,
	OP_INDEX,    /* pop key, pop container, push container[key] */
	OP_SETINDEX, /* pop value, pop key, pop container, container[key] = value */
	OP_ARRAY,    /* pop arg values, push an array of them */
	OP_MAP,      /* pop arg keys and values, push a map of them */
	OP_CALL,     /* pop arg values and the function under them, call */
	OP_BUILTIN,  /* call built-in function arg with as many values as it takes */
	OP_RETURN,   /* pop, leave the function with that value */
};

enum { MV_STACK = 1 << 16, MV_FRAMES = 4096, MV_GLOBALS = 1024, MV_NESTED_RUNS = 16 };

struct mv_frame {
	struct mv_fn *fn;
	const uint32_t *pc;
	struct mv_value *base; /* local 0 */
};

/* One machine: globals live as long as it; it is used by one thread. */
struct mv_vm {
	struct mv_heap heap;
	struct mv_value *stack, *stack_end, *sp;
	struct mv_frame *frames;
	size_t n_frames, n_runs;
	struct mv_map *global_slots; /* name -> index in globals */
	struct mv_value globals[MV_GLOBALS];
	size_t n_globals;
	struct mv_text output; /* what the program printed */
	char error[256];
};

/* NULL when there is no memory. */
struct mv_vm *mv_vm_create(void);
void mv_vm_destroy(struct mv_vm *vm);

/* Slot of the global of that name, made (holding nil) where there is none; MV_GLOBALS: too many. */
size_t mv_vm_global(struct mv_vm *vm, const char *name, size_t len);

/* Records the first error (vm->error) and returns false, for the caller to return. */
bool mv_fail(struct mv_vm *vm, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/*
 * Compiles source text (name is for messages); NULL and vm->error on bad source. The function is
 * the caller's to keep alive: nothing is collected before the machine runs.
 */
struct mv_fn *mv_compile(struct mv_vm *vm, const char *name, const char *src, size_t len);

/* Calls fn with n arguments; false and vm->error when it failed. */
bool mv_vm_call(struct mv_vm *vm, struct mv_fn *fn, const struct mv_value *args, size_t n,
                struct mv_value *ret);

/*
 * A built-in function: args has n_args values and is part of the stack. Everything it allocates
 * lives at least until it returns.
 */
struct mv_builtin {
	const char *name;
	uint32_t n_args;
	bool (*fn)(struct mv_vm *vm, struct mv_value *args, struct mv_value *ret);
};
extern const struct mv_builtin mv_builtins[];
extern const size_t mv_n_builtins;

struct mv_fn *mv_fn_new(struct mv_heap *heap, const char *name, size_t len);

#endif
