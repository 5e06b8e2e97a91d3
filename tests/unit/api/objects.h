// SPDX-License-Identifier: Apache-2.0
/* Manifests as text for tests of api/. After "tests/unit/unit.h". */
#pragma once

#include <string.h>

#include "api/admit.h"
#include "api/cause.h"
#include "lib/json.h"
#include "lib/yaml.h"

/* One document; fails the test when it is no YAML. */
static inline struct yaml_doc *doc_of(const char *text)
{
	struct yaml_doc **docs = NULL, *ret;
	struct err err = {0};
	size_t n = 0;

	if (yaml_parse("vm.yaml", text, strlen(text), &docs, &n, &err) < 0)
		fail_msg("%s", err.msg);
	assert_int_equal(n, 1);
	ret = docs[0];
	free(docs);
	return ret;
}

static inline json_t *json_of(const char *text)
{
	_cleanup_yaml_doc_ struct yaml_doc *doc = doc_of(text);

	return json_incref(yaml_doc_root(doc));
}

/* An admitted object; fails the test with what was wrong. */
static inline json_t *admitted(const char *text)
{
	_cleanup_causes_ struct causes causes = {0};
	const struct kind *kind;
	json_t *ret = json_of(text);
	struct err err = {0};

	if (admit(ret, NULL, &kind, &causes) < 0) {
		(void)causes_to_err(&causes, &err);
		fail_msg("%s", err.msg);
	}
	return ret;
}

#define VMI_HEAD                                                                                   \
	"apiVersion: kubevirt.io/v1\n"                                                             \
	"kind: VirtualMachineInstance\n"                                                           \
	"metadata: {name: a}\n"                                                                    \
	"spec:\n"
