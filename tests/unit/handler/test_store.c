// SPDX-License-Identifier: Apache-2.0
/* The two files: round trips, versions that are never reused, what a reboot voids, damage. */
#include "tests/unit/unit.h"

#include "handler/pod.h"
#include "handler/store.h"

#include "lib/file.h"
#include "lib/json.h"
#include "lib/util.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define KIND "virtualmachineinstances.kubevirt.io"

struct fixture {
	char root[64];
	struct paths paths;
	struct store *store;
	struct err err;
};

static void open_store(struct fixture *f)
{
	assert_int_equal(store_open(&f->paths, &f->store, &f->err), 0);
}

static int setup(void **state)
{
	struct fixture *f = xcalloc(1, sizeof *f);

	(void)snprintf(f->root, sizeof f->root, "/tmp/virtpod-store-XXXXXX");
	assert_non_null(mkdtemp(f->root));
	assert_int_equal(paths_open(f->root, true, &f->paths, &f->err), 0);
	open_store(f);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	store_close(f->store);
	paths_close(&f->paths);
	(void)rm_rf_at(AT_FDCWD, f->root);
	free(f);
	return 0;
}

static uint64_t put(struct fixture *f, const char *ns, const char *name)
{
	_cleanup_json_ json_t *o = json_pack("{s:{s:s}}", "metadata", "name", name);

	assert_int_equal(store_put(f->store, KIND, ns, name, o, &f->err), 0);
	return strtoull(json_str(o, "metadata.resourceVersion"), NULL, 10);
}

static void test_objects(void **state)
{
	struct fixture *f = *state;
	_cleanup_json_ json_t *list = NULL, *all = NULL, *one = NULL;

	put(f, "b", "two");
	put(f, "a", "two");
	put(f, "a", "one");
	assert_int_equal(store_list(f->store, KIND, "a", &list, &f->err), 0);
	assert_int_equal(json_array_size(list), 2);
	assert_string_equal(json_str(list, "[0].metadata.name"), "one");
	assert_int_equal(store_list(f->store, KIND, NULL, &all, &f->err), 0);
	assert_int_equal(json_array_size(all), 3);
	assert_int_equal(store_get(f->store, KIND, "b", "two", &one, &f->err), 0);
	assert_int_equal(store_delete(f->store, KIND, "b", "two", &f->err), 0);
	assert_int_equal(store_delete(f->store, KIND, "b", "two", &f->err), -ENOENT);
	err_clear(&f->err);
	assert_int_equal(store_get(f->store, KIND, "b", "one", &one, &f->err), -ENOENT);
	assert_non_null(strstr(f->err.msg, "\"one\" not found"));
}

/* Versions go up over status changes, deletions and an end without close (kill -9). */
static void test_versions(void **state)
{
	struct fixture *f = *state;
	uint64_t last = put(f, "a", "one");

	for (int i = 0; i < 2500; i++) {
		uint64_t v = store_next_version(f->store, &f->err);

		assert_true(v > last);
		last = v;
		if (i % 997 == 0) { /* as after kill -9: the old handle writes nothing any more */
			struct store *lost = f->store;

			open_store(f);
			assert_true(store_version(f->store) >= last);
			store_close(lost);
		}
	}
	assert_true(put(f, "a", "two") > last);
}

/* No block can be reserved: nothing is given that might be given again, and it goes on where it can. */
static void test_no_versions(void **state)
{
	struct fixture *f = *state;
	_cleanup_free_ char *path = xasprintf("%s/store.db", f->paths.lib);
	_cleanup_json_ json_t *event = json_pack("{s:{}}", "metadata"), *got = NULL;
	const struct store_event row = {.ns = "a", .name = "e", .uid = "u1"};
	uint64_t v, last = put(f, "a", "one");
	struct store *lost = f->store;
	sqlite3 *db = NULL;

	assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
	assert_int_equal(sqlite3_exec(db, "BEGIN IMMEDIATE", NULL, NULL, NULL), SQLITE_OK);
	while ((v = store_next_version(f->store, &f->err)))
		last = v;
	assert_int_equal(f->err.code, -EBUSY);
	assert_int_equal(store_version(f->store), last);
	err_clear(&f->err);
	assert_int_equal(store_event_put(f->store, &row, event, &f->err), -EBUSY);
	err_clear(&f->err);
	assert_int_equal(store_event_get(f->store, "a", "e", NULL, &got, &f->err), -ENOENT);
	err_clear(&f->err);
	assert_int_equal(store_delete(f->store, KIND, "a", "one", &f->err), -EBUSY);
	err_clear(&f->err);
	assert_int_equal(store_version(f->store), last);
	assert_int_equal(sqlite3_close(db), SQLITE_OK);
	open_store(f); /* as after kill -9 */
	assert_true(store_next_version(f->store, &f->err) > last);
	store_close(lost);
	v = put(f, "a", "two");
	assert_int_equal(store_next_version(f->store, &f->err), v + 1);
}

