/* SPDX-License-Identifier: BSD-2-Clause */
/* Names of branch types, for people and reports. */
#ifndef EP_RECORD_BRANCH_H
#define EP_RECORD_BRANCH_H

#include "record/event.h"

/* A short name ("cond", "ind-call"), static; NULL for a number that is no type. */
const char *ep_branch_type_name(unsigned type);

#endif
