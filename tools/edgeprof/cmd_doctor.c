/* SPDX-License-Identifier: BSD-2-Clause */
/* edgeprof doctor: what can be captured on this machine, and what is in the way. */
#include "capture/capture.h"
#include "cmd.h"

static const struct ep_opt opts[] = {EP_OPT_JSON_ENTRY, EP_OPT_COMMON_ENTRIES};

static void print_probe(const struct ep_args *args, const struct ep_capture_methods *backend,
                        const struct ep_probe *probe)
{
	if (probe->layer)
		printf("%-5s does not work: %s (%s)\n", backend->name, probe->layer,
		       backend->summary);
	else
		printf("%-5s works (%s)\n", backend->name, backend->summary);
	if (args->quiet)
		return;
	for (size_t i = 0; i < probe->steps.n; i++) {
		const struct ep_probe_step *step = &probe->steps.v[i];
		printf("      %s %s\n", step->ok ? "ok" : "no", step->text);
		if (step->hint)
			printf("         hint: %s\n", step->hint);
	}
}

static json_t *probe_json(const struct ep_capture_methods *backend, const struct ep_probe *probe)
{
	json_t *steps = json_array();

	for (size_t i = 0; i < probe->steps.n; i++) {
		const struct ep_probe_step *step = &probe->steps.v[i];
		json_array_append_new(steps, json_pack("{s:b, s:s, s:s?}", "ok", step->ok, "text",
		                                       step->text, "hint", step->hint));
	}
	return json_pack("{s:s, s:s, s:b, s:b, s:s?, s:o}", "name", backend->name, "summary",
	                 backend->summary, "works", !probe->layer, "records", probe->records,
	                 "layer", probe->layer, "steps", steps);
}

static int run(struct ep_args *args)
{
	bool as_json = false, any = false;
	int opt;

	while ((opt = ep_args_next(args)) != EP_ARGS_END) {
		if (opt == EP_ARGS_EXIT)
			return args->status;
		as_json |= opt == EP_OPT_JSON;
	}
	if (ep_args_n_operands(args))
		return ep_args_usage(args, "takes no operands");
	json_t *report = ep_json_report(args), *list = json_array();
	for (size_t i = 0; ep_capture_backends[i]; i++) {
		struct ep_probe probe = {0};
		struct ep_error *err = ep_capture_backends[i]->probe(&probe);
		if (!err && as_json)
			json_array_append_new(list, probe_json(ep_capture_backends[i], &probe));
		else if (!err)
			print_probe(args, ep_capture_backends[i], &probe);
		any |= !err && !probe.layer;
		ep_probe_deinit(&probe);
		if (err) {
			json_decref(list);
			json_decref(report);
			return ep_cmd_fail(args, err);
		}
	}
	json_object_set_new(report, "works", json_boolean(any));
	json_object_set_new(report, "backends", list);
	struct ep_error *err = as_json ? ep_json_write(json_incref(report), "-") : NULL;
	json_decref(report);
	if (err)
		return ep_cmd_fail(args, err);
	return any ? EP_EXIT_OK : EP_EXIT_NO_CAPTURE;
}

const struct ep_cmd ep_cmd_doctor = {
    .name = "doctor",
    .summary = "Say what can be captured on this machine, by trying it",
    .synopsis = "[--json]",
    .opts = opts,
    .fn = run,
};