static void test_pods_and_cpus(void **state)
{
	struct fixture *f = *state;
	struct store_pod pod = {.uid = (char[]){"u1"},
				.ns = (char[]){"a"},
				.name = (char[]){"one"},
				.step = pod_step_index("net"),
				.host_id = 1879048192u,
				.pid = 4242,
				.pid_start = 99};
	_cleanup_json_ json_t *plan = json_pack("{s:i}", "x", 1);
	struct store_pod *pods = NULL;
	struct cpu_assignment two = {0}, other = {0}, held;
	size_t n = 0;

	pod.plan = plan;
	assert_int_equal(store_pod_put(f->store, &pod, &f->err), 0);
	pod.step = pod_step_index("disks");
	assert_int_equal(store_pod_put(f->store, &pod, &f->err), 0);
	store_close(f->store);
	open_store(f);
	assert_int_equal(store_pods(f->store, &pods, &n, &f->err), 0);
	assert_int_equal(n, 1);
	assert_int_equal(pods[0].step, pod_step_index("disks"));
	assert_int_equal(pods[0].host_id, 1879048192u);
	assert_int_equal(pods[0].pid_start, 99);
	assert_true(json_equal(pods[0].plan, plan));
	store_pod_done(&pods[0]);
	free(pods);

	/* vCPU 0 on CPU 3, vCPU 1 on CPU 1, the emulator on 5: the order is kept */
	two.n_vcpus = 2;
	two.vcpu[0] = 3;
	two.vcpu[1] = 1;
	CPU_SET(5, &two.emulator);
	assert_int_equal(store_cpus_take(f->store, "u1", &two, &f->err), 0);
	other.n_vcpus = 2;
	other.vcpu[0] = 2;
	other.vcpu[1] = 3;
	assert_int_equal(store_cpus_take(f->store, "u2", &other, &f->err), -EEXIST);
	assert_int_equal(store_cpus_of(f->store, "u2", &held, &f->err), 0);
	assert_int_equal(CPU_COUNT(&held.all), 0); /* all or nothing */
	assert_int_equal(store_cpus_of(f->store, "u1", &held, &f->err), 0);
	assert_int_equal(held.n_vcpus, 2);
	assert_int_equal(held.vcpu[0], 3);
	assert_int_equal(held.vcpu[1], 1);
	assert_int_equal(CPU_COUNT(&held.all), 3);
	assert_true(CPU_EQUAL(&held.emulator, &two.emulator));
	assert_int_equal(store_cpus_free(f->store, "u1", &f->err), 0);
	err_clear(&f->err);
	assert_int_equal(store_cpus_take(f->store, "u2", &other, &f->err), 0);
}

/* A row whose pod went without it (its deletion failed) keeps its CPU from nobody for long. */
static void test_orphaned_cpus(void **state)
{
	struct fixture *f = *state;
	struct store_pod pod = {
		.uid = (char[]){"u1"}, .ns = (char[]){"a"}, .name = (char[]){"one"}};
	struct cpu_assignment one = {.n_vcpus = 1, .vcpu = {3}}, two = {.n_vcpus = 1, .vcpu = {2}};
	struct cpu_assignment held;

	assert_int_equal(store_pod_put(f->store, &pod, &f->err), 0);
	assert_int_equal(store_cpus_take(f->store, "u1", &one, &f->err), 0);
	assert_int_equal(store_cpus_take(f->store, "gone", &two, &f->err), 0);
	store_close(f->store);
	open_store(f);
	assert_int_equal(store_cpus_of(f->store, "u1", &held, &f->err), 0);
	assert_int_equal(held.n_vcpus, 1);
	assert_int_equal(store_cpus_of(f->store, "gone", &held, &f->err), 0);
	assert_int_equal(held.n_vcpus, 0);
}

