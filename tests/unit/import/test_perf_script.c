/* SPDX-License-Identifier: BSD-2-Clause */
/* perf script text: every form of line, and what becomes of it. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "import/names.h"
#include "import/perf_script.h"
#include "record/build_id.h"
#include "support/check.h"

/* What a run gave: its events as text, one a line. */
struct run {
	struct ep_buf log;
	struct ep_warnings warnings;
	struct ep_import_info info;
	uint64_t n_samples, n_branches;
};

static void log_sample(struct run *run, const struct ep_event *e)
{
	const struct ep_sample *s = &e->u.sample;

	ep_buf_printf(&run->log, "sample %d/%d", e->pid, e->tid);
	if (e->cpu != UINT32_MAX)
		ep_buf_printf(&run->log, " cpu%" PRIu32, e->cpu);
	if (e->t_ns)
		ep_buf_printf(&run->log, " t%" PRIu64, e->t_ns);
	if (s->ip)
		ep_buf_printf(&run->log, " ip%" PRIx64, s->ip);
	if (s->period)
		ep_buf_printf(&run->log, " p%" PRIu64, s->period);
	if (s->repeat != 1)
		ep_buf_printf(&run->log, " x%" PRIu64, s->repeat);
	if (s->stream)
		ep_buf_printf(&run->log, " s%" PRIu32, s->stream);
	ep_buf_printf(&run->log, ":");
	for (uint32_t i = 0; i < s->n_branches; i++) {
		struct ep_branch b;
		memcpy(&b, &s->branches[i], sizeof(b));
		ep_buf_printf(&run->log, " %" PRIx64 ">%" PRIx64, b.from, b.to);
		if (b.info & s->info_mask)
			ep_buf_printf(&run->log, "/%" PRIx64, b.info & s->info_mask);
	}
	ep_buf_printf(&run->log, "\n");
	run->n_samples++;
	run->n_branches += s->n_branches;
}

static void log_map(struct run *run, const struct ep_event *e)
{
	char id[EP_BUILD_ID_TEXT_MAX];
	const struct ep_map *m = &e->u.map;

	ep_buf_printf(&run->log, "map %d %" PRIx64 "+%" PRIx64 "@%" PRIx64 " %s%s%s %s\n", e->pid,
	              m->start, m->len, m->pgoff, ep_build_id_format(&m->build_id, id),
	              m->is_file ? " file" : "", m->is_kernel ? " kernel" : "", m->path);
}

static struct ep_error *log_event(void *payload, const struct ep_event *e)
{
	struct run *run = payload;

	switch (e->type) {
	case EP_EVENT_SAMPLE:
		log_sample(run, e);
		break;
	case EP_EVENT_MAP:
		log_map(run, e);
		break;
	case EP_EVENT_UNMAP:
		ep_buf_printf(&run->log, "unmap %d %" PRIx64 "+%" PRIx64 "\n", e->pid,
		              e->u.unmap.start, e->u.unmap.len);
		break;
	case EP_EVENT_STREAM:
		if (e->u.stream.name[0])
			ep_buf_printf(&run->log, "stream %" PRIu32 " %s %d\n", e->u.stream.stream,
			              e->u.stream.name, e->u.stream.sampling);
		break;
	case EP_EVENT_EXEC:
		ep_buf_printf(&run->log, "exec %d\n", e->pid);
		break;
	case EP_EVENT_COMM:
		ep_buf_printf(&run->log, "comm %d/%d '%s'\n", e->pid, e->tid, e->u.comm.name);
		break;
	case EP_EVENT_FORK:
		ep_buf_printf(&run->log, "fork %d/%d of %d/%d\n", e->pid, e->tid, e->u.fork.ppid,
		              e->u.fork.ptid);
		break;
	case EP_EVENT_EXIT:
		ep_buf_printf(&run->log, "exit %d/%d\n", e->pid, e->tid);
		break;
	case EP_EVENT_LOST:
		ep_buf_printf(&run->log, "lost %d %" PRIu64 "\n", e->u.lost.reason, e->u.lost.n);
		break;
	case EP_EVENT_CPU:
		ep_buf_printf(&run->log, "cpu %s\n", e->u.cpu.cpuid);
		break;
	case EP_EVENT_END:
		break;
	default:
		fail_msg("event of type %d", e->type);
	}
	return NULL;
}

static struct ep_error *run_pieces(const char *text, size_t n, size_t piece_max, struct run *ret)
{
	struct ep_event_sink sink = {log_event, ret};
	struct ep_input in;
	void *guard = check_guard(text, n);

	*ret = (struct run){0};
	check_ok(ep_input_open_memory("in", guard, n, piece_max, &in));
	struct ep_error *err = ep_perf_script_run(&in, &sink, &ret->warnings, &ret->info);
	/* The strings of the info go with the input. */
	ret->info.capture.host = !err && !strcmp(ret->info.capture.host, "h1") ? "h1" : "";
	ep_input_close(&in);
	check_guard_free(guard, n);
	ep_buf_u8(&ret->log, 0);
	return err;
}

static void run_free(struct run *run)
{
	ep_buf_deinit(&run->log);
	ep_warnings_deinit(&run->warnings);
}

/* Runs the text, as a map and as streams of small pieces, which give the same. */
static struct run run_text(const char *text)
{
	static const size_t pieces[] = {1, 7, 100};
	size_t n = strlen(text);
	struct run whole, part;

	check_ok(run_pieces(text, n, 0, &whole));
	for (size_t i = 0; i < EP_ARRAY_LEN(pieces); i++) {
		check_ok(run_pieces(text, n, pieces[i], &part));
		assert_string_equal((char *)part.log.v, (char *)whole.log.v);
		assert_int_equal(part.warnings.n, whole.warnings.n);
		run_free(&part);
	}
	return whole;
}

