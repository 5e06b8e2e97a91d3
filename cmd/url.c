// SPDX-License-Identifier: Apache-2.0
#include "cmd/url.h"

#include "lib/util.h"

#include <stdio.h>
#include <string.h>

char *url_escape(const char *text)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				    "0123456789-._~";
	char *out = xcalloc(strlen(text) + 1, 3), *at = out;

	for (; *text; text++)
		if (strchr(plain, *text))
			*at++ = *text;
		else
			at += sprintf(at, "%%%02X", (unsigned char)*text);
	return out;
}

char *url_object(const struct kind *k, const char *ns, const char *name, const char *query)
{
	_cleanup_free_ char *ns_part = NULL;
	_cleanup_free_ char *name_part = NULL;
	_cleanup_free_ char *e_ns = url_escape(ns ? ns : "");
	_cleanup_free_ char *e_name = url_escape(!name ? "" : k->singleton ? "default" : name);
	char api_version[64];

	kind_api_version(k, api_version, sizeof api_version);
	ns_part = k->namespaced && ns ? xasprintf("namespaces/%s/", e_ns) : xstrdup("");
	name_part = name ? xasprintf("/%s", e_name) : xstrdup("");
	return xasprintf("/%s/%s/%s%s%s%s%s", k->group[0] ? "apis" : "api", api_version, ns_part,
			 k->plural, name_part, query ? "?" : "", query ? query : "");
}

char *url_subresource(const char *group, const char *ns, const char *vmi, const char *what)
{
	_cleanup_free_ char *e_ns = url_escape(ns);
	_cleanup_free_ char *e_name = url_escape(vmi);

	return xasprintf("/apis/%s/v1/namespaces/%s/virtualmachineinstances/%s/%s", group, e_ns,
			 e_name, what);
}
