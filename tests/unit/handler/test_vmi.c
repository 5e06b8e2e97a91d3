// SPDX-License-Identifier: Apache-2.0
/* Object and status joined; and what is left of a status after a reboot. */
#include "tests/unit/unit.h"

#include "handler/loop.h"
#include "handler/server.h"
#include "handler/status.h"
#include "handler/vmi.h"

#include "lib/file.h"
#include "lib/json.h"
#include "lib/util.h"

#include <fcntl.h>
#include <sqlite3.h>
#include <stdlib.h>

struct fixture {
	char root[64];
	struct handler h;
	json_t *vmi;
	struct err err;
};

static int setup(void **state)
{
	struct fixture *f = xcalloc(1, sizeof *f);

	(void)snprintf(f->root, sizeof f->root, "/tmp/virtpod-vmi-XXXXXX");
	assert_non_null(mkdtemp(f->root));
	assert_int_equal(sd_event_new(&f->h.event), 0);
	assert_int_equal(loop_init(&f->h, &f->err), 0); /* armed by what is announced, never run */
	assert_int_equal(paths_open(f->root, true, &f->h.paths, &f->err), 0);
	assert_int_equal(store_open(&f->h.paths, &f->h.store, &f->err), 0);
	assert_int_equal(server_open(&f->h, &f->err), 0);
	f->vmi = json_pack("{s:{s:s, s:s, s:s}}", "metadata", "namespace", "a", "name", "one",
			   "uid", "u1");
	assert_int_equal(store_put(f->h.store, VMI_KIND, "a", "one", f->vmi, &f->err), 0);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	server_close(&f->h);
	store_close(f->h.store);
	sd_event_source_unref(f->h.reconcile);
	sd_event_source_disable_unref(f->h.retry);
	sd_event_unref(f->h.event);
	paths_close(&f->h.paths);
	(void)rm_rf_at(AT_FDCWD, f->root);
	json_decref(f->vmi);
	free(f);
	return 0;
}

/* As after a reboot: the object as stored, and no status record. */
static char *phase_after_reboot(struct fixture *f)
{
	_cleanup_json_ json_t *stored = NULL, *status = NULL;

	assert_int_equal(store_status_put(f->h.store, "u1", NULL, &f->err), 0);
	assert_int_equal(store_get(f->h.store, VMI_KIND, "a", "one", &stored, &f->err), 0);
	status = vmi_status(&f->h, stored);
	return xstrdup(json_str(status, "phase"));
}

static void publish(struct fixture *f, const char *phase)
{
	_cleanup_json_ json_t *status = vmi_status(&f->h, f->vmi);

	status_set_phase(status, phase);
	vmi_publish(&f->h, f->vmi, status);
}

static void test_join(void **state)
{
	struct fixture *f = *state;
	_cleanup_json_ json_t *before = vmi_join(&f->h, f->vmi), *after = NULL;

	publish(f, "Running");
	after = vmi_join(&f->h, f->vmi);
	assert_string_equal(json_str(after, "status.phase"), "Running");
	assert_true(strtoull(json_str(after, "metadata.resourceVersion"), NULL, 10) >
		    strtoull(json_str(before, "metadata.resourceVersion"), NULL, 10));
}

static uint64_t version_now(struct fixture *f, const char *phase)
{
	_cleanup_json_ json_t *now = vmi_join(&f->h, f->vmi);

	assert_string_equal(json_str(now, "status.phase"), phase);
	return strtoull(json_str(now, "metadata.resourceVersion"), NULL, 10);
}

/* No version is to be had: what is asked for is true, and watchers hear of it when there is one. */
static void test_withheld(void **state)
{
	struct fixture *f = *state;
	_cleanup_free_ char *path = xasprintf("%s/store.db", f->h.paths.lib);
	uint64_t before;
	sqlite3 *db = NULL;

	publish(f, "Scheduling");
	before = version_now(f, "Scheduling");
	assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
	assert_int_equal(sqlite3_exec(db, "BEGIN IMMEDIATE", NULL, NULL, NULL), SQLITE_OK);
	while (store_next_version(f->h.store, NULL))
		;
	publish(f, "Running");
	assert_int_equal(version_now(f, "Running"), before);
	assert_true(f->h.withheld);
	vmi_publish_withheld(&f->h);
	assert_int_equal(version_now(f, "Running"), before);
	assert_int_equal(sqlite3_close(db), SQLITE_OK);
	vmi_publish_withheld(&f->h);
	assert_true(version_now(f, "Running") > before);
	before = store_version(f->h.store);
	vmi_publish_withheld(&f->h);
	assert_int_equal(store_version(f->h.store), before);
}

static void test_no_change_no_version(void **state)
{
	struct fixture *f = *state;
	uint64_t version;

	publish(f, "Running");
	version = store_version(f->h.store);
	publish(f, "Running");
	assert_int_equal(store_version(f->h.store), version);
}

static void test_running_is_void_after_reboot(void **state)
{
	struct fixture *f = *state;
	_cleanup_free_ char *phase = NULL;

	publish(f, "Running");
	phase = phase_after_reboot(f);
	assert_string_equal(phase, "Pending");
}

static void test_end_is_kept(void **state)
{
	struct fixture *f = *state;
	_cleanup_free_ char *phase = NULL;

	publish(f, "Running");
	publish(f, "Succeeded");
	phase = phase_after_reboot(f);
	assert_string_equal(phase, "Succeeded");
}

/* Another object of that name meanwhile: it did not end. */
static void test_end_of_another(void **state)
{
	struct fixture *f = *state;
	_cleanup_json_ json_t *other = json_deep_copy(f->vmi), *stored = NULL;

	(void)json_object_set_new(json_object_get(other, "metadata"), "uid", json_string("u2"));
	assert_int_equal(store_put(f->h.store, VMI_KIND, "a", "one", other, &f->err), 0);
	publish(f, "Failed");
	assert_int_equal(store_get(f->h.store, VMI_KIND, "a", "one", &stored, &f->err), 0);
	assert_null(json_object_get(stored, "status"));
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_join),
		TEST(test_withheld),
		TEST(test_no_change_no_version),
		TEST(test_running_is_void_after_reboot),
		TEST(test_end_is_kept),
		TEST(test_end_of_another),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
