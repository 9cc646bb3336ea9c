/* SPDX-License-Identifier: BSD-2-Clause */
/* edgeprof(1): finds the verb and runs it. */
#include <errno.h>
#include <signal.h>
#include <string.h>

#include "cmd.h"
#include "process.h"

static void print_version(void)
{
	printf("edgeprof %s\n", EDGEPROF_VERSION);
}

static void print_help(FILE *out)
{
	fprintf(out, "usage: edgeprof VERB [OPTIONS] [ARGUMENTS]\n\n"
	             "Turns hardware branch records into profiles that make programs faster.\n\n");
	for (size_t i = 0; ep_cmds[i]; i++)
		fprintf(out, "  %-11s %s\n", ep_cmds[i]->name, ep_cmds[i]->summary);
	fprintf(out, "\n'edgeprof VERB --help' shows a verb's options, edgeprof-VERB(1) the whole "
	             "story.\n");
}

static const struct ep_cmd *find_cmd(const char *name)
{
	for (size_t i = 0; ep_cmds[i]; i++)
		if (!strcmp(ep_cmds[i]->name, name))
			return ep_cmds[i];
	return NULL;
}

/* Levenshtein distance of short words, for the suggestion. */
static size_t distance(const char *a, const char *b)
{
	enum { MAX = 32 };
	size_t row[MAX + 1], n = strlen(b);

	if (n > MAX || strlen(a) > MAX)
		return MAX;
	for (size_t j = 0; j <= n; j++)
		row[j] = j;
	for (size_t i = 1; a[i - 1]; i++) {
		size_t diagonal = row[0];
		row[0] = i;
		for (size_t j = 1; j <= n; j++) {
			size_t cost = diagonal + (a[i - 1] != b[j - 1]);
			diagonal = row[j];
			row[j] = EP_MIN(cost, EP_MIN(row[j], row[j - 1]) + 1);
		}
	}
	return row[n];
}

static int unknown_verb(const char *name)
{
	const char *nearest = NULL;
	size_t best = 3;

	for (size_t i = 0; ep_cmds[i]; i++) {
		size_t d = distance(name, ep_cmds[i]->name);
		if (d < best) {
			best = d;
			nearest = ep_cmds[i]->name;
		}
	}
	fprintf(stderr, "edgeprof: no verb '%s'\n", name);
	if (nearest)
		fprintf(stderr, "hint: did you mean '%s'?\n", nearest);
	else
		fprintf(stderr, "hint: 'edgeprof --help' lists the verbs\n");
	return EP_EXIT_BAD;
}

/* What stdout has taken is written, or the status says that it was not. */
static int end_output(int status)
{
	if (fflush(stdout) && status == EP_EXIT_OK) {
		if (errno == EPIPE) {
			/* Whoever reads has seen enough (head, a pager): end as filters do. */
			signal(SIGPIPE, SIG_DFL);
			raise(SIGPIPE);
		}
		perror("edgeprof: standard output");
		status = EP_EXIT_BAD;
	}
	return status;
}

static int run(const struct ep_cmd *cmd, int argc, char **argv)
{
	struct ep_args args = {.cmd = cmd, .argc = argc, .argv = argv};
	int status = cmd->fn(&args);

	free(args.long_opts);
	free(args.short_opts);
	return end_output(status);
}

static int help(int argc, char **argv)
{
	static char opt[] = "--help";

	if (argc < 3) {
		print_help(stdout);
		return end_output(EP_EXIT_OK);
	}
	const struct ep_cmd *cmd = find_cmd(argv[2]);
	char *cmd_argv[] = {argv[2], opt, NULL};
	return cmd ? run(cmd, 2, cmd_argv) : unknown_verb(argv[2]);
}

int main(int argc, char **argv)
{
	ep_process_init();
	if (argc < 2) {
		print_help(stderr);
		return EP_EXIT_BAD;
	}
	if (!strcmp(argv[1], "--version")) {
		print_version();
		return end_output(EP_EXIT_OK);
	}
	if (!strcmp(argv[1], "help") || !strcmp(argv[1], "--help") || !strcmp(argv[1], "-h"))
		return help(argc, argv);
	const struct ep_cmd *cmd = find_cmd(argv[1]);
	return cmd ? run(cmd, argc - 1, argv + 1) : unknown_verb(argv[1]);
}
