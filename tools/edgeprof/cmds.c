/* SPDX-License-Identifier: BSD-2-Clause */
/* The table of verbs: one `cmd_<verb>.c` each. */
#include "cmd.h"

extern const struct ep_cmd ep_cmd_completion;
extern const struct ep_cmd ep_cmd_convert;
extern const struct ep_cmd ep_cmd_doctor;
extern const struct ep_cmd ep_cmd_emit;
extern const struct ep_cmd ep_cmd_fold;
extern const struct ep_cmd ep_cmd_merge;
extern const struct ep_cmd ep_cmd_record;
extern const struct ep_cmd ep_cmd_show;

/* One a line, so that new ones merge. */
/* clang-format off */
const struct ep_cmd *const ep_cmds[] = {
    &ep_cmd_doctor,
    &ep_cmd_record,
    &ep_cmd_fold,
    &ep_cmd_merge,
    &ep_cmd_show,
    &ep_cmd_emit,
    &ep_cmd_convert,
    &ep_cmd_completion,
    NULL,
};
/* clang-format on */
