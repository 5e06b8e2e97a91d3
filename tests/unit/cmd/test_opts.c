// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/unit.h"

#include "cmd/opts.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "lib/util.h"

struct parsed {
	struct cli cli;
	bool flag, wait;
	const char *text;
	struct texts files;
	long count, seconds;
	int at, code;
};

static struct parsed parse_words(bool first_word_ends, char **argv)
{
	static struct parsed p;
	const struct opt own[] = {
		{"flag", 'x', OPT_FLAG, &p.flag},  {"wait", 0, OPT_BOOL, &p.wait},
		{"text", 0, OPT_TEXT, &p.text},	   {"filename", 'f', OPT_TEXTS, &p.files},
		{"count", 0, OPT_COUNT, &p.count}, {"timeout", 0, OPT_TIME, &p.seconds},
	};
	int argc = 0;

	while (argv[argc])
		argc++;
	p = (struct parsed){.wait = true, .code = -1};
	p.at = opts_parse(&p.cli, "usage\n", own, ARRAY_SIZE(own), first_word_ends, argc, argv,
			  &p.code);
	return p;
}
#define PARSE(...) parse_words(false, (char *[]){(char[]){"cmd"}, __VA_ARGS__, NULL})
#define W(text)	   ((char[]){text})

static void test_all_kinds(void **state)
{
	struct parsed p =
		PARSE(W("-x"), W("word"), W("-f"), W("a"), W("--filename=b"), W("--wait=false"),
		      W("--count"), W("7"), W("--timeout=5m"), W("--text"), W("t"), W("-n"),
		      W("ns"), W("--root=/r"), W("-o"), W("yaml"), W("last"));

	(void)state;
	assert_int_equal(p.at, 16); /* both words are behind the options */
	assert_true(p.flag);
	assert_false(p.wait);
	assert_string_equal(p.text, "t");
	assert_int_equal(p.files.n, 2);
	assert_string_equal(p.files.v[0], "a");
	assert_string_equal(p.files.v[1], "b");
	assert_int_equal(p.count, 7);
	assert_int_equal(p.seconds, 300);
	assert_string_equal(p.cli.ns, "ns");
	assert_string_equal(p.cli.root, "/r");
	assert_int_equal(p.cli.output, OUTPUT_YAML);
	texts_done(&p.files);
}

static void test_before_the_command(void **state)
{
	char *argv[] = {W("virtpod"), W("-n"), W("ns"), W("run"), W("--flag-of-run"), NULL};
	struct parsed p = parse_words(true, argv);

	(void)state;
	assert_int_equal(p.at, 3);
	assert_string_equal(p.cli.ns, "ns");
}

static void assert_usage(struct parsed p)
{
	assert_true(p.at < 0);
	assert_int_equal(p.code, EXIT_USAGE);
}

static void test_refused(void **state)
{
	(void)state;
	assert_usage(PARSE(W("--nonsense")));
	assert_usage(PARSE(W("-z")));
	assert_usage(PARSE(W("-f")));
	assert_usage(PARSE(W("--count=-1")));
	assert_usage(PARSE(W("--count=1x")));
	assert_usage(PARSE(W("--wait=maybe")));
	assert_usage(PARSE(W("--timeout=5d")));
	assert_usage(PARSE(W("-o"), W("xml")));
	assert_usage(PARSE(W("-n"), W("Foo_")));
	assert_usage(PARSE(W("-n"), W("")));
	assert_usage(PARSE(W("--root="), W("a")));
	assert_usage(PARSE(W("--flag=1")));
}

/* kubectl takes a "=" behind a letter, but not as a word of its own. */
static void test_letter_equals(void **state)
{
	struct parsed p = PARSE(W("-o=yaml"), W("-n=ns"), W("-xf=a"), W("-f"), W("=b"));

	(void)state;
	assert_int_equal(p.cli.output, OUTPUT_YAML);
	assert_string_equal(p.cli.ns, "ns");
	assert_true(p.flag);
	assert_int_equal(p.files.n, 2);
	assert_string_equal(p.files.v[0], "a");
	assert_string_equal(p.files.v[1], "=b");
	texts_done(&p.files);
}

