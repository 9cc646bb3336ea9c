/* SPDX-License-Identifier: BSD-2-Clause */
/* Uses the installed library as a stranger would: reads a profile, and writes and reads edges. */
#include <stdio.h>

#include <edges/edges.h>
#include <sprof/read.h>
#include <sprof/summary.h>

static struct ep_error *read_profile(void)
{
	static const char text[] = "main:30:1\n 1: 10\n 2: 20\n";
	struct ep_sprof_summary summary;
	struct ep_sprof prof;

	EP_TRY(ep_sprof_read(text, sizeof(text) - 1, "text", NULL, &prof));
	struct ep_error *err = ep_sprof_summarise(&prof, &summary);
	if (!err)
		printf("%llu samples\n", (unsigned long long)summary.total_count);
	ep_sprof_deinit(&prof);
	return err;
}

static struct ep_error *copy_edges(void)
{
	struct ep_edges edges = {.n_binaries = 0}, copy;
	struct ep_buf bytes = {.v = NULL};
	struct ep_error *err = ep_edges_encode(&edges, &bytes);

	if (!err)
		err = ep_edges_decode(bytes.v, bytes.n, "copy", &copy);
	if (!err) {
		printf("%zu binaries\n", copy.n_binaries);
		ep_edges_deinit(&copy);
	}
	ep_buf_deinit(&bytes);
	return err;
}

int main(void)
{
	struct ep_error *err = read_profile();

	if (!err)
		err = copy_edges();
	if (err)
		fprintf(stderr, "%s\n", err->message);
	int status = err != NULL;
	ep_error_destroy(err);
	return status;
}
