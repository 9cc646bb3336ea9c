/* SPDX-License-Identifier: BSD-2-Clause */
/* perf.data, read natively: files and pipes of either byte order. */
#ifndef EP_IMPORT_PERF_DATA_H
#define EP_IMPORT_PERF_DATA_H

#include "base/warn.h"
#include "import/input.h"
#include "record/event.h"

/* True if the n bytes at `data` begin like a perf.data file or stream. */
bool ep_perf_data_detect(const void *data, size_t n);

/*
 * Reads a perf.data input from its start and sends its events, ordered by time as far as perf
 * promises an order (the records between two FINISHED_ROUND marks). Streams are pid-wise; the
 * stream number of an event is its index in the recording.
 *
 * What cannot be read is skipped, warned of by kind and counted by EP_EVENT_LOST with
 * EP_LOST_CORRUPT. EP_EVENT_END comes only if the recorder closed the input properly and all of it
 * is there. Build-ids known up front are put into the maps; those of a stream follow as
 * EP_EVENT_BUILD_ID. The file format keeps what is needed first at its end: through a pipe it is
 * stored in a temporary file, or where that cannot be, names, CPU and build-ids come late, with a
 * warning. Samples of a mapped, uncompressed, little-endian input are EP_SAMPLE_STABLE.
 *
 * Strings of `ret` live in in->arena. Memory: at most some 100 MB beyond the input's own window,
 * whatever its length. Errors: OS, NOMEM, the sink's; BAD_DATA for a header that describes no
 * recording; UNSUPPORTED for recordings whose samples cannot be told apart.
 */
struct ep_error *ep_perf_data_run(struct ep_input *in, const struct ep_event_sink *sink,
                                  struct ep_warnings *warnings, struct ep_capture_info *ret)
    EP_MUST_CHECK;

#endif