static void complains(char **argv, const char *wanted)
{
	int fds[2], err = dup(2);
	char text[256] = "";

	assert_int_equal(pipe(fds), 0);
	assert_int_equal(dup2(fds[1], 2), 2);
	assert_usage(parse_words(false, argv));
	assert_int_equal(dup2(err, 2), 2);
	assert_true(read(fds[0], text, sizeof text - 1) > 0);
	assert_non_null(strstr(text, wanted));
	(void)close(err);
	(void)close(fds[0]);
	(void)close(fds[1]);
}
#define COMPLAINS(wanted, ...) complains((char *[]){(char[]){"cmd"}, __VA_ARGS__, NULL}, wanted)

/* The option that is wrong is named, wherever it stands. */
static void test_which_is_wrong(void **state)
{
	(void)state;
	COMPLAINS(" -i: no such option", W("word"), W("-ix"));
	COMPLAINS(" -i: no such option", W("-xi"), W("word"));
	COMPLAINS(" -f: needs a value", W("word"), W("-xf"));
	COMPLAINS(" --nix: no such option", W("-x"), W("--nix"));
	COMPLAINS(" --count: needs a value", W("-x"), W("--count"));
	COMPLAINS(" --flag: takes no value", W("--flag=2"));
	COMPLAINS(" --count abc: must be a whole number", W("--count"), W("abc"));
	COMPLAINS(" --timeout 5x: must be a duration", W("--timeout=5x"));
	COMPLAINS(" --wait maybe: must be true or false", W("--wait=maybe"));
}

static void me_is(const char *root, const char *given, const char *ns, const char *wanted)
{
	const struct cli cli = {.root = root, .ns = given};
	_cleanup_free_ char *me = NULL;

	cli_remember(&cli);
	me = cli_me(ns);
	assert_string_equal(me, wanted);
}

static void test_me(void **state)
{
	(void)state;
	me_is(NULL, NULL, NULL, "virtpod");
	me_is("/a b", NULL, NULL, "virtpod --root '/a b'");
	me_is("/r", "x", NULL, "virtpod --root /r -n x");
	me_is("/r", "x", "y", "virtpod --root /r -n y");
}

/* A form that a command does not have is refused, wherever the -o stood. */
static void test_outputs(void **state)
{
	static const struct command some = {
		.name = "some", .outputs = OUTPUT_BIT(OUTPUT_JSON) | OUTPUT_BIT(OUTPUT_YAML)};
	static const struct command none = {.name = "none"};
	char *json[] = {W("cmd"), W("-o"), W("json"), NULL};
	char *wide[] = {W("cmd"), W("-o"), W("wide"), NULL};
	struct cli cli = {.command = &some};
	int code = -1;

	(void)state;
	assert_int_equal(opts_parse(&cli, "", NULL, 0, false, 3, json, &code), 3);
	assert_true(opts_parse(&cli, "", NULL, 0, false, 3, wide, &code) < 0);
	assert_int_equal(code, EXIT_USAGE);
	cli = (struct cli){.command = &none, .output = OUTPUT_NAME};
	assert_true(opts_parse(&cli, "", NULL, 0, false, 1, json, &code) < 0);
	cli = (struct cli){.command = &none};
	assert_int_equal(opts_parse(&cli, "", NULL, 0, false, 1, json, &code), 1);
}

static void test_help(void **state)
{
	struct parsed p = PARSE(W("-h"));

	(void)state;
	assert_true(p.at < 0);
	assert_int_equal(p.code, EXIT_DONE);
}

static void test_seconds(void **state)
{
	static const char *const bad[] = {
		"", "s", "1d", "1 s", "ten", "99999999999999999999", "9223372036854775807h"};
	long s = 42;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		assert_int_equal(opts_seconds(bad[i], &s), -EINVAL);
		assert_int_equal(s, 42);
	}
	assert_int_equal(opts_seconds("90", &s), 0);
	assert_int_equal(s, 90);
	assert_int_equal(opts_seconds("90s", &s), 0);
	assert_int_equal(s, 90);
	assert_int_equal(opts_seconds("2h", &s), 0);
	assert_int_equal(s, 7200);
	assert_int_equal(opts_seconds("-1s", &s), 0);
	assert_int_equal(s, -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all_kinds),
		cmocka_unit_test(test_before_the_command),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_outputs),
		cmocka_unit_test(test_help),
		cmocka_unit_test(test_seconds),
		cmocka_unit_test(test_letter_equals),
		cmocka_unit_test(test_which_is_wrong),
		cmocka_unit_test(test_me),
	};

	return cmocka_run_group_tests_name("opts", tests, NULL, NULL);
}
