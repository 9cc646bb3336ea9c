/* SPDX-License-Identifier: BSD-2-Clause */
/* The table of backends, and the notes of a probe. */
#include "capture/capture.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

const struct ep_capture_methods *const ep_capture_backends[] = {
    &ep_capture_soft,
    &ep_capture_perf,
    &ep_capture_hwt,
    NULL,
};

const struct ep_capture_methods *ep_capture_find(const char *name)
{
	for (size_t i = 0; ep_capture_backends[i]; i++)
		if (!strcmp(ep_capture_backends[i]->name, name))
			return ep_capture_backends[i];
	return NULL;
}

void ep_probe_deinit(struct ep_probe *probe)
{
	for (size_t i = 0; i < probe->steps.n; i++) {
		free(probe->steps.v[i].text);
		free(probe->steps.v[i].hint);
	}
	ep_vec_deinit(&probe->steps);
}

struct ep_error *ep_probe_add(struct ep_probe *probe, const char *layer_if_failed, const char *hint,
                              const char *fmt, ...)
{
	struct ep_probe_step step = {.ok = !layer_if_failed};
	char text[1024];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	step.text = strdup(text);
	step.hint = hint ? strdup(hint) : NULL;
	if (!step.text || (hint && !step.hint) || !ep_vec_push(&probe->steps, step)) {
		free(step.text);
		free(step.hint);
		return ep_error_nomem();
	}
	if (layer_if_failed && !probe->layer)
		probe->layer = layer_if_failed;
	return NULL;
}
