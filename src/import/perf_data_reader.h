/* SPDX-License-Identifier: BSD-2-Clause */
/* What the parts of the perf.data reader share. Private to perf_data*.c. */
#ifndef EP_IMPORT_PERF_DATA_READER_H
#define EP_IMPORT_PERF_DATA_READER_H

#include "base/bytes.h"
#include "base/strtab.h"
#include "base/vec.h"
#include "base/warn.h"
#include "import/input.h"
#include "import/perf_data_abi.h"
#include "import/perf_data_order.h"
#include "record/event.h"

/* Where the fields of an event's records are, worked out once from its attr. */
struct ep_perf_layout {
	/* Offsets from the start of a SAMPLE record, 0: the field is not there. */
	uint16_t ip, tid, time, id, cpu, period;
	uint16_t fixed_end; /* behind the last of the fields of fixed size */
	/* What follows in this order. */
	bool has_read, has_callchain, has_raw, has_branches, has_hw_index;
	uint8_t read_format;
	/* Of the trailer of all other kernel records: size, and distances from the record's end. */
	uint16_t trailer, back_time, back_id;
};

/* An event that was recorded. */
struct ep_perf_attr {
	uint32_t type;
	uint64_t config, period; /* period 0: adaptive */
	uint64_t sample_type, branch_type;
	const char *name; /* in the input's arena, NULL if unknown */
	struct ep_perf_layout layout;
	uint64_t info_mask;
	uint32_t sample_flags; /* EP_SAMPLE_FILTERED, EP_SAMPLE_CALL_STACK */
	bool is_synthesised;   /* stacks made of a trace by "perf inject" */
	bool announced;        /* its EP_EVENT_STREAM was sent */
};

struct ep_perf_id {
	uint64_t id;
	uint32_t attr;
};

/* A name of an event by the ids it has, from EVENT_DESC. */
struct ep_perf_desc {
	const char *name;
	uint64_t id; /* its first, if n_ids is not 0 */
	uint32_t n_ids;
};

/* The events, and how to tell which one a record belongs to. */
struct ep_perf_attrs {
	EP_VEC(struct ep_perf_attr) attrs;
	EP_VEC(struct ep_perf_id) ids;
	EP_VEC(struct ep_perf_desc) descs;
	size_t n_sorted, n_compared; /* ids and attrs that ep_perf_attrs_settle() has dealt with */
	bool settled;                /* all below is up to date */
	bool same_layout, same_trailer;
	uint16_t id, back_id; /* where all of them have the id; 0: they do not agree */
	struct ep_perf_id last;
};

/* Build-ids by path; kernel images and modules under a common form of their names. */
struct ep_perf_build_ids {
	struct ep_strtab paths;
	EP_VEC(struct ep_perf_build_id {
		struct ep_build_id id;
		bool is_kernel;
		bool ambiguous; /* two ids for one path */
	})
	ids; /* by the path's number */
	/* Paths of maps whose id was not known when they were sent, if one may come later. */
	struct ep_strtab waiting, waiting_kernel;
};

struct ep_perf_zstd;

struct ep_perf_reader {
	struct ep_input *in;
	const struct ep_event_sink *sink;
	struct ep_warnings *warnings;
	struct ep_capture_info *info;
	bool big_endian, swap;
	bool is_pipe;    /* format, not the way it is read */
	bool unfinished; /* the recorder did not close it, or a part is missing */
	bool no_rounds;  /* FINISHED_ROUND means nothing: files are merged by time */
	bool cpu_sent;   /* EP_EVENT_CPU */
	bool late_ids;   /* build-ids may come behind the maps */
	struct ep_perf_attrs attrs;
	struct ep_perf_order order;
	struct ep_perf_build_ids build_ids;
	struct ep_perf_zstd *zstd;         /* NULL until the first compressed record */
	struct ep_event event;             /* of samples, mostly the same from one to the next */
	EP_VEC(struct ep_branch) branches; /* a stack whose entries had to be converted */
	uint64_t last_t;                   /* time of the newest record that had one */
	uint64_t n_lost, n_lost_synth;     /* by LOST; by the recorder's closing LOST_SAMPLES */
	uint32_t n_features;               /* read so far */
};

/* Where a record lies. */
enum ep_perf_place {
	EP_PERF_IN_MAP,    /* stays valid */
	EP_PERF_IN_WINDOW, /* must be copied to be kept */
	EP_PERF_IN_CHUNK,  /* `chunk` must be referenced to be kept */
};

/* perf_data.c */

/*
 * Takes the records that begin in front of offset `stop`. The input's records end at offset `end`.
 * If the next offset is still in front of `stop`, the input has ended.
 */
struct ep_error *ep_perf_read_records(struct ep_perf_reader *r, uint64_t stop, uint64_t end)
    EP_MUST_CHECK;
/* Counts what is left behind the last whole record of the input. */
struct ep_error *ep_perf_check_end(struct ep_perf_reader *r, uint64_t end) EP_MUST_CHECK;