/* The text gives these events and no warning. */
static void check_events(const char *text, const char *events)
{
	struct run run = run_text(text);

	assert_string_equal((char *)run.log.v, events);
	if (run.warnings.n)
		fail_msg("warning: %s", run.warnings.v[0].first);
	run_free(&run);
}

/* The text gives these events and warns once, of this kind, so often, in this line. */
static void check_warns(const char *text, const char *events, const char *kind, uint64_t n,
                        unsigned line)
{
	struct run run = run_text(text);
	char place[32];

	assert_string_equal((char *)run.log.v, events);
	assert_int_equal(run.warnings.n, 1);
	assert_string_equal(run.warnings.v[0].kind, kind);
	check_u64_eq(run.warnings.v[0].count, n);
	snprintf(place, sizeof(place), "in: line %u: ", line);
	assert_true(!strncmp(run.warnings.v[0].first, place, strlen(place)));
	run_free(&run);
}

/* The text is refused with this code, and the message has these words in it. */
static void check_refused(const char *text, enum ep_error_code code, const char *words)
{
	struct run run;
	struct ep_error *err = run_pieces(text, strlen(text), 0, &run);

	if (!err)
		fail_msg("no error for: %s", text);
	assert_int_equal(err->code, code);
	if (!strstr(err->message, words))
		fail_msg("message: %s", err->message);
	assert_non_null(err->hint);
	ep_error_destroy(err);
	run_free(&run);
}

#define PREDICTED "/2"

static void test_entry_forms(void **state)
{
	(void)state;
	/* Newest first, as printed; the flags of perf 4 to 7, SPE's two letters, and none. */
	check_events(" 0x401491/0x401470/P/-/-/3  0x40149f/0x401480/M/-/-/0 \n",
	             "sample -1/-1: 401491>401470/32 40149f>401480/1\n");
	check_events(" 0x40/0x50/PN/-/-/1  0x60/0x70/MN/X/A/2 0x1/0x2/-/-/-/0\n",
	             "sample -1/-1: 40>50/12 60>70/2d 1>2\n");
	check_events(" 0x4/0x5/P/-/-/70000/COND/-  0x6/0x7/P/-/-/0//  0x8/0x9/P/-/-/0//-\n",
	             "sample -1/-1: 4>5/1ffff2 6>7/2 8>9/2\n");
	check_events(" 0x40/0x50 0x60/0x70\n", "sample -1/-1: 40>50 60>70\n");
	check_events(" 0x40/0x50/M/-/-/0/RET/SPEC_WRONG_PATH 0x6/0x7/P/-/-/9/UNCOND/"
	             "NON_SPEC_CORRECT_PATH 0x6/0x7/P/-/-/0//SPEC_CORRECT_PATH\n",
	             "sample -1/-1: 40>50/1600001 6>7/2200092 6>7/3000002\n");
	/* Without 0x. */
	check_events(" 4014/5f00/P/-/-/0 60/70/P/-/-/0\n", "sample -1/-1: 4014>5f00/2 60>70/2\n");
	check_events(" 40aa/5000 60/70\n", "sample -1/-1: 40aa>5000 60>70\n");
	check_events(" 0XAB/0xCd/P\n", "sample -1/-1: ab>cd/2\n");
	/* Fields that are not known do no harm. */
	check_events(" 0x4/0x5/P/-/-/1/NEWTYPE/x/y/z 0x6/0x7/?/?/?/?\n",
	             "sample -1/-1: 4>5/12 6>7\n");
	/* Half records, unknown ends and filler are for fold to judge. */
	check_events(
	    " 0x40/0x0/P/-/-/0 0x0/0x50/-/-/-/0 0x0/0x0/-/-/-/0 0x1/-/P/-/-/0 -/0x2/P/-/-/0\n",
	    "sample -1/-1: 40>0/2 0>50 0>0 1>0/2 0>2/2\n");
	/* The columns dso and dsoff; paths with anything in them. */
	check_events("7f00 0x7f01(/a b/c (deleted))/0x7f02([kernel.kallsyms])/P/-/-/0/  "
	             "0x1(/x(1)/y+0x33)/0x2(/x)/P)/PN/-/-/4/RET/- \n",
	             "sample -1/-1 ip7f00: 7f01>7f02/2 1>2/600042\n");
	/* An address may stand behind the build-id of its file. */
	check_events(" ab12:0x40/0xcd34:50/P/-/-/0 0x6/0x7/P/-/-/0\n",
	             "sample -1/-1: 40>50/2 6>7/2\n");
	/* Columns that perf prints behind the stack. */
	check_events(" 0x4/0x5/P/-/-/0/  ABI:2 AX:0x1  0 K\n", "sample -1/-1: 4>5/2\n");
}

