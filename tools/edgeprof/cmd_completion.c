/* SPDX-License-Identifier: BSD-2-Clause */
/* edgeprof completion: completion scripts made from the option tables. */
#include <string.h>

#include "cmd.h"

static const struct ep_opt opts[] = {EP_OPT_COMMON_ENTRIES};

static void print_words(const struct ep_cmd *cmd)
{
	for (const struct ep_opt *opt = cmd->opts; opt->name; opt++)
		printf(" --%s", opt->name);
}

static void print_verbs(void)
{
	for (size_t i = 0; ep_cmds[i]; i++)
		printf(" %s", ep_cmds[i]->name);
	fputs(" help", stdout);
}

static void print_bash(void)
{
	fputs("_edgeprof()\n{\n\tlocal word=\"${COMP_WORDS[COMP_CWORD]}\" words=\n"
	      "\tif [ \"$COMP_CWORD\" -eq 1 ]; then\n\t\twords='",
	      stdout);
	print_verbs();
	fputs("'\n\telif [[ $word == -* ]]; then\n\t\tcase \"${COMP_WORDS[1]}\" in\n", stdout);
	for (size_t i = 0; ep_cmds[i]; i++) {
		printf("\t\t%s) words='", ep_cmds[i]->name);
		print_words(ep_cmds[i]);
		fputs("' ;;\n", stdout);
	}
	fputs("\t\tesac\n\tfi\n"
	      "\tmapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$word\")\n}\n"
	      "complete -o default -F _edgeprof edgeprof\n",
	      stdout);
}

/* Text between single quotes in zsh and fish; the help texts have no backslashes. */
static void print_quoted(const char *text, const char *quote)
{
	for (; *text; text++)
		if (*text == '\'')
			fputs(quote, stdout);
		else if (*text != '[' && *text != ']' && *text != ':')
			putchar(*text);
}

static void print_zsh(void)
{
	fputs("#compdef edgeprof\n_edgeprof()\n{\n\tif (( CURRENT == 2 )); then\n"
	      "\t\tlocal -a verbs=(",
	      stdout);
	for (size_t i = 0; ep_cmds[i]; i++) {
		printf(" '%s:", ep_cmds[i]->name);
		print_quoted(ep_cmds[i]->summary, "'\\''");
		putchar('\'');
	}
	fputs(")\n\t\t_describe verb verbs\n\t\treturn\n\tfi\n\tcase $words[2] in\n", stdout);
	for (size_t i = 0; ep_cmds[i]; i++) {
		printf("\t%s) _arguments", ep_cmds[i]->name);
		for (const struct ep_opt *opt = ep_cmds[i]->opts; opt->name; opt++) {
			printf(" '--%s[", opt->name);
			print_quoted(opt->help, "'\\''");
			fputs(opt->arg ? "]:argument:_files'" : "]'", stdout);
		}
		fputs(" '*:file:_files' ;;\n", stdout);
	}
	fputs("\tesac\n}\n_edgeprof \"$@\"\n", stdout);
}

static void print_fish(void)
{
	for (size_t i = 0; ep_cmds[i]; i++) {
		const struct ep_cmd *cmd = ep_cmds[i];
		printf("complete -c edgeprof -n __fish_use_subcommand -f -a %s -d '", cmd->name);
		print_quoted(cmd->summary, "\\'");
		fputs("'\n", stdout);
		for (const struct ep_opt *opt = cmd->opts; opt->name; opt++) {
			printf("complete -c edgeprof -n '__fish_seen_subcommand_from %s' -l %s",
			       cmd->name, opt->name);
			if (opt->id < 256)
				printf(" -s %c", opt->id);
			printf("%s -d '", opt->arg ? " -r" : "");
			print_quoted(opt->help, "\\'");
			fputs("'\n", stdout);
		}
	}
}

static int run(struct ep_args *args)
{
	static const char *const shells[] = {"bash", "zsh", "fish", NULL};
	static void (*const printers[])(void) = {print_bash, print_zsh, print_fish};

	if (ep_args_next(args) == EP_ARGS_EXIT)
		return args->status;
	if (ep_args_n_operands(args) != 1)
		return ep_args_usage(args, "name one shell: bash, zsh or fish");
	int shell = ep_args_choice(args, "shell", ep_args_operands(args)[0], shells);
	if (shell < 0)
		return EP_EXIT_BAD;
	printers[shell]();
	return EP_EXIT_OK;
}

const struct ep_cmd ep_cmd_completion = {
    .name = "completion",
    .summary = "Print a completion script for a shell",
    .synopsis = "bash|zsh|fish",
    .opts = opts,
    .fn = run,
};
