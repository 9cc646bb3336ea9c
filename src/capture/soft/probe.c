/* SPDX-License-Identifier: BSD-2-Clause */
/* doctor's look at the backend `soft`. */
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include "capture/soft/find.h"
#include "capture/soft/host.h"
#include "capture/soft/soft.h"
#include "record/machine.h"

struct counter {
	uint64_t n_samples, n_maps;
};

static struct ep_error *count_event(void *payload, const struct ep_event *event)
{
	struct counter *c = payload;

	c->n_samples += event->type == EP_EVENT_SAMPLE;
	c->n_maps += event->type == EP_EVENT_MAP && event->u.map.build_id.size;
	return NULL;
}

/* Turns a failure into a step of the probe. */
static struct ep_error *note_failure(struct ep_probe *probe, const char *layer,
                                     struct ep_error *failure)
{
	struct ep_error *err =
	    failure->code == EP_ERROR_NOMEM
	        ? ep_error_nomem()
	        : ep_probe_add(probe, layer, failure->hint, "%s", failure->message);

	ep_error_destroy(failure);
	return err;
}

static struct ep_error *record(char *const argv[], struct counter *counter)
{
	struct ep_capture_opts opts = {
	    .argv = argv, .event = EP_SAMPLING_TAKEN_BRANCHES, .period = 100, .seed = 1};
	struct ep_event_sink sink = {count_event, counter};
	void *state = NULL;
	bool done = false;
	struct ep_error *err = ep_capture_soft.open(&opts, &state);

	if (!err)
		err = ep_capture_soft.start(state);
	while (!err && !done)
		err = ep_capture_soft.step(state, &sink, 1, &done);
	ep_capture_soft.close(state);
	return err;
}

static struct ep_error *try_recording(struct ep_probe *probe, bool *ok_ret)
{
	static char name[] = "true";
	char *argv[] = {name, NULL};
	struct counter counter = {0};
	struct ep_error *failure = record(argv, &counter);

	*ok_ret = !failure && counter.n_samples && counter.n_maps;
	if (failure)
		return note_failure(probe, "qemu", failure);
	if (!*ok_ret)
		return ep_probe_add(probe, "plugin", NULL,
		                    "recorded '%s', but got %llu samples and %llu known files",
		                    name, (unsigned long long)counter.n_samples,
		                    (unsigned long long)counter.n_maps);
	return ep_probe_add(probe, NULL, NULL, "recorded '%s': %llu samples in %llu files", name,
	                    (unsigned long long)counter.n_samples,
	                    (unsigned long long)counter.n_maps);
}

/* QEMU and plugin of one machine; *ok_ret: both are there. */
static struct ep_error *look_for(struct ep_probe *probe, uint16_t machine, bool *ok_ret)
{
	struct ep_soft_qemu qemu;
	char plugin[PATH_MAX];
	struct ep_error *failure = ep_soft_find_qemu(machine, NULL, &qemu);

	*ok_ret = false;
	if (failure)
		return note_failure(probe, "qemu", failure);
	EP_TRY(ep_probe_add(probe, NULL, NULL, "%s: QEMU %s, plugin interface %u", qemu.path,
	                    qemu.version[0] ? qemu.version : "of unknown version", qemu.api));
	failure = ep_soft_find_plugin(qemu.api, NULL, plugin);
	if (failure)
		return note_failure(probe, "plugin", failure);
	*ok_ret = true;
	return ep_probe_add(probe, NULL, NULL, "%s: found", plugin);
}

struct ep_error *ep_soft_probe(struct ep_probe *ret)
{
	static const uint16_t machines[] = {EP_MACHINE_X86_64, EP_MACHINE_AARCH64};
	uint16_t native = ep_soft_native_machine();
	bool any = false;

	ret->records = true;
	if (ep_soft_host_obstacle())
		return ep_probe_add(ret, "os", NULL, "%s", ep_soft_host_obstacle());
	for (size_t i = 0; i < EP_ARRAY_LEN(machines); i++) {
		bool ok;
		EP_TRY(look_for(ret, machines[i], &ok));
		if (ok && machines[i] == native)
			EP_TRY(try_recording(ret, &ok));
		any |= ok;
	}
	/* One machine's programs are enough to say that it works. */
	if (any)
		ret->layer = NULL;
	return NULL;
}