static void test_types(void **state)
{
	static const struct {
		const char *word;
		enum ep_branch_type type;
	} types[] = {
	    {"COND", EP_BRANCH_COND},
	    {"UNCOND", EP_BRANCH_UNCOND},
	    {"IND", EP_BRANCH_IND},
	    {"CALL", EP_BRANCH_CALL},
	    {"IND_CALL", EP_BRANCH_IND_CALL},
	    {"RET", EP_BRANCH_RET},
	    {"SYSCALL", EP_BRANCH_SYSCALL},
	    {"SYSRET", EP_BRANCH_SYSRET},
	    {"COND_CALL", EP_BRANCH_COND_CALL},
	    {"COND_RET", EP_BRANCH_COND_RET},
	    {"ERET", EP_BRANCH_ERET},
	    {"IRQ", EP_BRANCH_IRQ},
	    {"SERROR", EP_BRANCH_SERROR},
	    {"NO_TX", EP_BRANCH_NO_TX},
	    {"FAULT_ALGN", EP_BRANCH_FAULT_ALGN},
	    {"FAULT_DATA", EP_BRANCH_FAULT_DATA},
	    {"FAULT_INST", EP_BRANCH_FAULT_INST},
	    {"ARCH_1", EP_BRANCH_ARCH_1},
	    {"ARM64_FIQ", EP_BRANCH_ARCH_1},
	    {"ARM64_DEBUG_HALT", EP_BRANCH_ARCH_2},
	    {"ARM64_DEBUG_EXIT", EP_BRANCH_ARCH_3},
	    {"ARM64_DEBUG_INST", EP_BRANCH_ARCH_4},
	    {"ARM64_DEBUG_DATA", EP_BRANCH_ARCH_5},
	    {"N/A", EP_BRANCH_UNKNOWN},
	};

	(void)state;
	for (size_t i = 0; i < EP_ARRAY_LEN(types); i++) {
		char text[96], events[96];
		unsigned t = types[i].type;
		uint64_t info = 2 | (t < 16 ? (uint64_t)t << EP_INFO_TYPE_SHIFT
		                            : (uint64_t)15 << EP_INFO_TYPE_SHIFT |
		                                  (uint64_t)(t - 16) << EP_INFO_NEW_TYPE_SHIFT);
		assert_int_equal(ep_info_type(info), t);
		snprintf(text, sizeof(text), " 0x40/0x50/P/-/-/0/%s/-\n", types[i].word);
		snprintf(events, sizeof(events), "sample -1/-1: 40>50/%" PRIx64 "\n", info);
		check_events(text, events);
	}
}

static void test_columns(void **state)
{
	(void)state;
	/* Each as perf prints it for the -F named. ip,brstack */
	check_events(
	    "     7ffff7b10cd7 0x40/0x50/P/-/-/0/ \n           401481 0x40/0x50/P/-/-/0/ \n",
	    "sample -1/-1 ip7ffff7b10cd7: 40>50/2\nsample -1/-1 ip401481: 40>50/2\n");
	/* pid,brstack; pids of 4 to 7 digits */
	check_events(" 5595  0x40/0x50/P/-/-/0/ \n25532  0x40/0x50/P/-/-/0/ \n"
	             "4194303  0x40/0x50/P/-/-/0/ \n    0  0x40/0x50/P/-/-/0/ \n",
	             "sample 5595/5595: 40>50/2\nsample 25532/25532: 40>50/2\n"
	             "sample 4194303/4194303: 40>50/2\nsample 0/0: 40>50/2\n");
	/* pid,ip,brstack */
	check_events("25532            401481 0x40/0x50/P/-/-/0/ \n",
	             "sample 25532/25532 ip401481: 40>50/2\n");
	/* comm,brstack and comm,ip,brstack */
	check_events(
	    "              wl  0x40/0x50/P/-/-/0/ \n     Web Content            401481 0x4/0x5\n",
	    "sample -1/-1: 40>50/2\nsample -1/-1 ip401481: 4>5\n");
	/* comm,pid,ip,brstack; the comm is anything */
	check_events("              wl     104  ffff9745838c4f50 0x40/0x50/P/-/-/0\n"
	             "     Web Content  1234            401481 0x40/0x50/P/-/-/0\n"
	             " kworker/0:1-eve    12            401481 0x40/0x50/P/-/-/0\n"
	             "        thread 7 25532            401481 0x40/0x50/P/-/-/0\n",
	             "sample 104/104 ipffff9745838c4f50: 40>50/2\n"
	             "sample 1234/1234 ip401481: 40>50/2\nsample 12/12 ip401481: 40>50/2\n"
	             "sample 25532/25532 ip401481: 40>50/2\n");
	/* comm,pid,tid,cpu,time,event,period,ip,sym,dso,brstack */
	check_events(
	    "     test.binary 25532/25533 [003] 174024.746063:     500000 br_inst_exec:taken:  "
	    "    7ffff7b10cd7 main+0x12 (/usr/lib/libc 2.so) 0x40(/x y)/0x50(/z)/P/-/-/0/ \n",
	    "stream 0 br_inst_exec:taken 1\n"
	    "sample 25532/25533 cpu3 t174024746063000 ip7ffff7b10cd7 p500000: 40>50/2\n");
	/* pid,tid,time with nanoseconds; a time before the first second */
	check_events(" 5595/5595     0.000000001: 0x40/0x50/P/-/-/0\n",
	             "sample 5595/5595 t1: 40>50/2\n");
	/* comm,tid,time,period,event,ip: perf's default columns */
	check_events(" propeller_sampl  5595 914937.301029:          1 cycles:u:      7f06d6a21e00 "
	             "[unknown] (/usr/lib64/ld-2.19.so) 0x40/0x50/P/-/-/0\n",
	             "stream 0 cycles:u 3\n"
	             "sample 5595/5595 t914937301029000 ip7f06d6a21e00 p1: 40>50/2\n");
	/* event,ip and comm,period,event */
	check_events(
	    "cycles:           401481 0x40/0x50\n            perf          99 cycles:  0x4/0x5\n"
	    "            perf          99 instructions:  0x4/0x5\n",
	    "stream 0 cycles 3\nsample -1/-1 ip401481: 40>50\n"
	    "sample -1/-1 p99: 4>5\nstream 1 instructions 2\nsample -1/-1 p99 s1: 4>5\n");
	/* comm,misc,pid,time */
	check_events("app  6520 U      2.000000:  0x4/0x5\n",
	             "sample 6520/6520 t2000000000: 4>5\n");
	/* Squeezed by hand. */
	check_events(" 5555555551a9 0x40/0x50/P/-/-/0\n7f12345678 0x40/0x50\n 401481 0x40/0x50\n",
	             "sample -1/-1 ip5555555551a9: 40>50/2\nsample -1/-1 ip7f12345678: 40>50\n"
	             "sample -1/-1 ip401481: 40>50\n");
}