static void run_sql(const char *dir, const char *name, const char *sql)
{
	_cleanup_free_ char *path = xasprintf("%s/%s", dir, name);
	sqlite3 *db = NULL;

	assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
	assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
	assert_int_equal(sqlite3_close(db), SQLITE_OK);
}

#define MANY(role)                                                                                 \
	"WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 600)"            \
	" INSERT INTO cpus SELECT i, 'u1', " role " FROM n"

/* Rows that lie: nothing is written beyond what a VM can have. */
static void test_impossible_cpus(void **state)
{
	static const char *const rows[] = {
		MANY("i"),
		MANY("-2 - i"),
		"INSERT INTO cpus VALUES (1024, 'u1', 0)",
		"INSERT INTO cpus VALUES (-1, 'u1', 0)",
		"INSERT INTO cpus VALUES (4294967299, 'u1', 0)",
		"INSERT INTO cpus VALUES (3, 'u1', 1)",
		"INSERT INTO cpus VALUES (3, 'u1', -3)",
		"INSERT INTO cpus VALUES (3, 'u1', 4294967296)",
	};
	struct fixture *f = *state;
	struct cpu_assignment held;

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		run_sql(f->paths.run, "runtime.db", rows[i]);
		err_clear(&f->err);
		if (store_cpus_of(f->store, "u1", &held, &f->err) != -EBADMSG)
			fail_msg("%s", rows[i]);
		assert_non_null(strstr(f->err.msg, "runtime.db: damaged"));
		assert_int_equal(store_cpus_free(f->store, "u1", &f->err), 0);
	}
}

/* Every thousandth deletion reserves versions, too: what is absent is absent then as ever. */
static void test_delete_absent(void **state)
{
	struct fixture *f = *state;

	for (int i = 0; i < 1001; i++) {
		err_clear(&f->err);
		assert_int_equal(store_delete(f->store, KIND, "a", "none", &f->err), -ENOENT);
	}
}

/*
 * A table that can't be read to its end is an error: a shorter list of pods would be taken for the whole
 * one, and the guests of the others for leftovers.
 */
static void test_unreadable(void **state)
{
	struct fixture *f = *state;
	_cleanup_free_ char *file = xasprintf("%s/runtime.db", f->paths.run);
	_cleanup_free_ char *plan = xcalloc(1, 60000);
	struct store_pod pod = {.ns = (char[]){"a"}, .name = (char[]){"one"}};
	char garbage[4096];
	int fd;

	memset(plan, 'x', 59999);
	pod.plan = json_pack("{s:s}", "x", plan);
	for (int i = 0; i < 20; i++) {
		char uid[16];

		(void)snprintf(uid, sizeof uid, "u%d", i);
		pod.uid = uid;
		assert_int_equal(store_pod_put(f->store, &pod, &f->err), 0);
	}
	json_decref(pod.plan);
	store_close(f->store); /* the write-ahead log goes into the file */
	fd = open(file, O_RDWR | O_CLOEXEC);
	memset(garbage, 0xff, sizeof garbage);
	for (off_t at = lseek(fd, 0, SEEK_END) / 2; at < lseek(fd, 0, SEEK_END); at += 4096)
		assert_int_equal(pwrite(fd, garbage, sizeof garbage, at / 4096 * 4096),
				 sizeof garbage);
	(void)fd_close(fd);
	f->store = NULL;
	assert_int_equal(store_open(&f->paths, &f->store, &f->err), -EBADMSG);
	assert_non_null(strstr(f->err.msg, "runtime.db: damaged"));
}

