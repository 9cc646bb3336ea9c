/* SPDX-License-Identifier: BSD-2-Clause */
/* perf script text: lines with branch stacks become events. */
#ifndef EP_IMPORT_PERF_SCRIPT_H
#define EP_IMPORT_PERF_SCRIPT_H

#include "import/import.h"
#include "import/input.h"

/*
 * True if the n bytes at `data`, the start of an input, may be perf script output: text in which a
 * line looks like a sample, a branch stack or a PERF_RECORD_ event. To be asked last: the evidence
 * that text has to give is weak.
 */
bool ep_perf_script_detect(const void *data, size_t n);

/*
 * Reads the text of `perf script` to the end of `in` and sends its events. Understood are any
 * choice and order of columns that perf offers, as long as `brstack` is among them, with or without
 * call chains (whose frames are passed over), PERF_RECORD_ lines of --show-mmap-events,
 * --show-task-events and --show-lost-events, the "#" lines of --header, and the counts that stand
 * alone on the line before a sample in aggregated scripts. A sample says EP_PID_UNKNOWN when no
 * column tells its process. Memory is bounded by the longest line, 1 MiB; longer lines are passed
 * over, warned of and counted. Entries that cannot be read are counted as EP_LOST_CORRUPT, and no
 * range joins their neighbours.
 *
 * `ret` gets the capture info (strings in the arena of `in`); kind and digest are the caller's.
 * Errors: OS, NOMEM, those of the sink; MISSING when no line has a branch stack; BAD_DATA for
 * branches by symbol or by offset in their file (brstacksym, brstackoff), or no script at all.
 */
struct ep_error *ep_perf_script_run(struct ep_input *in, const struct ep_event_sink *sink,
                                    struct ep_warnings *warnings, struct ep_import_info *ret)
    EP_MUST_CHECK;

#endif
