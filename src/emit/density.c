/* SPDX-License-Identifier: BSD-2-Clause */
/* How much of the program the samples tell of. */
#include "emit/internal.h"

/* The share of all samples whose functions are looked at. */
#define HOT_PERCENT 99

struct function_density {
	double density;
	uint64_t sum;
};

static int compare_density(const void *a, const void *b)
{
	const struct function_density *x = a, *y = b;

	if (x->density != y->density)
		return x->density > y->density ? -1 : 1;
	return (x->sum < y->sum) - (x->sum > y->sum);
}

static void add_body(const struct ep_sprof_func *func, struct ep_emit_account *account, uint64_t *n,
                     uint64_t *sum)
{
	*n += func->n_records;
	for (uint32_t i = 0; i < func->n_records; i++) {
		*sum = ep_count_add(*sum, func->records[i].count);
		account->max_body = EP_MAX(account->max_body, func->records[i].count);
	}
	for (uint32_t i = 0; i < func->n_calls; i++)
		add_body(func->calls[i].func, account, n, sum);
}

struct ep_error *ep_emit_density(const struct ep_sprof *prof, struct ep_emit_account *account)
{
	struct function_density *v = calloc(prof->funcs.n + 1, sizeof(*v));
	double reached = 0;

	if (!v)
		return ep_error_nomem();
	for (size_t i = 0; i < prof->funcs.n; i++) {
		uint64_t n = 0;

		add_body(prof->funcs.v[i], account, &n, &v[i].sum);
		v[i].density = n ? (double)v[i].sum / (double)n : 0;
		account->n_body += n;
		account->total_body = ep_count_add(account->total_body, v[i].sum);
		account->n_sampled += v[i].sum != 0;
	}
	account->n_functions = (uint32_t)prof->funcs.n;
	qsort(v, prof->funcs.n, sizeof(*v), compare_density);
	for (size_t i = 0; i < prof->funcs.n; i++) {
		if (reached >= (double)account->total_body * HOT_PERCENT / 100)
			break;
		reached += (double)v[i].sum;
		account->density = v[i].density;
	}
	free(v);
	return NULL;
}
