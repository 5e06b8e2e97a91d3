// SPDX-License-Identifier: Apache-2.0
#include "cmd/print.h"

#include "api/meta.h"
#include "lib/util.h"
#include "lib/yaml.h"

#include <stdio.h>

/* What a terminal would obey stands in strings only, where JSON has another way to write it. */
static void print_json(const json_t *value)
{
	/* 15 digits mean something in every double; 17 would show 0.595 as 0.594999… */
	_cleanup_free_ char *text =
		json_dumps(value, JSON_INDENT(4) | JSON_ENCODE_ANY | JSON_REAL_PRECISION(15));

	for (const unsigned char *s = (unsigned char *)text; s && *s; s++)
		if (*s == 0x7f)
			(void)fputs("\\u007F", stdout);
		else if (*s == 0xc2 && s[1] < 0xa0)
			(void)printf("\\u%04X", *++s);
		else
			(void)putchar(*s);
	(void)putchar('\n');
}

void print_value(enum output output, const json_t *value)
{
	if (output == OUTPUT_YAML) {
		_cleanup_free_ char *text = yaml_dump(value);

		(void)fputs(text, stdout);
	} else {
		print_json(value);
	}
	(void)fflush(stdout);
}

void print_name(const struct kind *k, const json_t *object)
{
	printf("%s%s%s/%s\n", k->singular, k->group[0] ? "." : "", k->group,
	       object_name(object)[0] ? object_name(object) : "default");
	(void)fflush(stdout);
}
