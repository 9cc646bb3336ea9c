/* SPDX-License-Identifier: BSD-2-Clause */
/* The account of a fold: what was read, what was counted, what was dropped and why. */
#ifndef EP_TOOLS_ACCOUNT_H
#define EP_TOOLS_ACCOUNT_H

#include "cmd.h"
#include "edges/edges.h"

/* Prints it on standard error, unless -q; -v adds the inputs and the binaries. */
void ep_account_print(const struct ep_args *args, const struct ep_edges *edges);

/* Parts of it, for the accounts of other verbs; `where` follows the word "dropped". */
void ep_account_print_inputs(const struct ep_args *args, const struct ep_edges *edges);
void ep_account_print_binaries(const struct ep_args *args, const struct ep_edges *edges);
void ep_account_print_drops(const struct ep_args *args, const char *where,
                            const struct ep_drops *drops);
void ep_account_print_notes(const struct ep_args *args, const struct ep_drops *drops);

/* {"dropped": {REASON: N, ...}, "noted": {...}}: what is 0 is left out. NULL: no memory. */
json_t *ep_account_drops(const struct ep_drops *drops);

/* The whole of it, with the warnings met on the way, as members of a report. NULL: no memory. */
json_t *ep_account_json(const struct ep_args *args, const struct ep_edges *edges,
                        const struct ep_warnings *warnings);

#endif