/* Another boot id: runtime records are void, objects are kept. */
static void test_reboot(void **state)
{
	struct fixture *f = *state;
	_cleanup_json_ json_t *status = json_object(), *got = NULL, *object = NULL;
	_cleanup_json_ json_t *event = json_pack("{s:{}}", "metadata");
	const struct store_event row = {.ns = "a", .name = "e", .uid = "u1"};

	put(f, "a", "one");
	assert_int_equal(store_status_put(f->store, "u1", status, &f->err), 0);
	assert_int_equal(store_event_put(f->store, &row, event, &f->err), 0);
	store_close(f->store);
	open_store(f); /* a handler that follows in the same boot has them */
	assert_int_equal(store_event_get(f->store, "a", "e", NULL, &got, &f->err), 0);
	json_decref(TAKE_PTR(got));
	store_close(f->store);
	run_sql(f->paths.run, "runtime.db", "UPDATE boot SET id = 'before'");
	open_store(f);
	assert_int_equal(store_status_get(f->store, "u1", &got, &f->err), -ENOENT);
	assert_int_equal(store_event_get(f->store, "a", "e", NULL, &got, &f->err), -ENOENT);
	assert_int_equal(store_get(f->store, KIND, "a", "one", &object, &f->err), 0);
}

static void test_damaged(void **state)
{
	struct fixture *f = *state;
	_cleanup_free_ char *file = xasprintf("%s/store.db", f->paths.lib);
	struct store *s = NULL;

	store_close(f->store);
	f->store = NULL;
	assert_int_equal(file_replace_at(AT_FDCWD, file, "no database at all, surely", 26, 0600),
			 0);
	assert_int_equal(store_open(&f->paths, &s, &f->err), -EBADMSG);
	assert_non_null(strstr(f->err.msg, "store.db: damaged"));
	assert_non_null(strstr(f->err.msg, "move it away"));
}

static unsigned files_of(const struct fixture *f)
{
	DIR *dir = opendir(f->paths.lib);
	unsigned n = 0;

	assert_non_null(dir);
	while (readdir(dir))
		n++;
	(void)closedir(dir);
	return n;
}

static void reads(struct fixture *f, unsigned wanted)
{
	_cleanup_json_ json_t *list = NULL;
	struct store *s = NULL;
	unsigned before = files_of(f);

	if (store_open_to_read(&f->paths, &s, &f->err) < 0 ||
	    store_list(s, KIND, NULL, &list, &f->err) < 0)
		fail_msg("%s", f->err.msg);
	assert_int_equal(json_array_size(list), wanted);
	store_close(s);
	assert_int_equal(files_of(f), before);
}

/* As kill -9 leaves it: the objects are in the log, which nobody took into the file. */
static void copy_as_it_is(const struct fixture *f, struct fixture *to, const char *root)
{
	static const char *const names[] = {"store.db", "store.db-wal", "store.db-shm"};

	assert_int_equal(paths_open(root, true, &to->paths, &to->err), 0);
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		_cleanup_free_ char *data = NULL;
		size_t len;

		assert_int_equal(file_read_at(f->paths.lib_fd, names[i], 1 << 24, &data, &len), 0);
		assert_int_equal(file_replace_at(to->paths.lib_fd, names[i], data, len, 0600), 0);
	}
}

static void set_format(const char *dir, const char *name, int format)
{
	_cleanup_free_ char *set = xasprintf("PRAGMA user_version = %d", format);

	run_sql(dir, name, set);
}

/* A file of a version that stores otherwise is not touched, and its user is told which one to use. */
static void test_other_format(void **state)
{
	struct fixture *f = *state;
	const char *const dirs[] = {f->paths.lib, f->paths.run};
	static const char *const names[] = {"store.db", "runtime.db"};

	(void)put(f, "a", "one");
	store_close(f->store);
	for (size_t i = 0; i < ARRAY_SIZE(dirs); i++) {
		set_format(dirs[i], names[i], 2);
		assert_int_equal(store_open(&f->paths, &f->store, &f->err), -EPROTO);
		assert_non_null(strstr(f->err.msg, names[i]));
		assert_non_null(strstr(f->err.msg, "another version of virtpod (format 2"));
		err_clear(&f->err);
		set_format(dirs[i], names[i], 1);
	}
	open_store(f);
}