static void test_tid_column(void **state)
{
	(void)state;
	/* A column with thread numbers alone finds its process by the events of the tasks. */
	check_events("perf 1 PERF_RECORD_FORK(500:501):(500:500)\n"
	             "perf 1 PERF_RECORD_COMM: a/b: c:7/8\n"
	             " app  501 1.000000: 0x40/0x50\n app  8 1.000000: 0x40/0x50\n"
	             " app  9 1.000000: 0x40/0x50\n",
	             "fork 500/501 of 500/500\ncomm 7/8 'a/b: c'\n"
	             "sample 500/501 t1000000000: 40>50\nsample 7/8 t1000000000: 40>50\n"
	             "sample 9/9 t1000000000: 40>50\n");
	/* Maps are shown but no tasks: who is not known may be a thread, or a child of anybody. */
	check_events("PERF_RECORD_MMAP2 7/8: [0x10(0x20) @ 0 0:0 0 0]: r-xp /x\n"
	             "    7  0x14/0x18\n    9  0x14/0x18\n    8  0x14/0x18\n"
	             " 9/10 1.000000: 0x14/0x18\n 7/10 1.000000: 0x14/0x18\n",
	             "map 7 10+20@0 none file /x\nsample 7/7: 14>18\nsample -1/9: 14>18\n"
	             "sample 7/8: 14>18\nsample -1/10 t1000000000: 14>18\n"
	             "sample 7/10 t1000000000: 14>18\n");
}

static void test_maps(void **state)
{
	(void)state;
	check_events(
	    "PERF_RECORD_MMAP2 121161/121162: [0x400000(0x1000) @ 0 00:23 10094534 144120]: r-xp "
	    "/home/no probe.bin\n"
	    "  wl  104 PERF_RECORD_MMAP2 104/104: [0x400000(0x7e000) @ 0x1000 "
	    "<ee79f95d9610327bfe51196adea436f141abe602>]: r-xp /opt/app/t (deleted)\r\n"
	    "PERF_RECORD_MMAP2 1/1: [0x10(0x20) @ 0 <0xABCDEF0123456789>]: --xs /8\n"
	    " PERF_RECORD_MMAP -1/0: [0(0xffffffff9fffffff) @ 0xffffffff80200000]: x "
	    "[kernel.kallsyms]_text\n"
	    "PERF_RECORD_MMAP2 -1/0: [0xffff974582800000(0x24d6a00) @ 0xffff974582800000 "
	    "<2fd2>]: ---p [kernel.kallsyms]_text\n"
	    "PERF_RECORD_MMAP 5/5: [0x7000(0x1000) @ 0]: r /data\n"
	    "PERF_RECORD_MMAP2 5/5: [0x8000(0x1000) @ 0x2000 00:00 0 0]: rw-p /lib/x.so\n"
	    "PERF_RECORD_MMAP2 5/5: [0x9000(0x1000) @ 0x9000 00:00 0 0]: rwxp //anon\n"
	    "PERF_RECORD_MMAP2 5/5: [0x9000(0x1000) @ 0 00:00 0 0]: r-xp [vdso]\n"
	    "PERF_RECORD_MMAP2 5/5: [0x9000(0x1000) @ 0 00:00 0 0]: r-xp\n"
	    "PERF_RECORD_MMAP -1/0: [0xffffffffa0000000(0x60000000) @ 0]: x /x.ko\n"
	    "PERF_RECORD_MMAP2 -1/0: [0x9000(0) @ 0 00:00 0 0]: r-xp [kernel.kallsyms]_stext\n"
	    "PERF_RECORD_MMAP2 0/0: [0x9000(0x1) @ 0 00:00 0 0]: r-xp [guest.kernel.kallsyms.7]\n"
	    "PERF_RECORD_KSYMBOL addr ffffffffc0ef971d len 229 type 1 flags 0x0 name bpf_prog\n"
	    " 0x400040/0x400050\n",
	    "map 121161 400000+1000@0 none file /home/no probe.bin\n"
	    "map 104 400000+7e000@1000 ee79f95d9610327bfe51196adea436f141abe602 file /opt/app/t "
	    "(deleted)\n"
	    "map 1 10+20@0 abcdef0123456789 file /8\n"
	    "map -2 0+ffffffff9fffffff@ffffffff80200000 none file kernel [kernel.kallsyms]_text\n"
	    "map -2 ffff974582800000+24d6a00@ffff974582800000 2fd2 file kernel "
	    "[kernel.kallsyms]_text\n"
	    "unmap 5 7000+1000\nunmap 5 8000+1000\n"
	    "map 5 9000+1000@9000 none //anon\nmap 5 9000+1000@0 none [vdso]\n"
	    "map 5 9000+1000@0 none \n"
	    "map -2 ffffffffa0000000+5fffffff@0 none file kernel /x.ko\n"
	    "sample -1/-1: 400040>400050\n");
}

static void test_tasks(void **state)
{
	(void)state;
	check_events("    0 PERF_RECORD_COMM: perf:5595/5595\n"
	             " 5595 PERF_RECORD_COMM exec: my app:5595/5595\n"
	             " 5595/5595  [001] 12.500000: PERF_RECORD_FORK(5596:5596):(5595:5595)\n"
	             "PERF_RECORD_EXIT(5596:5596):(5595:5595)\n"
	             "PERF_RECORD_LOST lost 17\nPERF_RECORD_LOST_SAMPLES lost 3\n"
	             "PERF_RECORD_SWITCH IN\n"
	             "PERF_RECORD_NAMESPACES 5595/5595 - nr_namespaces: 7\n"
	             "\t\t[0/net: 4/0xf0000075, 1/uts: 4/0xeffffffe, 2/ipc: 4/0xefffffff\n"
	             "\t\t 4/user: 4/0xeffffffd, 5/mnt: 4/0xf0000000]\n"
	             " 0x40/0x50\n",
	             "comm 5595/5595 'perf'\nexec 5595\ncomm 5595/5595 'my app'\n"
	             "fork 5596/5596 of 5595/5595\nexit 5596/5596\nlost 1 17\nlost 1 3\n"
	             "sample -1/-1: 40>50\n");
}

