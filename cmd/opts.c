// SPDX-License-Identifier: Apache-2.0
#include "cmd/opts.h"

#include "api/names.h"
#include "lib/log.h"
#include "lib/util.h"

#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LONG_ONLY 256 /* values of options without a letter: beyond every char */
#define GLOBALS	  5

struct parser {
	const struct opt *opts[OPTS_MAX + GLOBALS];
	size_t n;
	struct option longs[OPTS_MAX + GLOBALS + 1];
	char letters[2 * (OPTS_MAX + GLOBALS) + 3];
};

void texts_done(struct texts *t)
{
	free(t->v);
	*t = (struct texts){0};
}

void texts_add(struct texts *t, const char *text)
{
	t->v = xrealloc(t->v, t->n + 1, sizeof(char *));
	t->v[t->n++] = text;
}

int opts_seconds(const char *text, long *ret)
{
	char *end = NULL;
	long v, unit = 1;

	errno = 0;
	v = strtol(text, &end, 10);
	if (errno || !end || end == text)
		return -EINVAL;
	if (str_eq(end, "m"))
		unit = 60;
	else if (str_eq(end, "h"))
		unit = 3600;
	else if (*end && !str_eq(end, "s"))
		return -EINVAL;
	if (v > LONG_MAX / 1000000 / unit)
		return -EINVAL;
	*ret = v < 0 ? -1 : v * unit;
	return 0;
}

static int parse_count(const char *text, long *ret)
{
	char *end;
	long v;

	errno = 0;
	v = strtol(text, &end, 10);
	if (errno || end == text || *end || v < 0 || v > INT_MAX)
		return -EINVAL;
	*ret = v;
	return 0;
}

static int parse_bool(const char *text, bool *ret)
{
	if (text && !str_eq(text, "true") && !str_eq(text, "false"))
		return -EINVAL;
	*ret = !text || str_eq(text, "true");
	return 0;
}

static int store(const struct opt *o, const char *value)
{
	switch (o->type) {
	case OPT_FLAG:
		*(bool *)o->to = true;
		return 0;
	case OPT_BOOL:
		return parse_bool(value, o->to);
	case OPT_TEXT:
		*(const char **)o->to = value;
		return 0;
	case OPT_TEXTS:
		texts_add(o->to, value);
		return 0;
	case OPT_COUNT:
		return parse_count(value, o->to);
	case OPT_TIME:
		return opts_seconds(value, o->to);
	}
	return -EINVAL;
}

static void add(struct parser *p, const struct opt *o)
{
	int has_arg = o->type == OPT_FLAG   ? no_argument
		      : o->type == OPT_BOOL ? optional_argument
					    : required_argument;
	char *at = p->letters + strlen(p->letters);

	p->longs[p->n] = (struct option){o->name, has_arg, NULL, LONG_ONLY + (int)p->n};
	p->opts[p->n++] = o;
	if (o->letter) {
		*at++ = o->letter;
		if (has_arg == required_argument)
			*at++ = ':';
		*at = 0;
	}
}

static const struct opt *found(const struct parser *p, int c)
{
	if (c >= LONG_ONLY)
		return p->opts[c - LONG_ONLY];
	for (size_t i = 0; i < p->n; i++)
		if (p->opts[i]->letter && p->opts[i]->letter == c)
			return p->opts[i];
	return NULL;
}

static int parse_output(const char *text, enum output *ret)
{
	static const char *const names[] = {[OUTPUT_TABLE] = "table",
					    [OUTPUT_WIDE] = "wide",
					    [OUTPUT_JSON] = "json",
					    [OUTPUT_YAML] = "yaml",
					    [OUTPUT_NAME] = "name"};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (str_eq(text, names[i])) {
			*ret = (enum output)i;
			return 0;
		}
	log_error("-o %s: must be json, yaml, name, wide or table", text);
	return -EINVAL;
}

