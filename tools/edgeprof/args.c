/* SPDX-License-Identifier: BSD-2-Clause */
/* Command lines: options by getopt_long(3) from the verbs' tables, and their help. */
#include <errno.h>
#include <stdarg.h>
#include <string.h>

#include "cmd.h"

static size_t n_opts(const struct ep_cmd *cmd)
{
	size_t n = 0;

	while (cmd->opts[n].name)
		n++;
	return n;
}

static bool build_tables(struct ep_args *args)
{
	size_t n = n_opts(args->cmd);
	struct option *longs = calloc(n + 1, sizeof(*longs));
	char *shorts = malloc(2 * n + 3), *p = shorts;

	args->long_opts = longs;
	args->short_opts = shorts;
	if (!longs || !shorts)
		return false;
	if (args->cmd->stops_at_operand)
		*p++ = '+';
	*p++ = ':'; /* a missing argument is told apart from an unknown option */
	for (size_t i = 0; i < n; i++) {
		const struct ep_opt *opt = &args->cmd->opts[i];
		longs[i] = (struct option){opt->name, opt->arg ? required_argument : no_argument,
		                           NULL, opt->id};
		if (opt->id >= 256)
			continue;
		*p++ = (char)opt->id;
		if (opt->arg)
			*p++ = ':';
	}
	*p = '\0';
	optind = 1;
	opterr = 0;
	return true;
}

static void print_help(const struct ep_cmd *cmd)
{
	printf("usage: edgeprof %s %s\n\n%s.\n\n", cmd->name, cmd->synopsis, cmd->summary);
	for (const struct ep_opt *opt = cmd->opts; opt->name; opt++) {
		char left[64];
		snprintf(left, sizeof(left), "%c%c%s--%s%s%s", opt->id < 256 ? '-' : ' ',
		         opt->id < 256 ? opt->id : ' ', opt->id < 256 ? ", " : "  ", opt->name,
		         opt->arg ? " " : "", opt->arg ? opt->arg : "");
		if (strlen(left) > 28)
			printf("  %s\n  %28s %s\n", left, "", opt->help);
		else
			printf("  %-28s %s\n", left, opt->help);
	}
}

static int bad_option(struct ep_args *args, bool missing)
{
	const char *word = args->argv[optind - 1];

	if (missing)
		args->status = ep_args_usage(args, "option '%s' needs an argument", word);
	else if (optopt && optopt < 256)
		args->status = ep_args_usage(args, "no option '-%c'", optopt);
	else
		args->status = ep_args_usage(args, "no option '%s'", word);
	return EP_ARGS_EXIT;
}

int ep_args_next(struct ep_args *args)
{
	if (!args->long_opts && !build_tables(args)) {
		args->status = ep_cmd_fail(args, ep_error_nomem());
		return EP_ARGS_EXIT;
	}
	for (;;) {
		int id =
		    getopt_long(args->argc, args->argv, args->short_opts, args->long_opts, NULL);
		args->value = optarg;
		switch (id) {
		case 'q':
			args->quiet = true;
			break;
		case 'v':
			args->verbose++;
			break;
		case 'h':
			print_help(args->cmd);
			args->status = EP_EXIT_OK;
			return EP_ARGS_EXIT;
		case '?':
		case ':':
			return bad_option(args, id == ':');
		default:
			return id;
		}
	}
}

bool ep_args_u64(const struct ep_args *args, const char *what, const char *text, uint64_t min,
                 uint64_t max, uint64_t *ret)
{
	static const char suffixes[] = "kMG";
	char *end;

	errno = 0;
	unsigned long long v = strtoull(text, &end, 10);
	bool ok = !errno && end != text && text[0] != '-' && text[0] != '+' && text[0] != ' ';
	const char *suffix = ok && *end ? strchr(suffixes, *end) : NULL;
	if (suffix) {
		for (size_t i = 0; ok && i <= (size_t)(suffix - suffixes); i++)
			ok = !__builtin_mul_overflow(v, 1000ull, &v);
		end++;
	}
	if (!ok || *end || v < min || v > max) {
		ep_args_usage(args, "%s '%s' is not a number from %llu to %llu", what, text,
		              (unsigned long long)min, (unsigned long long)max);
		return false;
	}
	*ret = v;
	return true;
}

int ep_args_choice(const struct ep_args *args, const char *what, const char *text,
                   const char *const *choices)
{
	char list[256] = "";

	for (int i = 0; choices[i]; i++)
		if (!strcmp(choices[i], text))
			return i;
	for (int i = 0; choices[i]; i++) {
		size_t n = strlen(list);
		snprintf(list + n, sizeof(list) - n, "%s%s", i ? ", " : "", choices[i]);
	}
	ep_args_usage(args, "%s '%s' is none of: %s", what, text, list);
	return -1;
}

int ep_args_usage(const struct ep_args *args, const char *fmt, ...)
{
	va_list ap;

	fprintf(stderr, "edgeprof %s: ", args->cmd->name);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fprintf(stderr, "\nhint: 'edgeprof %s --help' shows its use\n", args->cmd->name);
	return EP_EXIT_BAD;
}
