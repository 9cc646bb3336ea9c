/* SPDX-License-Identifier: BSD-2-Clause */
/* PERF_RECORD_ lines of perf script (maps, tasks, losses) and the lines of its --header. */
#include "import/names.h"
#include "import/perf_script_parse.h"
#include "record/build_id.h"

/* More threads than any machine can have; further ones are not remembered. */
#define THREADS_MAX (UINT32_C(1) << 22)

static uint32_t thread_slot(const struct ep_ps_threads *threads, int32_t tid)
{
	uint32_t i = (uint32_t)tid * 0x9e3779b1u & (threads->cap - 1);

	while (threads->v[i].tid && threads->v[i].tid != tid)
		i = (i + 1) & (threads->cap - 1);
	return i;
}

int32_t ep_ps_thread_find(const struct ep_ps_threads *threads, int32_t tid)
{
	if (!threads->n || tid <= 0)
		return -1;
	uint32_t i = thread_slot(threads, tid);
	return threads->v[i].tid ? threads->v[i].pid : -1;
}

static struct ep_error *threads_grow(struct ep_ps_threads *threads)
{
	struct ep_ps_threads old = *threads;

	threads->cap = old.cap ? 2 * old.cap : 256;
	threads->v = calloc(threads->cap, sizeof(*threads->v));
	if (!threads->v) {
		*threads = old;
		return ep_error_nomem();
	}
	for (uint32_t i = 0; i < old.cap; i++)
		if (old.v[i].tid)
			threads->v[thread_slot(threads, old.v[i].tid)] = old.v[i];
	free(old.v);
	return NULL;
}

struct ep_error *ep_ps_thread_add(struct ep_ps_threads *threads, int32_t tid, int32_t pid)
{
	if (tid <= 0 || pid < 0)
		return NULL;
	/* A process has a thread of its own number. */
	if (tid != pid)
		EP_TRY(ep_ps_thread_add(threads, pid, pid));
	if (threads->n >= threads->cap / 2) {
		if (threads->cap >= THREADS_MAX)
			return NULL;
		EP_TRY(threads_grow(threads));
	}
	uint32_t i = thread_slot(threads, tid);
	threads->n += !threads->v[i].tid;
	threads->v[i].tid = tid;
	threads->v[i].pid = pid;
	return NULL;
}

int32_t ep_ps_process(const struct ep_ps *ps, int32_t pid, int32_t tid)
{
	int32_t known = ep_ps_thread_find(&ps->threads, pid >= 0 ? pid : tid);

	if (pid < 0)
		pid = known >= 0 ? known : tid;
	/* 0 is the idle task of each processor. */
	return known < 0 && pid && ps->threads.n && !ps->has_tasks ? EP_PID_UNKNOWN : pid;
}

/* A place in a line. Once something is not there `ok` is false and stays so. */
struct cursor {
	const char *p, *end;
	bool ok;
};

static void skip_spaces(struct cursor *c)
{
	while (c->p < c->end && ep_ps_is_space(*c->p))
		c->p++;
}

static bool accept(struct cursor *c, const char *text)
{
	size_t n = strlen(text);

	if (!c->ok || (size_t)(c->end - c->p) < n || memcmp(c->p, text, n) != 0)
		return false;
	c->p += n;
	return true;
}

static void expect(struct cursor *c, const char *text)
{
	if (!accept(c, text))
		c->ok = false;
}

static uint64_t take_hex(struct cursor *c)
{
	uint64_t v = 0;
	const char *p = c->ok ? ep_ps_parse_hex(c->p, c->end, &v) : NULL;

	c->ok = p != NULL;
	c->p = p ? p : c->p;
	return v;
}

static uint64_t take_dec(struct cursor *c)
{
	uint64_t v = 0;
	const char *p = c->ok ? ep_ps_parse_dec(c->p, c->end, &v) : NULL;

	c->ok = p != NULL;
	c->p = p ? p : c->p;
	return v;
}

/* A process or thread number, -1 included. */
static int32_t take_pid(struct cursor *c)
{
	if (accept(c, "-1"))
		return -1;
	uint64_t v = take_dec(c);
	c->ok &= v <= INT32_MAX;
	return c->ok ? (int32_t)v : -1;
}

/* The word up to `stop`, which is passed over. */
static size_t take_until(struct cursor *c, char stop, const char **ret)
{
	const char *p = c->ok ? memchr(c->p, stop, (size_t)(c->end - c->p)) : NULL;

	*ret = c->p;
	c->ok = p != NULL;
	if (!p)
		return 0;
	c->p = p + 1;
	return (size_t)(p - *ret);
}

