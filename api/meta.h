// SPDX-License-Identifier: Apache-2.0
/* Metadata of any object, and the two impure things it needs: new ids and the time. */
#pragma once

#include <jansson.h>
#include <time.h>

#define UUID_TEXT 37 /* with its NUL */
#define TIME_TEXT 21 /* "2026-11-30T15:04:05Z" with its NUL */

/* Borrowed; "" when absent. A namespace not given is "default". */
const char *object_name(const json_t *obj);
const char *object_namespace(const json_t *obj);
const char *object_uid(const json_t *obj);
/* NULL when absent. */
const char *object_annotation(const json_t *obj, const char *key);

/*
 * By these the handler knows what its static manifests made, the file and the hash of what it says. They
 * are nobody else's to set: whatever is admitted has lost them.
 */
#define ANNOTATION_MANIFEST	 "virtpod.io/manifest"
#define ANNOTATION_MANIFEST_HASH "virtpod.io/manifest-hash"
void object_unmark(json_t *obj);

char *uid_new(char buf[static UUID_TEXT]); /* random UUID */

/* UTC, RFC 3339, whole seconds, as Kubernetes writes times. */
char *time_format(time_t t, char buf[static TIME_TEXT]);
char *time_now(char buf[static TIME_TEXT]);

/* Since the boot: what waits or ages goes by this, as the clock may be set at any time. */
time_t uptime_seconds(void);
