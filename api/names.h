// SPDX-License-Identifier: Apache-2.0
/*
 * Names as Kubernetes validates them, held to tests/oracle/kubernetes/names.jsonl. 0, or -EINVAL
 * with what is wrong, at which character (1-based), and what is allowed. Lengths are in bytes, as
 * there.
 */
#pragma once

#include "lib/err.h"

int name_dns1123_label(const char *name, struct err *err);     /* namespaces, networks, volumes */
int name_dns1123_subdomain(const char *name, struct err *err); /* most objects */
int name_dns1035_label(const char *name, struct err *err);     /* services */
int name_qualified(const char *name, struct err *err);	       /* keys of labels, annotations */
int name_label_value(const char *name, struct err *err);       /* may be empty */
