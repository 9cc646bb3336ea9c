/* SPDX-License-Identifier: BSD-2-Clause */
/* doctor's look at Linux perf events: from the system call down to a record that arrives. */
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "base/bytes.h"
#include "capture/perf/perf.h"

#define N_DATA_PAGES 64
#define PERIOD 10007
#define N_TURNS 30000000u

static int open_event(struct perf_event_attr *attr)
{
	return (int)syscall(SYS_perf_event_open, attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

static struct perf_event_attr cycles_attr(void)
{
	struct perf_event_attr attr = {
	    .type = PERF_TYPE_HARDWARE, .size = sizeof(attr), .config = PERF_COUNT_HW_CPU_CYCLES};

	attr.exclude_kernel = 1;
	attr.exclude_hv = 1;
	attr.disabled = 1;
	return attr;
}

static struct perf_event_attr branch_attr(void)
{
	struct perf_event_attr attr = cycles_attr();

	attr.sample_period = PERIOD;
	attr.sample_type = PERF_SAMPLE_BRANCH_STACK;
	attr.branch_sample_type = PERF_SAMPLE_BRANCH_ANY | PERF_SAMPLE_BRANCH_USER;
	return attr;
}

static bool in_container(void)
{
	return !access("/.dockerenv", F_OK) || !access("/run/.containerenv", F_OK) ||
	       getenv("container");
}

static int read_paranoid(void)
{
	char text[32] = "";
	ep_autoclose int fd = open("/proc/sys/kernel/perf_event_paranoid", O_RDONLY | O_CLOEXEC);

	if (fd < 0 || read(fd, text, sizeof(text) - 1) <= 0)
		return -100;
	return atoi(text);
}

/* Why perf_event_open(2) said no. */
static struct ep_error *note_refusal(struct ep_probe *probe, const char *what, int error)
{
	const char *text = strerror(error);

	switch (error) {
	case ENOSYS:
		return ep_probe_add(probe, "kernel",
		                    "the kernel lacks CONFIG_PERF_EVENTS, or a "
		                    "sandbox hides the call",
		                    "%s: %s", what, text);
	case EPERM:
	case EACCES:
		if (error == EPERM && in_container())
			return ep_probe_add(probe, "container",
			                    "start the container with --cap-add PERFMON and a "
			                    "seccomp profile that allows perf_event_open",
			                    "%s: %s", what, text);
		return ep_probe_add(probe, "permission",
		                    "sysctl kernel.perf_event_paranoid=1, or run with CAP_PERFMON",
		                    "%s: %s (perf_event_paranoid is %d)", what, text,
		                    read_paranoid());
	case ENOENT:
	case ENODEV:
	case ENXIO:
		return ep_probe_add(probe, "pmu",
		                    "virtual machines often have no PMU; record on "
		                    "the host or with --backend soft",
		                    "%s: %s", what, text);
	case EOPNOTSUPP:
	case EINVAL:
		return ep_probe_add(probe, "branch-stack",
		                    "this CPU or kernel has no branch records: BRBE needs Linux "
		                    "6.17 and firmware that enables it, LBR is often hidden from "
		                    "virtual machines",
		                    "%s: %s", what, text);
	default:
		return ep_probe_add(probe, "kernel", NULL, "%s: %s", what, text);
	}
}

/* Something with a taken branch every few instructions. */
static unsigned work(void)
{
	volatile unsigned sink = 0;

	for (unsigned i = 0; i < N_TURNS; i++)
		sink += i & 3 ? i : 1;
	return sink;
}

/* Samples with a branch stack in the ring; its layout is perf's, the bytes are the kernel's. */
static unsigned count_stacks(const struct perf_event_mmap_page *meta, size_t page)
{
	const unsigned char *data = (const unsigned char *)meta + page;
	size_t size = N_DATA_PAGES * page;
	uint64_t pos = meta->data_tail, head = __atomic_load_n(&meta->data_head, __ATOMIC_ACQUIRE);
	unsigned n = 0;

	while (pos + sizeof(struct perf_event_header) <= head) {
		struct perf_event_header h;
		uint64_t nr;
		memcpy(&h, data + pos % size, sizeof(h));
		if (h.size < sizeof(h) || pos + h.size > head)
			break;
		memcpy(&nr, data + (pos + sizeof(h)) % size, sizeof(nr));
		n += h.type == PERF_RECORD_SAMPLE && h.size >= sizeof(h) + 8 && nr;
		pos += h.size;
	}
	return n;
}

/* Runs the event on `fd`. False: its ring could not be mapped. */
static bool run_event(int fd, unsigned *n_ret)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE), n = (1 + N_DATA_PAGES) * page;
	void *ring = mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	if (ring == MAP_FAILED)
		return false;
	ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
	work();
	ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
	*n_ret = count_stacks(ring, page);
	munmap(ring, n);
	return true;
}

static struct ep_error *try_branch_stack(struct ep_probe *ret)
{
	struct perf_event_attr attr = branch_attr();
	ep_autoclose int fd = open_event(&attr);
	unsigned n = 0;

	if (fd < 0)
		return note_refusal(ret, "sampling with a branch stack", errno);
	if (!run_event(fd, &n))
		return ep_probe_add(ret, "permission", "raise kernel.perf_event_mlock_kb",
		                    "mapping the event's buffer: %s", strerror(errno));
	if (!n)
		return ep_probe_add(ret, "records",
		                    "a hypervisor may let the event be opened "
		                    "but never deliver",
		                    "sampling: no branch stack arrived");
	return ep_probe_add(ret, NULL, NULL, "sampling: %u branch stacks arrived", n);
}

struct ep_error *ep_perf_probe(struct ep_probe *ret)
{
	struct perf_event_attr attr = cycles_attr();
	ep_autoclose int fd = open_event(&attr);

	if (fd < 0)
		return note_refusal(ret, "counting cycles", errno);
	EP_TRY(ep_probe_add(ret, NULL, NULL, "counting cycles: works"));
	EP_TRY(try_branch_stack(ret));
	if (!ret->layer)
		return ep_probe_add(ret, NULL,
		                    "perf record -b -o perf.data -- PROGRAM; "
		                    "edgeprof fold perf.data -o out.edges",
		                    "this version folds what perf(1) has recorded; it does not "
		                    "record by perf events itself");
	return NULL;
}
