/* SPDX-License-Identifier: BSD-2-Clause */
/* Drop reasons: everything that is read but not counted, under a name that never changes. */
#ifndef EP_RECORD_DROP_H
#define EP_RECORD_DROP_H

#include "base/count.h"
#include "base/error.h"

/*
 * X(enumerator, name in files and messages, what it counts, one line for people). Numbers are part
 * of the .edges format: add at the end, never reorder.
 */
#define EP_DROPS(X)                                                                                \
	X(LOST_SAMPLES, "lost-samples", "samples", "lost by the recorder before they were stored") \
	X(NOT_FOLLOWED, "not-followed", "processes", "children or new images not recorded")        \
	X(CORRUPT_INPUT, "corrupt-input", "records", "input records that could not be read")       \
	X(NO_STACK, "no-stack", "samples", "samples without a branch stack")                       \
	X(EMPTY_STACK, "empty-stack", "samples", "samples whose branch stack is empty")            \
	X(CALL_STACK_MODE, "call-stack-mode", "samples", "recorded in call-stack mode")            \
	X(FILLER, "filler", "records", "entries with neither source nor target")                   \
	X(HALF_RECORD, "half-record", "records", "entries with only one end")                      \
	X(WRONG_PATH, "wrong-path", "records", "speculated, not executed")                         \
	X(DUPLICATE_TOP, "duplicate-top", "records", "top entry doubled by a CPU erratum")         \
	X(UNMAPPED, "unmapped", "records", "neither end lies in a known map")                      \
	X(KERNEL, "kernel", "records", "both ends in the kernel, which is not being profiled")     \
	X(ANONYMOUS, "anonymous", "records", "both ends in memory without a file (JIT, vdso)")     \
	X(AMBIGUOUS_PROCESS, "ambiguous-process", "records",                                       \
	  "no pid, and processes disagree about the address")                                      \
	X(UNIDENTIFIED, "unidentified", "records", "in a file whose identity could not be found")  \
	X(NEGATIVE_RANGE, "negative-range", "ranges", "end before start: entries out of order")    \
	X(RANGE_TOO_LONG, "range-too-long", "ranges", "longer than any straight line of code")     \
	X(RANGE_CROSSES_MAP, "range-crosses-map", "ranges", "start and end in different binaries") \
	X(RANGE_PC_MOVED, "range-pc-moved", "ranges", "the PC changed without a branch between")   \
	X(RANGE_FILTERED, "range-filtered", "ranges", "stack filtered by type: no adjacency")      \
	X(BAD_VADDR, "bad-address", "records", "address in no segment of the binary")              \
	X(NOT_TEXT, "not-text", "records", "address outside the binary's code")                    \
	X(NOT_INSN_START, "not-insn-start", "records", "address inside an instruction")            \
	X(NOT_STRAIGHT, "not-straight", "ranges", "crosses an instruction that always leaves")     \
	X(NOT_TRANSFER, "not-transfer", "records", "source is not a branch instruction")           \
	X(WRONG_TARGET, "wrong-target", "records", "direct branch encodes another target")         \
	X(WRONG_TYPE, "wrong-type", "records", "recorded type disagrees with the instruction")     \
	X(NO_FUNCTION, "no-function", "records", "in no function of the debug info")               \
	X(NO_LINE, "no-line", "records", "in code without line information")                       \
	X(SPLIT_FUNCTION, "crosses-function", "ranges", "start and end in different functions")    \
	X(OTHER_BINARY, "other-binary", "records", "belong to another binary than asked for")

enum ep_drop {
#define EP_DROP_ENUM(name, text, unit, help) EP_DROP_##name,
	EP_DROPS(EP_DROP_ENUM)
#undef EP_DROP_ENUM
	    EP_DROP_N,
};

/* Notes are counted like drops, but what they count was kept. */
#define EP_NOTES(X)                                                                                \
	X(ACROSS_DISCONTINUITY, "across-discontinuity", "ranges",                                  \
	  "kept although the CPU left and came back between")                                      \
	X(STITCHED, "stitched", "ranges", "joined over an interrupt that returned to the same PC") \
	X(EXTERNAL, "external", "records", "one end in another binary, kept as such")              \
	X(SATURATED, "saturated", "counts", "counts that reached the largest value")               \
	X(UNKNOWN_PID, "unknown-pid", "samples", "of processes without any map event")

enum ep_note {
#define EP_NOTE_ENUM(name, text, unit, help) EP_NOTE_##name,
	EP_NOTES(EP_NOTE_ENUM)
#undef EP_NOTE_ENUM
	    EP_NOTE_N,
};

/* Whole numbers of things dropped, by reason. */
struct ep_drops {
	uint64_t n[EP_DROP_N];
	uint64_t notes[EP_NOTE_N];
};

/* Names, units and help of a reason; all static. */
const char *ep_drop_name(enum ep_drop drop);
const char *ep_drop_unit(enum ep_drop drop);
const char *ep_drop_help(enum ep_drop drop);
const char *ep_note_name(enum ep_note note);
const char *ep_note_unit(enum ep_note note);
const char *ep_note_help(enum ep_note note);

/* to += from, saturating. */
void ep_drops_add(struct ep_drops *to, const struct ep_drops *from);

/* True if nothing was dropped (notes do not count). */
bool ep_drops_empty(const struct ep_drops *drops);

#endif