/* A form that the command has no words for would be ignored otherwise. */
static int check_output(const struct cli *cli)
{
	const struct command *c = cli->command;
	bool machine_only = c && !(c->outputs & OUTPUT_BIT(OUTPUT_NAME));

	if (!c || cli->output == OUTPUT_TABLE || c->outputs & OUTPUT_BIT(cli->output))
		return 0;
	if (!c->outputs)
		log_error("%s: takes no -o", c->name);
	else
		log_error("%s: -o: must be json%s yaml%s", c->name, machine_only ? " or" : ",",
			  machine_only ? "" : " or name");
	return -EINVAL;
}

/* What getopt has stumbled over: a letter, perhaps in the midst of others, or a long option. */
static void complain(const struct parser *p, int c, const char *word)
{
	char letter[3] = {'-', (char)optopt, 0};
	const struct opt *o = optopt ? found(p, optopt) : NULL;

	if (!o && optopt)
		word = letter;
	if (!o)
		log_error("%s: no such option here", word);
	else
		log_error("%s%s: %s", optopt < LONG_ONLY ? "" : "--",
			  optopt < LONG_ONLY ? letter : o->name,
			  c == ':' ? "needs a value" : "takes no value");
}

/* kubectl takes "-o=yaml" for "-o yaml". */
static const char *value_of(int c, const char *word)
{
	bool attached = c < LONG_ONLY && optarg && optarg != word;

	return attached && *optarg == '=' ? optarg + 1 : optarg;
}

/* One option of the command line after the other; negative: something was printed. */
static int walk(const struct parser *p, int argc, char **argv)
{
	static const char *const wants[] = {
		[OPT_BOOL] = "true or false",
		[OPT_COUNT] = "a whole number, 0 or more",
		[OPT_TIME] = "a duration such as 30s, 1m or 2h",
	};
	int c;

	opterr = 0;
	optind = 0; /* glibc: begin anew */
	while ((c = getopt_long(argc, argv, p->letters, p->longs, NULL)) != -1) {
		const struct opt *o = found(p, c);
		const char *value;

		if (c == ':' || c == '?' || !o) {
			complain(p, c, argv[optind - 1]);
			return -EINVAL;
		}
		value = value_of(c, argv[optind - 1]);
		if (store(o, value) < 0) {
			log_error("--%s %s: must be %s", o->name, value, wants[o->type]);
			return -EINVAL;
		}
	}
	return optind;
}

/* What every command shares; an empty word is most likely a variable that was not set. */
static int check_globals(const struct cli *cli)
{
	struct err err = {0};

	if (cli->root && !*cli->root) {
		log_error("--root '': must be a folder");
		return -EINVAL;
	}
	if (cli->ns && name_dns1123_label(cli->ns, &err) < 0) {
		log_error("-n: %s", err.msg);
		return -EINVAL;
	}
	return 0;
}

int opts_parse(struct cli *cli, const char *usage, const struct opt *own, size_t n_own,
	       bool first_word_ends, int argc, char **argv, int *ret_exit)
{
	const char *output = NULL;
	bool help = false;
	const struct opt globals[GLOBALS] = {
		{"root", 0, OPT_TEXT, &cli->root},  {"namespace", 'n', OPT_TEXT, &cli->ns},
		{"output", 'o', OPT_TEXT, &output}, {"verbose", 'v', OPT_FLAG, &cli->verbose},
		{"help", 'h', OPT_FLAG, &help},
	};
	struct parser p = {.letters = ""};
	int r;

	(void)strcpy(p.letters, first_word_ends ? "+:" : ":");
	for (size_t i = 0; i < n_own && i < OPTS_MAX; i++)
		add(&p, &own[i]);
	for (size_t i = 0; i < GLOBALS; i++)
		add(&p, &globals[i]);
	r = walk(&p, argc, argv);
	cli_remember(cli);
	if (r >= 0 && check_globals(cli) < 0)
		r = -EINVAL;
	if (r >= 0 && output && parse_output(output, &cli->output) < 0)
		r = -EINVAL;
	if (r >= 0 && !help && check_output(cli) < 0)
		r = -EINVAL;
	if (cli->verbose)
		log_open("virtpod", LOG_LEVEL_DEBUG);
	*ret_exit = EXIT_USAGE;
	if (r >= 0 && help) {
		(void)fputs(usage, stdout);
		*ret_exit = EXIT_DONE;
		return -ECANCELED;
	}
	return r;
}