static void test_made_up_forks(void **state)
{
	(void)state;
	/* Processes that ran before perf: they have maps of their own and none of their parent. */
	check_events("    0/0         0.000000: PERF_RECORD_FORK(10:10):(2:2)\n"
	             "    0/0         0.000000: PERF_RECORD_COMM: rcu_preempt:10/10\n"
	             "PERF_RECORD_FORK(11:11):(2:2)\nPERF_RECORD_COMM: a:11/11\n"
	             "PERF_RECORD_FORK(11:12):(11:11)\nPERF_RECORD_COMM: a:11/12\n"
	             "PERF_RECORD_FORK(13:13):(2:2)\nPERF_RECORD_COMM exec: a:13/13\n"
	             "PERF_RECORD_FORK(14:14):(2:2)\n 0x1/0x2\nPERF_RECORD_FORK(15:15):(2:2)\n"
	             "PERF_RECORD_FORK(16:16):(2:2)\n",
	             "exec 10\ncomm 10/10 'rcu_preempt'\nexec 11\ncomm 11/11 'a'\n"
	             "fork 11/12 of 11/11\ncomm 11/12 'a'\n"
	             "fork 13/13 of 2/2\nexec 13\ncomm 13/13 'a'\n"
	             "fork 14/14 of 2/2\nsample -1/-1: 1>2\nfork 15/15 of 2/2\n"
	             "fork 16/16 of 2/2\n");
}

static void test_chains(void **state)
{
	(void)state;
	/* Frames, leaf first, with the stack on a line of its own. */
	check_events(" 6520 \n\tffffffff81068283\n\t            ece0\n 0x40/0x50/P/-/-/0/ \n"
	             "25532 \n\t          400684\n 0x60/0x70/P/-/-/0/ \n",
	             "sample 6520/6520 ipffffffff81068283: 40>50/2\n"
	             "sample 25532/25532 ip400684: 60>70/2\n");
	check_events("\n\tffffffff81068283 main+0x1 (/a b)\n\t          401234\n 0x40/0x50\n\n"
	             "\t          401234\n 0x60/0x70\n",
	             "sample -1/-1 ipffffffff81068283: 40>50\nsample -1/-1 ip401234: 60>70\n");
	check_events("perf  6520/6521  [000]  2.437657:    1495736 cycles: \n"
	             "\tffffffff81068283 [unknown] ([kernel.kallsyms])\n 0x40/0x50\n\n",
	             "stream 0 cycles 3\nsample 6520/6521 cpu0 t2437657000 ipffffffff81068283 "
	             "p1495736: 40>50\n");
	check_events("Web Content \n\t          401234\n 0x40/0x50\nperf \n 0x60/0x70\n",
	             "sample -1/-1 ip401234: 40>50\nsample -1/-1: 60>70\n");
	/* A chain whose stack is empty is one sample. */
	check_events("\n\t          401234\n\t          401235\n 0x40/0x50\n\n\t          401234\n"
	             "\t          401235\n\n\t          401234\n 0x40/0x50\n",
	             "sample -1/-1 ip401234: 40>50\nsample -1/-1:\nsample -1/-1 ip401234: 40>50\n");
}

static void test_empty_stacks(void **state)
{
	(void)state;
	check_events(" 5595 \n 5595 \n 5595  0x40/0x50\n 5596 \n",
	             "sample 5595/5595:\nsample 5595/5595:\nsample 5595/5595: 40>50\n"
	             "sample 5596/5596:\n");
	/* An ip without a stack looks like a frame, until a stack with an ip is seen. */
	check_events("     7f06d6a21e00 \n     7f06d6a21e01 \n     7f06d6a21e02 0x40/0x50\n"
	             "     7f06d6a21e00 \n     7f06d6a21e01 \n",
	             "sample -1/-1:\nsample -1/-1:\nsample -1/-1 ip7f06d6a21e02: 40>50\n"
	             "sample -1/-1:\nsample -1/-1:\n");
	check_events(
	    " app  5 1.500000:  7 cycles:  7f00\n app  5 2.500000:  8 cycles:  7f01 0x4/0x5\n",
	    "stream 0 cycles 3\nsample 5/5 t1500000000 ip7f00 p7:\n"
	    "sample 5/5 t2500000000 ip7f01 p8: 4>5\n");
}

static void test_counts(void **state)
{
	(void)state;
	check_events("2\n\t          4005dc\n\t    7f68c5788793\n 0x4005c8/0x4005dc 0x40/0x50\n"
	             "3\n 0x40/0x50\n 0x40/0x50\n"
	             "18446744073709551615\n           40062f 0x40062f/0x4005b0/P/-/-/9\n",
	             "sample -1/-1 ip4005dc x2: 4005c8>4005dc 40>50\nsample -1/-1 x3: 40>50\n"
	             "sample -1/-1: 40>50\n"
	             "sample -1/-1 ip40062f x18446744073709551615: 40062f>4005b0/92\n");
}

