// SPDX-License-Identifier: Apache-2.0
#include "api/meta.h"

#include <string.h>
#include <systemd/sd-id128.h>

#include "lib/json.h"
#include "lib/util.h"

static const char *metadata_text(const json_t *obj, const char *key)
{
	return json_string_value(json_object_get(json_object_get(obj, "metadata"), key));
}

const char *object_name(const json_t *obj)
{
	const char *name = metadata_text(obj, "name");

	return name ? name : "";
}

const char *object_namespace(const json_t *obj)
{
	const char *ns = metadata_text(obj, "namespace");

	return ns && *ns ? ns : "default";
}

const char *object_uid(const json_t *obj)
{
	const char *uid = metadata_text(obj, "uid");

	return uid ? uid : "";
}

const char *object_annotation(const json_t *obj, const char *key)
{
	const json_t *annotations =
		json_object_get(json_object_get(obj, "metadata"), "annotations");

	return json_string_value(json_object_get(annotations, key));
}

static void unmark(json_t *meta)
{
	json_t *annotations = json_object_get(meta, "annotations");
	bool had = json_object_del(annotations, ANNOTATION_MANIFEST) == 0;

	had |= json_object_del(annotations, ANNOTATION_MANIFEST_HASH) == 0;
	if (had && !json_object_size(annotations)) /* as if nobody had said anything */
		(void)json_object_del(meta, "annotations");
}

void object_unmark(json_t *obj)
{
	unmark(json_object_get(obj, "metadata"));
	unmark(json_get(obj, "spec.template.metadata"));
}

char *uid_new(char buf[static UUID_TEXT])
{
	sd_id128_t id;

	/* fails only where the kernel has no random numbers: nothing can go on without an id */
	if (sd_id128_randomize(&id) < 0)
		abort();
	return sd_id128_to_uuid_string(id, buf);
}

char *time_format(time_t t, char buf[static TIME_TEXT])
{
	struct tm tm;

	if (!gmtime_r(&t, &tm) || strftime(buf, TIME_TEXT, "%Y-%m-%dT%H:%M:%SZ", &tm) == 0)
		memcpy(buf, "1970-01-01T00:00:00Z", TIME_TEXT); /* a year beyond four digits */
	return buf;
}

char *time_now(char buf[static TIME_TEXT])
{
	return time_format(time(NULL), buf);
}

time_t uptime_seconds(void)
{
	struct timespec ts = {0};

	(void)clock_gettime(CLOCK_BOOTTIME, &ts); /* this clock is always there */
	return ts.tv_sec;
}
