// SPDX-License-Identifier: Apache-2.0
/*
 * The walk over the steps, forward and backward, with steps that do what each test says. They take the
 * place of handler/steps.c, which is not linked: every symbol that others want of it is defined here.
 */
#include "tests/unit/handler/lab.h"

#include "handler/status.h"
#include "handler/vmi.h"

#include <sqlite3.h>

enum { ADMIT, PLAN, CPUS, ONE, TWO, LAST, N_STEPS };

/* What the steps answer, and the walk as it was: "+one" ran, "-one" was undone. */
static struct {
	int run[N_STEPS], undo[N_STEPS]; /* 0, STEP_WAIT or negative */
	char walk[512];
	bool records_right; /* each step with an undo found its own number in the store */
	void (*hook)(struct pod *pod); /* called by step TWO */
} script;

static int recorded_step(struct pod *pod)
{
	struct store_pod *pods = NULL;
	struct err err = {0};
	int step = -1;
	size_t n = 0;

	assert_int_equal(store_pods(pod->h->store, &pods, &n, &err), 0);
	for (size_t i = 0; i < n; i++) {
		if (str_eq(pods[i].uid, pod->record.uid))
			step = pods[i].step;
		store_pod_done(&pods[i]);
	}
	free(pods);
	return step;
}

static void note(char sign, int step)
{
	size_t len = strlen(script.walk);

	(void)snprintf(script.walk + len, sizeof script.walk - len, "%s%c%s", len ? " " : "", sign,
		       pod_steps[step].name);
}

static int run_step(struct pod *pod, int step, struct err *err)
{
	note('+', step);
	if (recorded_step(pod) != (step < CPUS ? -1 : step))
		script.records_right = false;
	if (step == TWO && script.hook)
		script.hook(pod);
	return script.run[step] < 0
		       ? err_set(err, script.run[step], "%s said no", pod_steps[step].name)
		       : script.run[step];
}

static int undo_step(struct pod *pod, int step, struct err *err)
{
	(void)pod;
	note('-', step);
	return script.undo[step] < 0 ? err_set(err, script.undo[step], "resists")
				     : script.undo[step];
}

#define STEP(n)                                                                                    \
	static int run_##n(struct pod *pod, struct err *err)                                       \
	{                                                                                          \
		return run_step(pod, n, err);                                                      \
	}
#define UNDO(n)                                                                                    \
	static int undo_##n(struct pod *pod, struct err *err)                                      \
	{                                                                                          \
		return undo_step(pod, n, err);                                                     \
	}
STEP(ADMIT);
STEP(PLAN);
STEP(CPUS);
STEP(ONE);
STEP(TWO);
STEP(LAST);
UNDO(CPUS);
UNDO(ONE);
UNDO(TWO);
UNDO(LAST);

const struct pod_step pod_steps[] = {
	{"admit", run_ADMIT, NULL}, {"plan", run_PLAN, NULL},	{"cpus", run_CPUS, undo_CPUS},
	{"one", run_ONE, undo_ONE}, {"two", run_TWO, undo_TWO}, {"last", run_LAST, undo_LAST},
};
const int pod_n_steps = N_STEPS;

int pod_step_index(const char *name)
{
	for (int i = 0; i < N_STEPS; i++)
		if (str_eq(pod_steps[i].name, name))
			return i;
	return -1;
}

/* --- one pod --------------------------------------------------------------------------------- */

#define ALL "+admit +plan +cpus +one +two +last"

static int setup(void **state)
{
	memset(&script, 0, sizeof script);
	script.records_right = true;
	return lab_setup(state);
}

static void start(struct lab *l)
{
	pod_start(lab_pod(l, UID_A, "a"));
	assert_true(script.records_right);
}

/* The status as published. */
static const char *status_of(struct lab *l, const char *path)
{
	static char text[256];
	_cleanup_json_ json_t *vmi = json_pack("{s:{s:s}}", "metadata", "uid", UID_A);
	_cleanup_json_ json_t *status = vmi_status(&l->h, vmi);

	(void)snprintf(text, sizeof text, "%s",
		       json_str(status, path) ? json_str(status, path) : "");
	return text;
}