static void test_dressing(void **state)
{
	struct run run;

	(void)state;
	/* Byte order mark, CRLF, comments, blank lines; no newline is missed. */
	check_events("\xef\xbb\xbf 0x40/0x50/P/-/-/0\r\n\r\n// 0x1/0x2/P/-/-/0\r\n// note 0x1\r\n; "
	             "note\r\n# note\r\n"
	             " 0x60/0x70/P/-/-/12\r\n",
	             "sample -1/-1: 40>50/2\nsample -1/-1: 60>70/c2\n");
	run = run_text("# ========\n# hostname : h1\n# os release : 6.1\n# arch : x86_64\n"
	               "# cpuid : GenuineIntel,6,85,4\n#\n"
	               " 12  3.000000: 0x40/0x50\n 12  2.000000: 0x40/0x50\n");
	assert_string_equal(run.info.capture.host, "h1");
	assert_true(!strncmp((char *)run.log.v, "cpu GenuineIntel,6,85,4\nsample ", 31));
	check_u64_eq(run.info.capture.t_start_ns, 2000000000u);
	check_u64_eq(run.info.capture.t_end_ns, 3000000000u);
	run_free(&run);
}

static void test_cut(void **state)
{
	static const char whole[] = " 0x40/0x50/P/-/-/10 0x60/0x70/P/-/-/11\n"
	                            " 0x140/0x150/P/-/-/10 0x160/0x170/P/-/-/11";
	static const char first[] = "sample -1/-1: 40>50/a2 60>70/b2\n";

	(void)state;
	/* Wherever the last line is cut: the first is kept, one warning, no made-up address. */
	for (size_t n = 40; n < sizeof(whole); n++) {
		char text[sizeof(whole)];
		snprintf(text, n + 1, "%s", whole);
		struct run run = run_text(text);
		assert_true(!strncmp((char *)run.log.v, first, strlen(first)));
		for (const char *p = strchr((char *)run.log.v, '>'); p; p = strchr(p + 1, '>'))
			assert_true(!strncmp(p, ">50/", 4) || !strncmp(p, ">70/", 4) ||
			            !strncmp(p, ">150/", 5) || !strncmp(p, ">170/", 5));
		if (n > 44)
			check_u64_eq(ep_warn_count(&run.warnings, "cut-line"), 1);
		run_free(&run);
	}
	check_warns(" 0x40/0x50/P/-/-/1\n 0x40/0x50/P/-/-/1 0x40/0x5",
	            "sample -1/-1: 40>50/12\nlost 3 1\nsample -1/-1: 40>50/12\n", "cut-line", 1, 2);
	check_warns(" 0x40/0x50\n 0x40/0x50 0x40/0x5",
	            "sample -1/-1: 40>50\nlost 3 1\nsample -1/-1: 40>50\n", "cut-line", 1, 2);
	check_warns(" 0x40/0x50\nPERF_RECORD_MMAP2 1/1: [0x400000(0x1000) @ 0 00:0",
	            "sample -1/-1: 40>50\nlost 3 1\n", "cut-line", 1, 2);
}

static void test_bad_lines(void **state)
{
	(void)state;
	/* An entry that cannot be read: no range may join its neighbours. */
	check_warns(" 0x40/0x50 0xzz/0x70 0x80/0x90\n 0x1/0x2\n 0x1/0x2 0x3/0x12345678901234567\n",
	            "lost 3 1\nsample -1/-1: 40>50/c000000000000000 80>90\nsample -1/-1: 1>2\n"
	            "lost 3 1\nsample -1/-1: 1>2/c000000000000000\n",
	            "bad-branch-entry", 2, 1);
	/* It is no symbol either, which would end the run. */
	check_warns(" 0x40/0x50/P/-/-/0 0x4y0/0x50/P/-/-/0\n",
	            "lost 3 1\nsample -1/-1: 40>50/c000000000000002\n", "bad-branch-entry", 1, 1);
	check_warns(" 0x40/0x50/P/-/-/0 x040/0x50/P/-/-/0 0x40/0q50/P/-/-/0\n",
	            "lost 3 1\nlost 3 1\nsample -1/-1: 40>50/c000000000000002\n",
	            "bad-branch-entry", 2, 1);
	check_warns("PERF_RECORD_MMAP2 1/1: [0x400000(0x1000) @ zz\n 0x1/0x2\n"
	            "PERF_RECORD_MMAP2 1/1: [0xffffffffffffffff(0x1000) @ 0 0:0 0 0]: r-xp /x\n",
	            "lost 3 1\nsample -1/-1: 1>2\nlost 3 1\n", "bad-event-line", 2, 1);
	check_warns("hello world\n 0x1/0x2\nbad\x01line\n", "sample -1/-1: 1>2\n", "unknown-line",
	            2, 1);
}

static void test_overlong_line(void **state)
{
	size_t n_long = ((size_t)1 << 20) + 100;
	char *text = malloc(n_long + 100);

	(void)state;
	assert_non_null(text);
	strcpy(text, " 0x1/0x2\n");
	size_t at = strlen(text);
	for (size_t i = 0; i < n_long; i++)
		text[at + i] = " 0x1/0x2"[i % 8];
	strcpy(text + at + n_long, "\n 0x3/0x4\n");
	static const size_t pieces[] = {0, 4096, 1 << 20};
	for (size_t i = 0; i < EP_ARRAY_LEN(pieces); i++) {
		struct run run;
		check_ok(run_pieces(text, strlen(text), pieces[i], &run));
		assert_string_equal((char *)run.log.v,
		                    "sample -1/-1: 1>2\nlost 3 1\nsample -1/-1: 3>4\n");
		check_u64_eq(ep_warn_count(&run.warnings, "overlong-line"), 1);
		run_free(&run);
	}
	text[at + n_long] = '\0';
	struct run run;
	check_ok(run_pieces(text, strlen(text), 4096, &run));
	assert_string_equal((char *)run.log.v, "sample -1/-1: 1>2\nlost 3 1\n");
	run_free(&run);
	free(text);
}