/* perf_data_parts.c: reads the other files of a directory, in order of time. */
struct ep_error *ep_perf_read_parts(struct ep_perf_reader *r) EP_MUST_CHECK;

/* perf_data_attr.c */

/* Adds an event from the n bytes of its attr; false: malformed, or too many, nothing added. */
struct ep_error *ep_perf_attr_add(struct ep_perf_reader *r, const unsigned char *p, size_t n,
                                  bool *ok_ret) EP_MUST_CHECK;
/* Gives the last event added, or event `attr`, an id. */
struct ep_error *ep_perf_id_add(struct ep_perf_reader *r, uint32_t attr, uint64_t id) EP_MUST_CHECK;
/* Brings names, id positions and the id table up to date. Call before the two below. */
struct ep_error *ep_perf_attrs_settle(struct ep_perf_reader *r) EP_MUST_CHECK;
/* The event a SAMPLE, or another kernel record, of `size` bytes belongs to; NULL: not to be told.
 */
struct ep_perf_attr *ep_perf_attr_of_sample(struct ep_perf_reader *r, const unsigned char *rec,
                                            size_t size);
struct ep_perf_attr *ep_perf_attr_of_other(struct ep_perf_reader *r, const unsigned char *rec,
                                           size_t size);
/* Sends EP_EVENT_STREAM, and EP_EVENT_CPU before the first. */
struct ep_error *ep_perf_attr_announce(struct ep_perf_reader *r, struct ep_perf_attr *attr)
    EP_MUST_CHECK;
void ep_perf_attrs_deinit(struct ep_perf_attrs *attrs);

/* perf_data_sampling.c: what an event counts. `name` and `cpuid`, `arch` may be "". */
enum ep_sampling ep_perf_sampling(uint32_t type, uint64_t config, const char *name,
                                  const char *arch, const char *cpuid);

/* perf_data_feature.c */

/* Reads the body of a feature section or HEADER_FEATURE record. Damage is warned of. */
struct ep_error *ep_perf_feature(struct ep_perf_reader *r, unsigned feature, const unsigned char *p,
                                 size_t n, uint64_t offset) EP_MUST_CHECK;

/* perf_data_build_id.c */

/* Reads one build-id record of `size` bytes (header included); false: malformed. */
struct ep_error *ep_perf_build_id_read(struct ep_perf_reader *r, const unsigned char *rec,
                                       size_t size, bool *ok_ret) EP_MUST_CHECK;
/* Gives `map` the id known for its path, if it has none and one is known. */
struct ep_error *ep_perf_build_id_apply(struct ep_perf_reader *r, struct ep_map *map) EP_MUST_CHECK;
/* Sends EP_EVENT_BUILD_ID for the maps whose id came behind them. */
struct ep_error *ep_perf_build_ids_send(struct ep_perf_reader *r) EP_MUST_CHECK;
void ep_perf_build_ids_deinit(struct ep_perf_build_ids *ids);

/* perf_data_record.c */

/*
 * Takes one whole record, at least PERF_RECORD_HEADER bytes, of the kernel's or perf's own kinds
 * (but for those with a payload or compressed content).
 */
struct ep_error *ep_perf_record(struct ep_perf_reader *r, const unsigned char *rec, size_t size,
                                enum ep_perf_place place, uint32_t chunk) EP_MUST_CHECK;
/* Delivers a record whose turn has come; for ep_perf_order. */
struct ep_error *ep_perf_deliver(void *payload, const struct ep_perf_item *item) EP_MUST_CHECK;
/* Counts a place of the input that cannot be read and warns. `what` is a short text. */
struct ep_error *ep_perf_corrupt(struct ep_perf_reader *r, const char *kind, const char *what)
    EP_MUST_CHECK;
/* Sends an event that has neither process nor time. */
struct ep_error *ep_perf_send(struct ep_perf_reader *r, struct ep_event *event) EP_MUST_CHECK;

/* perf_data_sample.c: delivers a SAMPLE. */
struct ep_error *ep_perf_sample(struct ep_perf_reader *r, const struct ep_perf_item *item,
                                size_t size) EP_MUST_CHECK;

/* perf_data_zstd.c */

/* Decompresses the n bytes of a compressed record's data and takes the records in them. */
struct ep_error *ep_perf_zstd_feed(struct ep_perf_reader *r, const unsigned char *p, size_t n)
    EP_MUST_CHECK;
/* Counts what is left undecoded at the end. */
struct ep_error *ep_perf_zstd_finish(struct ep_perf_reader *r) EP_MUST_CHECK;
void ep_perf_zstd_destroy(struct ep_perf_zstd *zstd);

/* perf_data_resync.c */

/* True for the 8 bytes of a header that perf could have written: known type, size in words. */
bool ep_perf_is_likely(const struct ep_perf_reader *r, const unsigned char *p);

/*
 * The offset of the next place from `from` on in p[0..n) where records seem to start; n if there is
 * none. `last` says that nothing follows p[n).
 */
size_t ep_perf_resync(const struct ep_perf_reader *r, const unsigned char *p, size_t n, size_t from,
                      bool last);

#endif