/* Somebody else looks: beside the handler, after its end, after it was killed; and leaves no file. */
static void test_to_read(void **state)
{
	struct fixture *f = *state, killed = {0};
	/* a URI would end at the first of these signs */
	_cleanup_free_ char *root = xasprintf("%s/a?b#c%%41", f->root);
	struct store *s = NULL;

	put(f, "a", "one");
	reads(f, 1);
	put(f, "a", "two"); /* and is in nobody's way */
	reads(f, 2);
	copy_as_it_is(f, &killed, root);
	reads(&killed, 2);
	assert_int_equal(unlinkat(killed.paths.lib_fd, "store.db", 0), 0);
	assert_int_equal(store_open_to_read(&killed.paths, &s, &killed.err), -ENOENT);
	assert_null(s);
	paths_close(&killed.paths);
	store_close(f->store);
	f->store = NULL;
	assert_int_equal(faccessat(f->paths.lib_fd, "store.db-wal", F_OK, 0), -1);
	reads(f, 2);
}

static struct store *open_alone(struct fixture *f)
{
	const struct timespec long_ago[] = {{.tv_sec = 1}, {.tv_sec = 1}};
	struct store *s = NULL;

	store_close(TAKE_PTR(f->store));
	assert_int_equal(utimensat(f->paths.lib_fd, "store.db", long_ago, 0), 0);
	assert_int_equal(store_open_to_read(&f->paths, &s, &f->err), 0);
	assert_false(store_overtaken(s));
	return s;
}

/* A handler comes while somebody reads what nobody had open; it may have gone again, too. */
static void test_overtaken(void **state)
{
	struct fixture *f = *state;
	struct store *s;

	put(f, "a", "one");
	s = open_alone(f);
	open_store(f);
	assert_true(store_overtaken(s));
	store_close(s);
	assert_int_equal(store_open_to_read(&f->paths, &s, &f->err), 0);
	put(f, "a", "two"); /* beside it there are locks */
	assert_false(store_overtaken(s));
	store_close(s);
	s = open_alone(f);
	open_store(f);
	store_close(TAKE_PTR(f->store));
	assert_true(store_overtaken(s));
	store_close(s);
}

/* --- a store that was cut ---------------------------------------------------------------------- */

static void copy_cut(const char *from, const char *to, size_t len)
{
	_cleanup_free_ char *text = NULL;
	size_t have;

	assert_int_equal(file_read_at(AT_FDCWD, from, 16 << 20, &text, &have), 0);
	assert_int_equal(file_replace_at(AT_FDCWD, to, text, len < have ? len : have, 0600), 0);
}

static const char *const cut_files[] = {"store.db", "store.db-wal", "runtime.db", "runtime.db-wal"};

static char *cut_path(const struct paths *paths, const char *name)
{
	return xasprintf("%s/%s", str_after(name, "store") ? paths->lib : paths->run, name);
}

/* Of the runtime store: what is read of a pod was written so. */
static int records_are_whole(struct store *store, struct err *err)
{
	struct store_pod *pods = NULL;
	size_t n = 0;
	int r = store_pods(store, &pods, &n, err);

	for (size_t i = 0; i < n; i++) {
		assert_string_equal(pods[i].name, "one");
		assert_int_equal(pods[i].step, pod_step_index("net"));
		assert_int_equal(strlen(json_str(pods[i].plan, "filler")), 900);
		store_pod_done(&pods[i]);
	}
	free(pods);
	return r;
}

static size_t size_of(const struct paths *paths, const char *name)
{
	_cleanup_free_ char *path = cut_path(paths, name);
	struct stat st;

	return stat(path, &st) == 0 ? (size_t)st.st_size : 0;
}

/*
 * Opened after its file `name` was cut to `len` bytes: it is refused with that file's name and what to do,
 * or what is read from it are objects that were written, whole. Never anything else.
 */