static void test_refused(void **state)
{
	(void)state;
	check_refused("", EP_ERROR_MISSING, "empty");
	check_refused(" app  5 1.500000:  7 cycles:  7f00 main (/x)\n", EP_ERROR_MISSING,
	              "without branch stacks");
	check_refused("PERF_RECORD_MMAP2 1/1: [0x1(0x1) @ 0 0:0 0 0]: r-xp /x\n", EP_ERROR_MISSING,
	              "without branch stacks");
	check_refused("hello\nworld\n", EP_ERROR_BAD_DATA, "no output of perf script");
	check_refused(" 5 main+0x1/foo+0x0/P/-/-/0/\n", EP_ERROR_BAD_DATA,
	              "line 1: branches are given by symbol");
	check_refused("25532 [unknown]/[unknown]/P/-/-/0/ [unknown]/main/P/-/-/0/\n",
	              EP_ERROR_BAD_DATA, "by symbol");
	check_refused(" 0x1/0x2/P/-/-/0 foo(/x y)/bar(/x y)/M/-/-/1\n", EP_ERROR_BAD_DATA,
	              "by symbol");
	check_refused("25532 \n\tmain+0x1:\n\t0000000000401491\tinsn: 75 dd\t# PRED 1 cycles\n",
	              EP_ERROR_BAD_DATA, "brstackinsn");
	/* Offsets in files show by where they lie. */
	check_refused("PERF_RECORD_MMAP2 1/1: [0x400000(0x6000) @ 0 0:0 0 0]: r-xp /x\n"
	              " 0x1491/0x1470/P/-/-/0  0x1491/0x1470/P/-/-/0\n 0x1491/0x1470/P/-/-/0\n",
	              EP_ERROR_BAD_DATA, "offsets");
	check_events("PERF_RECORD_MMAP2 1/1: [0x400000(0x6000) @ 0 0:0 0 0]: r-xp /x\n"
	             " 0x7491/0x7470 0x7491/0x7470\n",
	             "map 1 400000+6000@0 none file /x\nsample -1/-1: 7491>7470 7491>7470\n");
}

static struct ep_error *fail_event(void *payload, const struct ep_event *e)
{
	(void)payload;
	return e->type == EP_EVENT_SAMPLE ? ep_error_create(EP_ERROR_INTERRUPTED, "stop") : NULL;
}

static void test_sink_error(void **state)
{
	static const char text[] = " 0x1/0x2\n 0x1/0x2\n";
	struct ep_event_sink sink = {fail_event, NULL};
	struct ep_import_info info;
	struct ep_input in;

	(void)state;
	check_ok(ep_input_open_memory("in", text, sizeof(text) - 1, 0, &in));
	check_fails(EP_ERROR_INTERRUPTED, ep_perf_script_run(&in, &sink, NULL, &info));
	ep_input_close(&in);
}

static bool detect(const char *text)
{
	return ep_perf_script_detect(text, strlen(text));
}

static void test_detect(void **state)
{
	(void)state;
	assert_true(detect(" 0x40/0x50/P/-/-/0\n"));
	assert_true(detect("\xef\xbb\xbf# note\r\n\r\n 401000 0x40/0x50"));
	assert_true(detect("PERF_RECORD_MMAP2 1/1: ["));
	assert_true(detect("2\n\t          4005dc\n\t    7f68c5788793\n"));
	assert_true(detect(" app  5 1.500000:  7 cycles:  7f00 main (/x)\n"));
	assert_true(detect("25532 [unknown]/[unknown]/P/-/-/0/\n"));
	assert_false(detect(""));
	assert_false(detect("PERFILE2\n"));
	assert_false(detect("main:450:0\n 0: 0\n 1: foo:450\n  2.1: 5\n"));
	assert_false(detect("2\n670-6c8:5\n1\n69b->670:6\n"));
	assert_false(detect("#!/bin/sh\nexit 0\n"));
	assert_false(ep_perf_script_detect(" 0x40/0x50\n\0", 12));
}

/* A generator of numbers that is the same everywhere (xorshift). */
static uint64_t next_random(uint64_t *x)
{
	*x ^= *x << 13;
	*x ^= *x >> 7;
	*x ^= *x << 17;
	return *x;
}

/* Columns that a random script has. */
struct form {
	bool comm, pid, tid, cpu, time, event, ip, dso, crlf, type, chain;
};

static void put_columns(struct ep_buf *text, struct ep_buf *log, const struct form *f, uint64_t *x)
{
	unsigned pid = (unsigned)(next_random(x) % 4000000),
	         tid = pid + (unsigned)(next_random(x) % 9);
	uint64_t ip = next_random(x) >> (20 + next_random(x) % 24),
	         period = next_random(x) % 1000000 + 1;
	uint64_t us = next_random(x) % 1000000000000 + 1;
	bool has_pid = f->pid;

	if (f->comm)
		ep_buf_printf(text, f->chain ? "%s " : "%16s ", "Web Content");
	if (f->pid && f->tid)
		ep_buf_printf(text, "%5u/%-5u ", pid, tid);
	else if (f->pid)
		ep_buf_printf(text, "%5u ", tid = pid);
	if (f->cpu)
		ep_buf_printf(text, "[%03u] ", tid % 300);
	if (f->time)
		ep_buf_printf(text, "%5" PRIu64 ".%06" PRIu64 ": ", us / 1000000, us % 1000000);
	if (f->event)
		ep_buf_printf(text, "%10" PRIu64 " cycles:u: ", period);
	ep_buf_printf(log, "sample %d/%d", has_pid ? (int)pid : -1, has_pid ? (int)tid : -1);
	if (f->cpu)
		ep_buf_printf(log, " cpu%u", tid % 300);
	if (f->time)
		ep_buf_printf(log, " t%" PRIu64, us * 1000);
	if (f->ip || f->chain)
		ep_buf_printf(log, " ip%" PRIx64, ip);
	if (f->event)
		ep_buf_printf(log, " p%" PRIu64, period);
	if (f->chain)
		ep_buf_printf(text, "\n\t%16" PRIx64 "\n\t%16x\n", ip, 0x400684);
	else if (f->ip)
		ep_buf_printf(text, " %16" PRIx64, ip);
	if (f->ip && f->dso && !f->chain)
		ep_buf_printf(text, " main+0x%x (/opt/my app/t (deleted))", tid);
}