/* The lowest address of all files and the farthest byte of them tell offsets from addresses. */
static void note_extent(struct ep_ps *ps, const struct ep_map *map)
{
	uint64_t far;

	if (map->is_kernel || !map->is_file || !map->start)
		return;
	if (__builtin_add_overflow(map->pgoff, map->len, &far))
		far = UINT64_MAX;
	ps->map_low = ps->map_low ? EP_MIN(ps->map_low, map->start) : map->start;
	ps->map_far = EP_MAX(ps->map_far, far);
	ps->low_end = EP_MIN(ps->map_low, ps->map_far);
}

static struct ep_error *send_map(struct ep_ps *ps, struct ep_event *event, const char *path,
                                 size_t n, bool executable)
{
	struct ep_map *map = &event->u.map;
	char *copy = strndup(path, n);

	if (!copy)
		return ep_error_nomem();
	map->path = copy;
	map->is_kernel = ep_map_name_is_kernel(copy, event->pid);
	map->is_file = map->is_kernel || ep_map_name_is_file(copy);
	bool skip = ep_map_name_is_guest(copy) || !map->len;
	struct ep_error *err = NULL;
	if (map->is_kernel)
		event->pid = EP_PID_KERNEL;
	else
		err = ep_ps_thread_add(&ps->threads, event->tid, event->pid);
	if (!err && !executable && !map->is_kernel) {
		/* Data: ends what was executable there. */
		uint64_t start = map->start, len = map->len;
		event->type = EP_EVENT_UNMAP;
		event->u.unmap.start = start;
		event->u.unmap.len = len;
	} else {
		note_extent(ps, map);
	}
	if (!err && !skip)
		err = ep_ps_send(ps, event);
	free(copy);
	return err;
}

/* What MMAP2 has behind the offset: "MAJ:MIN INODE GENERATION" or "<BUILD-ID>". */
static void take_identity(struct cursor *c, struct ep_build_id *ret)
{
	const char *text;

	skip_spaces(c);
	if (accept(c, "<")) {
		size_t n = take_until(c, '>', &text);
		if (c->ok && !ep_build_id_parse(text, n, ret))
			c->ok = false;
		expect(c, "]:");
		return;
	}
	take_until(c, ']', &text);
	expect(c, ":");
}

/* " PID/TID: [START(LEN) @ PGOFF ...]: PROT PATH" */
static struct ep_error *read_map(struct ep_ps *ps, struct ep_event *event, struct cursor *c)
{
	const char *prot;
	struct ep_map map = {0};

	skip_spaces(c);
	event->pid = take_pid(c);
	expect(c, "/");
	event->tid = take_pid(c);
	expect(c, ": [");
	map.start = take_hex(c);
	expect(c, "(");
	map.len = take_hex(c);
	expect(c, ") @ ");
	map.pgoff = take_hex(c);
	take_identity(c, &map.build_id);
	skip_spaces(c);
	prot = c->p;
	while (c->p < c->end && *c->p != ' ')
		c->p++;
	size_t n = (size_t)(c->p - prot);
	c->p += c->p < c->end;
	/* Up to the very last byte of the address space. */
	if (map.len && map.start + map.len == 0)
		map.len--;
	if (!n || n > 4 || map.start + map.len < map.start)
		c->ok = false;
	if (!c->ok)
		return NULL;
	event->type = EP_EVENT_MAP;
	event->u.map = map;
	return send_map(ps, event, c->p, (size_t)(c->end - c->p), memchr(prot, 'x', n) != NULL);
}

/* "[ exec]: NAME:PID/TID": the name may have anything in it. */
static struct ep_error *read_comm(struct ep_ps *ps, struct ep_event *event, struct cursor *c)
{
	bool exec = accept(c, " exec");

	expect(c, ": ");
	const char *name = c->p, *colon = memrchr(name, ':', (size_t)(c->end - name));
	if (!c->ok || !colon) {
		c->ok = false;
		return NULL;
	}
	c->p = colon + 1;
	event->pid = take_pid(c);
	expect(c, "/");
	event->tid = take_pid(c);
	if (!c->ok)
		return NULL;
	ps->has_tasks = true;
	EP_TRY(ep_ps_thread_add(&ps->threads, event->tid, event->pid));
	const struct ep_event *fork = &ps->held_fork;
	if (ps->holds_fork && !exec && fork->pid == event->pid && fork->tid == event->tid) {
		ps->holds_fork = false;
		exec = true;
	}
	if (exec) {
		event->type = EP_EVENT_EXEC;
		EP_TRY(ep_ps_send(ps, event));
	}
	char *copy = strndup(name, (size_t)(colon - name));
	if (!copy)
		return ep_error_nomem();
	event->type = EP_EVENT_COMM;
	event->u.comm.name = copy;
	struct ep_error *err = ep_ps_send(ps, event);
	free(copy);
	return err;
}

