// SPDX-License-Identifier: Apache-2.0
#include "handler/call.h"

#include "handler/k8s_status.h"

#include "lib/json.h"
#include "lib/yaml.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static bool type_is(const char *content_type, const char *word)
{
	size_t len = content_type ? strcspn(content_type, "; \t") : 0;

	return len == strlen(word) && !strncasecmp(content_type, word, len);
}

/* One document of YAML, or of JSON, which is YAML, too. */
static int parse_yaml(const struct call *c, json_t **ret, struct err *err)
{
	struct yaml_doc **docs = NULL;
	size_t n = 0;
	int r = yaml_parse("body", c->body, c->body_len, &docs, &n, err);

	if (r == 0 && n != 1)
		r = err_set(err, -EINVAL, "the body holds %zu objects; it must hold one", n);
	if (r == 0)
		*ret = json_incref(yaml_doc_root(docs[0]));
	yaml_docs_free(docs, n);
	return r;
}

unsigned call_body(const struct call *c, json_t **ret, json_t **ret_status)
{
	_cleanup_json_ json_t *object = NULL;
	struct err err = {0};
	int r;

	if (c->body_len == 0)
		return k8s_bad_request(ret_status, "the body is empty; it must hold an object");
	if (type_is(c->content_type, "application/json"))
		r = json_parse(c->body, c->body_len, CALL_BODY_MAX, &object, &err);
	else if (!c->content_type || type_is(c->content_type, "application/yaml") ||
		 type_is(c->content_type, "application/x-yaml") ||
		 type_is(c->content_type, "text/yaml"))
		r = parse_yaml(c, &object, &err);
	else
		return k8s_failure(ret_status, 415, "UnsupportedMediaType",
				   "the body of the request was in an unknown format - accepted "
				   "media types include: application/json, application/yaml");
	if (r < 0)
		return k8s_bad_request(ret_status, "%s", err.msg);
	if (!json_is_object(object))
		return k8s_bad_request(ret_status, "the body must be an object ({...})");
	*ret = TAKE_PTR(object);
	return 0;
}

unsigned call_dry_run(const struct call *c, const json_t *options, bool *ret, json_t **ret_status)
{
	const json_t *list = json_object_get(options, "dryRun");
	const char *said = c->dry_run;

	if (json_array_size(list) > 0)
		said = json_string_value(json_array_get(list, 0));
	else if (!said || !*said)
		said = NULL;
	if ((said && strcmp(said, "All") != 0) || (json_array_size(list) > 0 && !said))
		return k8s_bad_request(ret_status,
				       "dryRun: '%.100s' is not known; it is All or absent",
				       said ? said : "");
	*ret = said;
	return 0;
}

int call_number(const char *text, uint64_t *ret)
{
	char *end;
	uint64_t v;

	if (!*text || text[strspn(text, "0123456789")])
		return -EINVAL;
	errno = 0;
	v = strtoull(text, &end, 10);
	if (errno || *end)
		return -EINVAL;
	*ret = v;
	return 0;
}
