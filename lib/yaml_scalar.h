// SPDX-License-Identifier: Apache-2.0
/*
 * What a YAML scalar means: YAML 1.1 typing as Kubernetes' conversion does it (go-yaml 2 through
 * sigs.k8s.io/yaml), held to tests/oracle/kubernetes/yaml.jsonl. Inside lib only.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum yaml_type {
	YAML_TYPE_NULL,
	YAML_TYPE_BOOL,
	YAML_TYPE_INT,
	YAML_TYPE_UINT, /* whole, beyond INT64_MAX, within UINT64_MAX */
	YAML_TYPE_REAL, /* may be infinite or NaN */
	YAML_TYPE_STR,
};

struct yaml_scalar {
	enum yaml_type type;
	bool flag;
	int64_t i;
	uint64_t u;
	double real;
	char *bytes; /* of a !!binary, decoded; the caller's to free; NULL otherwise */
	size_t n_bytes;
};

/*
 * Type `text` (no NUL inside). tag: the explicit one, or NULL; plain: unquoted and untagged.
 * -EINVAL when the text can't be what its tag says.
 */
int yaml_scalar_type(const char *text, const char *tag, bool plain, struct yaml_scalar *ret);

/*
 * A real as the name of a key: as the conversion writes it, shortest in single precision ("1e+06",
 * ".inf").
 */
#define YAML_REAL_KEY_MAX 40
char *yaml_real_key(double value, char buf[static YAML_REAL_KEY_MAX]);