/* "(PID:TID):(PPID:PTID)" */
static struct ep_error *read_task(struct ep_ps *ps, struct ep_event *event, struct cursor *c,
                                  enum ep_event_type type)
{
	expect(c, "(");
	event->pid = take_pid(c);
	expect(c, ":");
	event->tid = take_pid(c);
	expect(c, "):(");
	int32_t ppid = take_pid(c);
	expect(c, ":");
	int32_t ptid = take_pid(c);
	if (!c->ok)
		return NULL;
	ps->has_tasks = true;
	event->type = type;
	if (type == EP_EVENT_FORK) {
		event->u.fork.ppid = ppid;
		event->u.fork.ptid = ptid;
		EP_TRY(ep_ps_thread_add(&ps->threads, event->tid, event->pid));
		/* A made-up one has no time. */
		if (!event->t_ns && event->pid != ppid) {
			EP_TRY(ep_ps_release_fork(ps));
			ps->held_fork = *event;
			ps->holds_fork = true;
			return NULL;
		}
	}
	return ep_ps_send(ps, event);
}

struct ep_error *ep_ps_release_fork(struct ep_ps *ps)
{
	bool holds = ps->holds_fork;

	ps->holds_fork = false;
	return holds ? ps->sink->event(ps->sink->payload, &ps->held_fork) : NULL;
}

/* " lost N", with or without more words between */
static struct ep_error *read_lost(struct ep_ps *ps, struct ep_event *event, struct cursor *c)
{
	while (c->p < c->end && (*c->p < '0' || *c->p > '9'))
		c->p++;
	uint64_t n = take_dec(c);
	if (!c->ok)
		return NULL;
	event->type = EP_EVENT_LOST;
	event->u.lost.reason = EP_LOST_RECORDER;
	event->u.lost.n = n;
	return ep_ps_send(ps, event);
}

struct ep_error *ep_ps_record(struct ep_ps *ps, const struct ep_ps_columns *head, const char *p,
                              const char *end)
{
	struct cursor c = {p, end, true};
	struct ep_event event = ep_ps_event(EP_EVENT_LOST, head->pid, head->tid);
	struct ep_error *err = NULL;

	event.cpu = head->cpu;
	event.t_ns = head->t_ns;
	if (accept(&c, "MMAP2") || accept(&c, "MMAP"))
		err = read_map(ps, &event, &c);
	else if (accept(&c, "COMM"))
		err = read_comm(ps, &event, &c);
	else if (accept(&c, "FORK"))
		err = read_task(ps, &event, &c, EP_EVENT_FORK);
	else if (accept(&c, "EXIT"))
		err = read_task(ps, &event, &c, EP_EVENT_EXIT);
	else if (accept(&c, "LOST"))
		err = read_lost(ps, &event, &c);
	if (err || c.ok)
		return err;
	ep_warn(ps->warnings, "bad-event-line", "%s: line %llu: 'PERF_RECORD_%.*s' cannot be read",
	        ps->name, (unsigned long long)ps->n_lines, (int)EP_MIN(end - p, 60), p);
	return ep_ps_send_corrupt(ps, 1);
}

/* "# KEY : VALUE" */
struct ep_error *ep_ps_header(struct ep_ps *ps, const char *p, const char *end)
{
	const struct {
		const char *key;
		const char **value;
	} keys[] = {
	    {"hostname", &ps->capture->host}, {"os release", &ps->capture->kernel},
	    {"cpudesc", &ps->capture->cpu},   {"cpuid", &ps->capture->cpuid},
	    {"arch", &ps->capture->arch},     {"cmdline", &ps->capture->cmdline},
	};
	struct cursor c = {p + 1, end, true};

	skip_spaces(&c);
	for (size_t i = 0; i < EP_ARRAY_LEN(keys); i++) {
		struct cursor at = c;
		if (!accept(&at, keys[i].key) || !accept(&at, " : "))
			continue;
		const char *copy = ep_arena_strndup(ps->arena, at.p, (size_t)(at.end - at.p));
		if (!copy)
			return ep_error_nomem();
		*keys[i].value = copy;
		if (keys[i].value != &ps->capture->cpuid)
			continue;
		struct ep_event event = ep_ps_event(EP_EVENT_CPU, EP_PID_UNKNOWN, -1);
		event.u.cpu.cpuid = copy;
		EP_TRY(ep_ps_send(ps, &event));
	}
	return NULL;
}
