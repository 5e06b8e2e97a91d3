// SPDX-License-Identifier: Apache-2.0
/* A value as block-style YAML, through libyaml's emitter; layout as kubectl prints it. */
#include <ctype.h>
#include <string.h>
#include <yaml.h>

#include "lib/json.h"
#include "lib/yaml.h"
#include "lib/yaml_scalar.h"

static void emit(yaml_emitter_t *e, const json_t *value);

/* An event that can't be made or emitted leaves the emitter in an error state: checked at the end. */
static void send(yaml_emitter_t *e, yaml_event_t *ev, int made)
{
	if (made)
		(void)yaml_emitter_emit(e, ev);
}

/* Times and base-60 numbers stay text for us, but other readers of YAML 1.1 type them. */
static bool typed_elsewhere(const char *s)
{
	return (isdigit((unsigned char)*s) || *s == '-' || *s == '+') &&
	       (strchr(s, ':') || (strspn(s, "0123456789") == 4 && s[4] == '-'));
}

static yaml_scalar_style_t style_of(const char *s)
{
	struct yaml_scalar as;

	(void)yaml_scalar_type(s, NULL, /* plain= */ true, &as); /* fails for tags only */
	if (as.type != YAML_TYPE_STR || strcmp(s, "<<") == 0 || typed_elsewhere(s))
		return YAML_DOUBLE_QUOTED_SCALAR_STYLE;
	/* the emitter turns to quotes where a style can't carry the text */
	return strchr(s, '\n') ? YAML_LITERAL_SCALAR_STYLE : YAML_PLAIN_SCALAR_STYLE;
}

static void emit_text(yaml_emitter_t *e, const char *s, size_t len, yaml_scalar_style_t style)
{
	yaml_event_t ev;

	send(e, &ev,
	     yaml_scalar_event_initialize(&ev, NULL, NULL, (const yaml_char_t *)s, (int)len,
					  /* plain_implicit= */ 1, /* quoted_implicit= */ 1,
					  style));
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void emit_object(yaml_emitter_t *e, const json_t *object)
{
	size_t n = json_object_size(object), i = 0;
	_cleanup_free_ const char **keys = xcalloc(n + 1, sizeof(char *));
	yaml_event_t ev;
	const char *key;
	json_t *value;

	json_object_foreach ((json_t *)(uintptr_t)object, key, value)
		keys[i++] = key;
	qsort(keys, n, sizeof *keys, by_name);
	send(e, &ev,
	     yaml_mapping_start_event_initialize(&ev, NULL, NULL, 1, YAML_BLOCK_MAPPING_STYLE));
	for (i = 0; i < n; i++) {
		emit_text(e, keys[i], strlen(keys[i]),
			  strchr(keys[i], '\n') ? YAML_DOUBLE_QUOTED_SCALAR_STYLE
						: style_of(keys[i]));
		emit(e, json_object_get(object, keys[i]));
	}
	send(e, &ev, yaml_mapping_end_event_initialize(&ev));
}

static void emit_array(yaml_emitter_t *e, const json_t *array)
{
	yaml_event_t ev;
	json_t *value;
	size_t i;

	send(e, &ev,
	     yaml_sequence_start_event_initialize(&ev, NULL, NULL, 1, YAML_BLOCK_SEQUENCE_STYLE));
	json_array_foreach (array, i, value)
		emit(e, value);
	send(e, &ev, yaml_sequence_end_event_initialize(&ev));
}

static void emit_plain(yaml_emitter_t *e, const char *s)
{
	emit_text(e, s, strlen(s), YAML_PLAIN_SCALAR_STYLE);
}

static void emit(yaml_emitter_t *e, const json_t *value)
{
	char number[JSON_REAL_MAX];

	switch (json_typeof(value)) {
	case JSON_OBJECT:
		emit_object(e, value);
		return;
	case JSON_ARRAY:
		emit_array(e, value);
		return;
	case JSON_STRING:
		emit_text(e, json_string_value(value), json_string_length(value),
			  style_of(json_string_value(value)));
		return;
	case JSON_INTEGER:
		(void)snprintf(number, sizeof number, "%" JSON_INTEGER_FORMAT,
			       json_integer_value(value));
		emit_plain(e, number);
		return;
	case JSON_REAL:
		emit_plain(e, json_real_text(json_real_value(value), number));
		return;
	case JSON_TRUE:
		emit_plain(e, "true");
		return;
	case JSON_FALSE:
		emit_plain(e, "false");
		return;
	case JSON_NULL:
		emit_plain(e, "null");
		return;
	}
}

char *yaml_dump(const json_t *value)
{
	yaml_emitter_t e;
	yaml_event_t ev;
	char *text = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);
	int ok;

	if (!out || !yaml_emitter_initialize(&e))
		abort(); /* out of memory, as in lib/util.c */
	yaml_emitter_set_output_file(&e, out);
	yaml_emitter_set_unicode(&e, 1);
	yaml_emitter_set_width(&e, -1); /* never fold */
	send(&e, &ev, yaml_stream_start_event_initialize(&ev, YAML_UTF8_ENCODING));
	send(&e, &ev, yaml_document_start_event_initialize(&ev, NULL, NULL, NULL, 1));
	emit(&e, value);
	send(&e, &ev, yaml_document_end_event_initialize(&ev, 1));
	send(&e, &ev, yaml_stream_end_event_initialize(&ev));
	ok = e.error == YAML_NO_ERROR;
	yaml_emitter_delete(&e);
	if (fclose(out) != 0 || !ok)
		abort(); /* every value can be emitted; only memory can be short */
	return text;
}