static void put_stack(struct ep_buf *text, struct ep_buf *log, const struct form *f, uint64_t *x)
{
	size_t n = next_random(x) % 33 + 1;

	ep_buf_printf(log, ":");
	for (size_t i = 0; i < n; i++) {
		unsigned shift = (unsigned)(next_random(x) % 50);
		uint64_t from = (next_random(x) | UINT64_C(1) << 63) >> shift,
		         to = next_random(x) >> shift;
		unsigned cycles = (unsigned)(next_random(x) % 65536),
		         miss = (unsigned)(next_random(x) & 1);
		const char *dso = f->dso ? "(/opt/my app/t (deleted))" : "";
		uint64_t info = (uint64_t)cycles << 4 | (miss ? 1 : 2);
		if (f->type)
			info |= UINT64_C(4) << 20 | UINT64_C(2) << 24;
		ep_buf_printf(text, " 0x%" PRIx64 "%s/0x%" PRIx64 "%s/%c/-/-/%u%s ", from, dso, to,
		              dso, miss ? 'M' : 'P', cycles,
		              f->type ? "/CALL/NON_SPEC_CORRECT_PATH" : "");
		ep_buf_printf(log, " %" PRIx64 ">%" PRIx64 "/%" PRIx64, from, to, info);
	}
	ep_buf_printf(text, f->crlf ? "\r\n" : "\n");
	ep_buf_printf(log, "\n");
}

static void test_random(void **state)
{
	uint64_t x = 88172645463325252;

	(void)state;
	for (unsigned round = 0; round < 300; round++) {
		uint64_t bits = next_random(&x);
		struct form f = {bits & 1,   bits & 2,   bits & 4,   bits & 8,
		                 bits & 16,  bits & 32,  bits & 64,  bits & 128,
		                 bits & 256, bits & 512, bits & 1024};
		struct ep_buf text = {0}, log = {0};
		struct run run;
		f.tid &= f.pid;
		/* What perf would print for a process alone: a lone number needs its padding. */
		if (f.event)
			ep_buf_printf(&log, "stream 0 cycles:u 3\n");
		for (unsigned i = 0; i < 10; i++) {
			put_columns(&text, &log, &f, &x);
			put_stack(&text, &log, &f, &x);
		}
		ep_buf_u8(&log, 0);
		check_ok(run_pieces((char *)text.v, text.n, bits & 2048 ? 97 : 0, &run));
		if (strcmp((char *)run.log.v, (char *)log.v))
			print_error("%.*s", (int)EP_MIN(text.n, 2000), (char *)text.v);
		assert_string_equal((char *)run.log.v, (char *)log.v);
		run_free(&run);
		ep_buf_deinit(&text);
		ep_buf_deinit(&log);
	}
}

static void test_event_names(void **state)
{
	(void)state;
	assert_int_equal(ep_event_name_sampling(""), EP_SAMPLING_UNKNOWN);
	assert_int_equal(ep_event_name_sampling("cycles:uppp"), EP_SAMPLING_CYCLES);
	assert_int_equal(ep_event_name_sampling("cpu_core/cycles/u"), EP_SAMPLING_CYCLES);
	assert_int_equal(ep_event_name_sampling("cpu-cycles"), EP_SAMPLING_CYCLES);
	assert_int_equal(ep_event_name_sampling("ref-cycles"), EP_SAMPLING_OTHER);
	assert_int_equal(ep_event_name_sampling("instructions:u"), EP_SAMPLING_INSTRUCTIONS);
	assert_int_equal(ep_event_name_sampling("INST_RETIRED.ANY"), EP_SAMPLING_INSTRUCTIONS);
	assert_int_equal(ep_event_name_sampling("BR_INST_RETIRED.NEAR_TAKEN:uppp"),
	                 EP_SAMPLING_TAKEN_BRANCHES);
	assert_int_equal(ep_event_name_sampling("cpu/branch-brs/u"), EP_SAMPLING_TAKEN_BRANCHES);
	assert_int_equal(ep_event_name_sampling("br_inst_exec:taken"), EP_SAMPLING_TAKEN_BRANCHES);
	assert_int_equal(ep_event_name_sampling("r811f:u"), EP_SAMPLING_TAKEN_BRANCHES);
	assert_int_equal(ep_event_name_sampling("r1c2:u"), EP_SAMPLING_UNKNOWN);
	assert_int_equal(ep_event_name_sampling("branches"), EP_SAMPLING_OTHER);
	assert_int_equal(ep_event_name_sampling("cache-misses"), EP_SAMPLING_OTHER);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_entry_forms),   cmocka_unit_test(test_types),
	    cmocka_unit_test(test_columns),       cmocka_unit_test(test_tid_column),
	    cmocka_unit_test(test_maps),          cmocka_unit_test(test_tasks),
	    cmocka_unit_test(test_made_up_forks), cmocka_unit_test(test_chains),
	    cmocka_unit_test(test_empty_stacks),  cmocka_unit_test(test_counts),
	    cmocka_unit_test(test_dressing),      cmocka_unit_test(test_cut),
	    cmocka_unit_test(test_bad_lines),     cmocka_unit_test(test_overlong_line),
	    cmocka_unit_test(test_refused),       cmocka_unit_test(test_sink_error),
	    cmocka_unit_test(test_detect),        cmocka_unit_test(test_random),
	    cmocka_unit_test(test_event_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