static const char *condition(struct lab *l, const char *type)
{
	static char text[256];
	_cleanup_json_ json_t *vmi = json_pack("{s:{s:s}}", "metadata", "uid", UID_A);
	_cleanup_json_ json_t *status = vmi_status(&l->h, vmi);
	const json_t *c = status_condition(status, type);

	(void)snprintf(text, sizeof text, "%s", c ? json_str(c, "message") : "");
	return text;
}

static void test_forward(void **state)
{
	struct lab *l = *state;
	struct pod *pod;

	start(l);
	assert_string_equal(script.walk, ALL);
	pod = pod_find(&l->h, UID_A);
	assert_non_null(pod);
	assert_int_equal(pod->state, POD_RUNNING);
	assert_int_equal(recorded_step(pod), LAST);
	assert_int_equal(json_object_size(pod->timing), N_STEPS);
	assert_string_equal(status_of(l, "phase"), "Running");
}

/* Whichever step fails: it and all before it are undone, once each, backward; nothing stays. */
static void test_each_step_fails(void **state)
{
	static const char *const walks[] = {
		"+admit",
		"+admit +plan",
		"+admit +plan +cpus -cpus",
		"+admit +plan +cpus +one -one -cpus",
		"+admit +plan +cpus +one +two -two -one -cpus",
		ALL " -last -two -one -cpus",
	};

	for (int i = 0; i < N_STEPS; i++) {
		struct lab *l;
		bool refused = i <= CPUS; /* the VMI stays, and waits for better times */

		(void)setup(state);
		l = *state;
		script.run[i] = -EIO;
		start(l);
		assert_string_equal(script.walk, walks[i]);
		assert_null(l->h.pods);
		assert_string_equal(status_of(l, "phase"), refused ? "Pending" : "Failed");
		assert_non_null(strstr(condition(l, "Synchronized"), "said no"));
		assert_int_equal(json_object_size(l->h.refused), refused);
		assert_int_equal(l->h.changes, !refused);
		(void)lab_teardown(state);
	}
	(void)setup(state); /* for the teardown that follows */
}

static void test_waiting(void **state)
{
	struct lab *l = *state;
	struct pod *pod;

	script.run[ONE] = script.run[LAST] = STEP_WAIT;
	start(l);
	assert_string_equal(script.walk, "+admit +plan +cpus +one");
	pod = pod_find(&l->h, UID_A);
	assert_int_equal(pod->state, POD_STARTING);
	assert_int_equal(recorded_step(pod), ONE);
	pod_step_done(pod, 0, NULL);
	assert_string_equal(script.walk, ALL);
	assert_int_equal(pod->state, POD_STARTING);
	pod_step_done(pod, 0, NULL);
	assert_int_equal(pod->state, POD_RUNNING);
	assert_int_equal(json_object_size(pod->timing), N_STEPS);
}

static void test_waiting_step_fails(void **state)
{
	struct lab *l = *state;
	struct err err = {.code = -EPIPE, .msg = "it broke"};

	script.run[TWO] = STEP_WAIT;
	start(l);
	pod_step_done(pod_find(&l->h, UID_A), err.code, &err);
	assert_string_equal(script.walk, "+admit +plan +cpus +one +two -two -one -cpus");
	assert_string_equal(condition(l, "Synchronized"), "it broke");
	assert_null(l->h.pods);
}

/* An undo that waits is called again, and is where a further failure changes nothing. */
static void test_undo_waits(void **state)
{
	struct lab *l = *state;
	struct err other = {.code = -EIO, .msg = "another one"};
	struct pod *pod;

	script.run[LAST] = -EIO;
	script.undo[TWO] = STEP_WAIT;
	start(l);
	assert_string_equal(script.walk, ALL " -last -two");
	pod = pod_find(&l->h, UID_A);
	assert_int_equal(pod->state, POD_UNDOING);
	pod_fail(pod, &other);
	pod_end(pod);
	pod_shutdown(pod, 0);
	assert_string_equal(script.walk, ALL " -last -two");
	pod_step_done(pod, 0, NULL); /* not yet */
	assert_string_equal(script.walk, ALL " -last -two -two");
	script.undo[TWO] = 0;
	pod_step_done(pod, 0, NULL);
	assert_string_equal(script.walk, ALL " -last -two -two -two -one -cpus");
	assert_null(l->h.pods);
	assert_string_equal(condition(l, "Synchronized"), "last said no");
}