static void open_cut(const struct fixture *whole, const char *name, size_t len)
{
	_cleanup_json_ json_t *list = NULL;
	_cleanup_free_ char *damaged = xasprintf("%.*s: damaged", (int)strcspn(name, "-"), name);
	char root[] = "/dev/shm/virtpod-cut-XXXXXX"; /* hundreds of syncs */
	struct paths paths;
	struct store *store = NULL;
	struct err err = {0};
	json_t *object;
	size_t i;
	int r;

	assert_non_null(mkdtemp(root));
	assert_int_equal(paths_open(root, true, &paths, &err), 0);
	for (i = 0; i < ARRAY_SIZE(cut_files); i++) {
		_cleanup_free_ char *from = cut_path(&whole->paths, cut_files[i]);
		_cleanup_free_ char *to = cut_path(&paths, cut_files[i]);

		copy_cut(from, to, str_eq(cut_files[i], name) ? len : SIZE_MAX);
	}
	r = store_open(&paths, &store, &err);
	if (r == 0)
		r = store_list(store, KIND, NULL, &list, &err);
	if (r == 0)
		r = records_are_whole(store, &err);
	json_array_foreach (list, i, object)
		assert_int_equal(strlen(json_str(object, "metadata.annotations.filler")), 900);
	if (r < 0 && (r != -EBADMSG || !strstr(err.msg, damaged)))
		fail_msg("%s of %zu bytes: %d: %s", name, len, r, err.msg);
	store_close(store);
	paths_close(&paths);
	assert_int_equal(rm_rf_at(AT_FDCWD, root), 0);
}

/* Every byte of the headers, then one in CUT_STEP: pages are 4096 bytes, frames 4120. */
#define CUT_STEP 331

static void cut_everywhere(const struct fixture *f, const char *name)
{
	size_t size = size_of(&f->paths, name);

	assert_true(size > 4096);
	for (size_t len = 0; len < size; len += len < 128 ? 1 : CUT_STEP)
		open_cut(f, name, len);
}

static void put_pod(struct fixture *f, char *uid, const char *filler)
{
	_cleanup_json_ json_t *plan = json_pack("{s:s}", "filler", filler);
	const struct store_pod pod = {.uid = uid,
				      .ns = (char[]){"a"},
				      .name = (char[]){"one"},
				      .step = pod_step_index("net"),
				      .plan = plan};

	assert_int_equal(store_pod_put(f->store, &pod, &f->err), 0);
}

static void test_cut(void **state)
{
	struct fixture *f = *state;
	char filler[901];

	memset(filler, 'x', sizeof filler - 1);
	filler[sizeof filler - 1] = 0;
	for (int i = 0; i < 12; i++) {
		_cleanup_free_ char *name = xasprintf("vm-%d", i);
		_cleanup_json_ json_t *o = json_pack("{s:{s:s, s:{s:s}}}", "metadata", "name", name,
						     "annotations", "filler", filler);

		assert_int_equal(store_put(f->store, KIND, "a", name, o, &f->err), 0);
		put_pod(f, name, filler);
		if (i != 7)
			continue;
		store_close(f->store); /* what there is goes from the log into the file */
		open_store(f);
	}
	for (size_t i = 0; i < ARRAY_SIZE(cut_files); i++)
		cut_everywhere(f, cut_files[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_objects, setup, teardown),
		cmocka_unit_test_setup_teardown(test_versions, setup, teardown),
		cmocka_unit_test_setup_teardown(test_no_versions, setup, teardown),
		cmocka_unit_test_setup_teardown(test_pods_and_cpus, setup, teardown),
		cmocka_unit_test_setup_teardown(test_orphaned_cpus, setup, teardown),
		cmocka_unit_test_setup_teardown(test_impossible_cpus, setup, teardown),
		cmocka_unit_test_setup_teardown(test_delete_absent, setup, teardown),
		cmocka_unit_test_setup_teardown(test_unreadable, setup, teardown),
		cmocka_unit_test_setup_teardown(test_reboot, setup, teardown),
		cmocka_unit_test_setup_teardown(test_damaged, setup, teardown),
		cmocka_unit_test_setup_teardown(test_other_format, setup, teardown),
		cmocka_unit_test_setup_teardown(test_to_read, setup, teardown),
		cmocka_unit_test_setup_teardown(test_overtaken, setup, teardown),
		cmocka_unit_test_setup_teardown(test_cut, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
