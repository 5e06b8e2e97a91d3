// SPDX-License-Identifier: Apache-2.0
#include "cmd/print.h"

#include "api/meta.h"
#include "lib/util.h"
#include "lib/yaml.h"

#include <stdio.h>

void print_value(enum output output, const json_t *value)
{
	if (output == OUTPUT_YAML) {
		_cleanup_free_ char *text = yaml_dump(value);

		(void)fputs(text, stdout);
	} else {
		/* 15 digits mean something in every double; jansson's own 17 show 0.595 as 0.594999… */
		(void)json_dumpf(value, stdout,
				 JSON_INDENT(4) | JSON_ENCODE_ANY | JSON_REAL_PRECISION(15));
		(void)fputc('\n', stdout);
	}
	(void)fflush(stdout);
}

void print_name(const struct kind *k, const json_t *object)
{
	printf("%s%s%s/%s\n", k->singular, k->group[0] ? "." : "", k->group,
	       object_name(object)[0] ? object_name(object) : "default");
	(void)fflush(stdout);
}