/* What resists keeps what lies below it, and says so, until it gives way. */
static void test_undo_fails(void **state)
{
	struct lab *l = *state;
	struct pod *pod;

	script.run[LAST] = -EIO;
	script.undo[TWO] = -EBUSY;
	start(l);
	assert_string_equal(script.walk, ALL " -last -two");
	pod = l->h.pods;
	assert_non_null(pod);
	assert_string_equal(json_str(status_condition(pod->status, "Synchronized"), "message"),
			    "undo of step 'two': resists");
	assert_true(recorded_step(pod) >= TWO); /* for a handler that comes after this one */
	script.undo[TWO] = 0;
	while (l->h.pods)
		assert_true(sd_event_run(l->h.event, UINT64_MAX) >= 0);
	assert_string_equal(script.walk, ALL " -last -two -two -one -cpus");
}

/* As after kill -9: a pod made of its record alone is undone from the step that it names. */
static void test_undo_from_record(void **state)
{
	struct lab *l = *state;
	struct pod *pod = lab_pod(l, UID_A, "a");

	pod->record.step = TWO;
	pod_end(pod);
	assert_string_equal(script.walk, "-two -one -cpus");
	assert_null(l->h.pods);
}

static sqlite3 *blocker;

static void block_store(struct pod *pod)
{
	_cleanup_free_ char *file = xasprintf("%s/runtime.db", pod->h->paths.run);

	assert_int_equal(sqlite3_open(file, &blocker), SQLITE_OK);
	assert_int_equal(sqlite3_exec(blocker, "BEGIN IMMEDIATE", NULL, NULL, NULL), SQLITE_OK);
}

/* A step that can't be recorded is not begun: after kill -9 nobody would undo it. */
static void test_record_fails(void **state)
{
	struct lab *l = *state;

	script.hook = block_store;
	pod_start(lab_pod(l, UID_A, "a"));
	assert_int_equal(sqlite3_close(blocker), SQLITE_OK);
	assert_string_equal(script.walk, "+admit +plan +cpus +one +two -last -two -one -cpus");
	assert_null(l->h.pods);
}

static void test_end_while_running(void **state)
{
	struct lab *l = *state;
	struct pod *pod;

	start(l);
	pod = pod_find(&l->h, UID_A);
	pod->outcome.kind = OUTCOME_SHUTDOWN;
	pod_end(pod);
	assert_string_equal(script.walk, ALL " -last -two -one -cpus");
	assert_string_equal(status_of(l, "phase"), "Succeeded");
	assert_int_equal(json_object_size(l->h.refused), 0);
}

static void test_shutdown_while_starting(void **state)
{
	struct lab *l = *state;

	script.run[TWO] = STEP_WAIT;
	start(l);
	pod_shutdown(pod_find(&l->h, UID_A), 30);
	assert_string_equal(script.walk, "+admit +plan +cpus +one +two -two -one -cpus");
	assert_null(l->h.pods);
	assert_string_equal(condition(l, "Synchronized"), "deleted while it started");
}

static void test_freed(void **state)
{
	struct lab *l = *state;
	int before = lab_count_fds();
	struct pod *a = lab_pod(l, UID_A, "a"), *b = lab_pod(l, UID_B, "b");

	for (int i = 0; i < 3; i++)
		pod_add_fd(a, open("/dev/null", O_RDWR | O_CLOEXEC), "disk:%d", i);
	a->netns_fd = open("/dev/null", O_RDWR | O_CLOEXEC);
	assert_string_equal(a->fds[2].name, "disk:2");
	assert_ptr_equal(pod_find(&l->h, UID_A), a);
	assert_ptr_equal(pod_find(&l->h, UID_B), b);
	pod_free(a);
	assert_null(pod_find(&l->h, UID_A));
	assert_ptr_equal(pod_find(&l->h, UID_B), b);
	assert_int_equal(lab_count_fds(), before);
}

/* --- the loop -------------------------------------------------------------------------------- */

static void put_vmi(struct lab *l, bool deleted)
{
	_cleanup_json_ json_t *vmi = json_pack("{s:{s:s, s:s, s:s}}", "metadata", "uid", UID_A,
					       "namespace", "default", "name", "a");

	if (deleted)
		(void)json_path_set(vmi, "metadata.deletionTimestamp",
				    json_string("2026-01-01T00:00:00Z"));
	assert_int_equal(store_put(l->h.store, VMI_KIND, "default", "a", vmi, &l->err), 0);
}

static void settle_to(struct lab *l, const char *walk)
{
	lab_settle(l);
	assert_string_equal(script.walk, walk);
	script.walk[0] = 0;
}

/* A refused start is tried again when something that can help has changed, and only then. */
static void test_refused_waits(void **state)
{
	struct lab *l = *state;

	put_vmi(l, false);
	script.run[CPUS] = -EBUSY;
	handler_kick(&l->h);
	settle_to(l, "+admit +plan +cpus -cpus");
	handler_kick(&l->h);
	settle_to(l, "");
	handler_changed(&l->h);
	settle_to(l, "+admit +plan +cpus -cpus");
	assert_string_equal(status_of(l, "phase"), "Pending");
	assert_string_equal(condition(l, "PodScheduled"), "cpus said no");
	script.run[CPUS] = 0;
	handler_kick(&l->h);
	settle_to(l, "");
	handler_changed(&l->h);
	settle_to(l, ALL);
	assert_string_equal(status_of(l, "phase"), "Running");
}

/* Another VM's end frees CPUs: that is such a change. */
static void test_end_wakes_refused(void **state)
{
	struct lab *l = *state;

	pod_start(lab_pod(l, UID_B, "b"));
	script.walk[0] = 0;
	put_vmi(l, false);
	script.run[CPUS] = -EBUSY;
	handler_kick(&l->h);
	settle_to(l, "+admit +plan +cpus -cpus");
	script.run[CPUS] = 0;
	pod_end(pod_find(&l->h, UID_B));
	settle_to(l, "-last -two -one -cpus " ALL);
}

/* A start that failed is no refusal: it is over. */
static void test_failed_is_final(void **state)
{
	struct lab *l = *state;

	put_vmi(l, false);
	script.run[ONE] = -EIO;
	handler_kick(&l->h);
	settle_to(l, "+admit +plan +cpus +one -one -cpus");
	handler_changed(&l->h);
	settle_to(l, "");
	assert_string_equal(status_of(l, "phase"), "Failed");
}

static void test_delete_refused(void **state)
{
	struct lab *l = *state;
	json_t *object = NULL;

	put_vmi(l, false);
	script.run[CPUS] = -EBUSY;
	handler_kick(&l->h);
	settle_to(l, "+admit +plan +cpus -cpus");
	put_vmi(l, true);
	handler_kick(&l->h);
	settle_to(l, "");
	assert_int_equal(store_get(l->h.store, VMI_KIND, "default", "a", &object, &l->err),
			 -ENOENT);
	assert_int_equal(json_object_size(l->h.refused), 0);
}

/* Deleted while it starts, with a step that waits: undone first, then the object goes. */
static void test_delete_starting(void **state)
{
	struct lab *l = *state;
	json_t *object = NULL;

	put_vmi(l, false);
	script.run[TWO] = STEP_WAIT;
	handler_kick(&l->h);
	settle_to(l, "+admit +plan +cpus +one +two");
	put_vmi(l, true);
	handler_kick(&l->h);
	settle_to(l, "-two -one -cpus");
	assert_int_equal(store_get(l->h.store, VMI_KIND, "default", "a", &object, &l->err),
			 -ENOENT);
	assert_int_equal(store_status_get(l->h.store, UID_A, &object, &l->err), -ENOENT);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, lab_teardown)

static int run(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_forward),
		cmocka_unit_test_teardown(test_each_step_fails, lab_teardown),
		TEST(test_waiting),
		TEST(test_waiting_step_fails),
		TEST(test_undo_waits),
		TEST(test_undo_fails),
		TEST(test_undo_from_record),
		TEST(test_record_fails),
		TEST(test_end_while_running),
		TEST(test_shutdown_while_starting),
		TEST(test_freed),
		TEST(test_refused_waits),
		TEST(test_end_wakes_refused),
		TEST(test_failed_is_final),
		TEST(test_delete_refused),
		TEST(test_delete_starting),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

int main(void)
{
	return lab_main(run);
}
