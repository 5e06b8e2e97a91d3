// SPDX-License-Identifier: Apache-2.0
/* Events: counted when they come again, bounded in length, number and age, and what the API shows of them. */
#include "tests/unit/handler/api.h"

#include "handler/events.h"
#include "handler/objstore.h"

#include <sqlite3.h>
#include <time.h>

#define EVENTS "/api/v1/namespaces/default/events"

static const struct event started = {.by = BY_HANDLER, .reason = "Started"};
static const struct event failed = {
	.by = BY_HANDLER, .reason = "SyncFailed", .warning = true, .quiet_seconds = 300};

static int setup(void **state)
{
	*state = api_open(NULL);
	return 0;
}

static int teardown(void **state)
{
	api_close(*state);
	return 0;
}

/* What an event may be about; the caller's. */
static json_t *vmi_of(const char *ns, const char *name, const char *uid)
{
	return json_pack("{s:s, s:s, s:{s:s, s:s, s:s, s:s}}", "apiVersion", "kubevirt.io/v1",
			 "kind", "VirtualMachineInstance", "metadata", "namespace", ns, "name",
			 name, "uid", uid, "resourceVersion", "7");
}

static json_t *list(struct api *a, const char *query)
{
	_cleanup_free_ char *path = xasprintf(EVENTS "%s", query);
	json_t *answer = NULL;

	assert_int_equal(api_call(a, "GET", path, NULL, &answer), 200);
	return answer;
}

static size_t count_of(struct api *a, const char *query)
{
	_cleanup_json_ json_t *answer = list(a, query);

	return json_array_size(json_object_get(answer, "items"));
}

static void test_shape(void **state)
{
	struct api *a = *state;
	_cleanup_json_ json_t *vmi = vmi_of("default", "vm", "u1");
	_cleanup_json_ json_t *answer = NULL, *same = NULL;
	_cleanup_free_ char *path = NULL;
	const json_t *e;

	event_record(&a->h, vmi, &failed, "no %s", "disk");
	answer = list(a, "");
	assert_string_equal(json_str(answer, "kind"), "EventList");
	e = json_get(answer, "items[0]");
	assert_string_equal(json_str(e, "kind"), "Event");
	assert_string_equal(json_str(e, "apiVersion"), "v1");
	assert_string_equal(json_str(e, "type"), "Warning");
	assert_string_equal(json_str(e, "reason"), "SyncFailed");
	assert_string_equal(json_str(e, "message"), "no disk");
	assert_string_equal(json_str(e, "source.component"), "virt-handler");
	assert_string_equal(json_str(e, "source.host"), "lab1");
	assert_string_equal(json_str(e, "involvedObject.kind"), "VirtualMachineInstance");
	assert_string_equal(json_str(e, "involvedObject.apiVersion"), "kubevirt.io/v1");
	assert_string_equal(json_str(e, "involvedObject.namespace"), "default");
	assert_string_equal(json_str(e, "involvedObject.name"), "vm");
	assert_string_equal(json_str(e, "involvedObject.uid"), "u1");
	assert_string_equal(json_str(e, "involvedObject.resourceVersion"), "7");
	assert_string_equal(json_str(e, "firstTimestamp"), json_str(e, "lastTimestamp"));
	assert_int_equal(json_u64(e, "count", 0), 1);
	assert_int_equal(strlen(json_str(e, "metadata.name")), strlen("vm.0123456789abcdef"));
	path = xasprintf(EVENTS "/%s", json_str(e, "metadata.name"));
	assert_int_equal(api_call(a, "GET", path, NULL, &same), 200);
	assert_true(json_equal(same, e));
}

/* The name of an object may be as long as a name may be; so may then be that of its event. */
static void test_long_name(void **state)
{
	struct api *a = *state;
	_cleanup_free_ char *name = xasprintf("%0253d", 0);
	_cleanup_json_ json_t *vmi = vmi_of("default", name, "u1");
	_cleanup_json_ json_t *answer = NULL, *event = NULL;
	_cleanup_free_ char *path = NULL;

	event_record(&a->h, vmi, &started, "x");
	answer = list(a, "");
	path = xasprintf(EVENTS "/%s", json_str(answer, "items[0].metadata.name"));
	assert_int_equal(api_call(a, "GET", path, NULL, &event), 200);
}

static void test_again(void **state)
{
	struct api *a = *state;
	_cleanup_json_ json_t *one = vmi_of("default", "vm", "u1");
	_cleanup_json_ json_t *two = vmi_of("default", "vm", "u2");
	_cleanup_json_ json_t *answer = NULL;

	event_record(&a->h, one, &started, "x");
	event_record(&a->h, one, &failed, "y");
	event_record(&a->h, one, &started, "x");
	event_record(&a->h, one, &failed, "y"); /* so soon it is not counted */
	event_record(&a->h, two, &started, "x");
	event_record(&a->h, one, &started, "z");
	answer = list(a, "");
	assert_int_equal(json_array_size(json_object_get(answer, "items")), 4);
	/* in the order of their last times */
	assert_string_equal(json_str(answer, "items[0].message"), "y");
	assert_int_equal(json_u64(answer, "items[0].count", 0), 1);
	assert_string_equal(json_str(answer, "items[1].message"), "x");
	assert_int_equal(json_u64(answer, "items[1].count", 0), 2);
	assert_string_equal(json_str(answer, "items[2].involvedObject.uid"), "u2");
	assert_int_equal(json_u64(answer, "items[2].count", 0), 1);
	assert_string_equal(json_str(answer, "items[3].message"), "z");
}

/* What a guest or a launcher says is one printable line of bounded length. */
static void test_cleaned(void **state)
{
	struct api *a = *state;
	_cleanup_json_ json_t *vmi = vmi_of("default", "vm", "u1");
	_cleanup_free_ char *huge = xcalloc(1, 100000);
	_cleanup_json_ json_t *answer = NULL;

	memset(huge, 'x', 99999);
	event_record(&a->h, vmi, &started, "a\n\x1b[2J\xff\xc2\x9b%s", "\"}");
	event_record(&a->h, vmi, &started, "%s", huge);
	answer = list(a, "");
	assert_string_equal(json_str(answer, "items[0].message"), "a??[2J???\"}");
	assert_int_equal(strlen(json_str(answer, "items[1].message")), EVENT_MESSAGE_MAX);
}

static void test_number(void **state)
{
	struct api *a = *state;
	_cleanup_json_ json_t *quiet = vmi_of("default", "quiet", "u0");
	_cleanup_json_ json_t *loud = vmi_of("default", "loud", "u1");

	event_record(&a->h, quiet, &started, "x");
	for (int i = 0; i < EVENTS_OF_OBJECT + 5; i++)
		event_record(&a->h, loud, &started, "%d", i);
	/* one that has too many loses its own oldest ones, and nobody else's */
	assert_int_equal(count_of(a, "?fieldSelector=involvedObject.name%3Dloud"),
			 EVENTS_OF_OBJECT);
	assert_int_equal(count_of(a, "?fieldSelector=involvedObject.name%3Dquiet"), 1);
	for (int i = 0; i < EVENTS_MAX; i++) {
		_cleanup_free_ char *uid = xasprintf("v%d", i);
		_cleanup_json_ json_t *other = vmi_of("default", "other", uid);

		event_record(&a->h, other, &started, "x");
	}
	assert_int_equal(count_of(a, ""), EVENTS_MAX);
	assert_int_equal(count_of(a, "?fieldSelector=involvedObject.name%3Dother"), EVENTS_MAX);
}

static void make_older(struct api *a, int seconds)
{
	_cleanup_free_ char *file = xasprintf("%s/runtime.db", a->h.paths.run);
	_cleanup_free_ char *text = xasprintf("UPDATE events SET last = last - %d", seconds);
	sqlite3 *db = NULL;

	assert_int_equal(sqlite3_open(file, &db), SQLITE_OK);
	assert_int_equal(sqlite3_exec(db, text, NULL, NULL, NULL), SQLITE_OK);
	assert_int_equal(sqlite3_close(db), SQLITE_OK);
}

static void test_age(void **state)
{
	struct api *a = *state;
	_cleanup_json_ json_t *vmi = vmi_of("default", "vm", "u1");

	event_record(&a->h, vmi, &failed, "y");
	make_older(a, 301);
	event_record(&a->h, vmi, &failed,
		     "y"); /* a repetition after its quiet time is young again */
	event_record(&a->h, vmi, &started, "x");
	make_older(a, EVENT_AGE_SECONDS - 60);
	assert_int_equal(count_of(a, ""), 2);
	make_older(a, 120);
	assert_int_equal(count_of(a, ""), 0);
}

static void test_counted_after_quiet(void **state)
{
	struct api *a = *state;
	_cleanup_json_ json_t *vmi = vmi_of("default", "vm", "u1");
	_cleanup_json_ json_t *answer = NULL;

	event_record(&a->h, vmi, &failed, "y");
	make_older(a, 301);
	event_record(&a->h, vmi, &failed, "y");
	answer = list(a, "");
	assert_int_equal(json_u64(answer, "items[0].count", 0), 2);
}

static void test_selectors(void **state)
{
	static const struct {
		const char *fields;
		size_t n;
	} cases[] = {
		{"involvedObject.name=vm", 2},
		{"involvedObject.name=vm,involvedObject.namespace=default,"
		 "involvedObject.kind=VirtualMachineInstance,involvedObject.uid=u1",
		 2},
		{"involvedObject.uid=u2", 1},
		{"involvedObject.apiVersion=kubevirt.io/v1", 3},
		{"involvedObject.resourceVersion=7", 3},
		{"involvedObject.fieldPath=", 3},
		{"involvedObject.kind=Node", 0},
		{"type=Warning", 1},
		{"type!=Warning", 2},
		{"reason=Started,involvedObject.name=vm", 1},
		{"source=virt-handler", 3},
		{"reportingComponent!=virt-handler", 0},
		{"metadata.namespace=default", 3},
	};
	struct api *a = *state;
	_cleanup_json_ json_t *one = vmi_of("default", "vm", "u1");
	_cleanup_json_ json_t *two = vmi_of("default", "other", "u2");
	_cleanup_json_ json_t *else_where = vmi_of("lab", "vm", "u3");
	_cleanup_json_ json_t *status = NULL, *all = NULL;

	event_record(&a->h, one, &started, "x");
	event_record(&a->h, one, &failed, "y");
	event_record(&a->h, two, &started, "x");
	event_record(&a->h, else_where, &started, "x");
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		_cleanup_free_ char *query = xasprintf("?fieldSelector=%s", cases[i].fields);

		if (count_of(a, query) != cases[i].n)
			fail_msg("%s", cases[i].fields);
	}
	assert_int_equal(api_call(a, "GET", EVENTS "?fieldSelector=count%3D1", NULL, &status), 400);
	assert_non_null(strstr(json_str(status, "message"), "field label not supported: count"));
	assert_int_equal(api_call(a, "GET", "/api/v1/events", NULL, &all), 200);
	assert_int_equal(json_array_size(json_object_get(all, "items")), 4);
}

static void expect(struct client *c, const char *type, const char *message, uint64_t count)
{
	_cleanup_json_ json_t *event = client_event(c);

	assert_non_null(event);
	assert_string_equal(json_str(event, "type"), type);
	assert_string_equal(json_str(event, "object.message"), message);
	assert_int_equal(json_u64(event, "object.count", 0), count);
}

/* A selector sees the same of a stream as of a list, also of what is gone. */
static void test_watch(void **state)
{
	struct api *a = *state;
	_cleanup_json_ json_t *one = vmi_of("default", "vm", "u1");
	_cleanup_json_ json_t *two = vmi_of("default", "other", "u2");
	_cleanup_free_ char *header = NULL;
	struct client *c = client_open(a);

	event_record(&a->h, one, &started, "before");
	event_record(&a->h, two, &started, "before");
	client_request(c, "GET",
		       EVENTS "?watch=true&fieldSelector=involvedObject.uid%3Du1,type%3DNormal", "",
		       NULL);
	assert_int_equal(client_header(c, &header), 200);
	expect(c, "ADDED", "before", 1);
	event_record(&a->h, two, &started, "not mine");
	event_record(&a->h, one, &failed, "no Normal one");
	event_record(&a->h, one, &started, "after");
	event_record(&a->h, one, &started, "before");
	expect(c, "ADDED", "after", 1);
	expect(c, "MODIFIED", "before", 2);
	make_older(a, EVENT_AGE_SECONDS + 1);
	assert_int_equal(count_of(a, ""), 0);
	expect(c, "DELETED", "after", 1);
	expect(c, "DELETED", "before", 2);
	client_close(c);
}

static void test_read_only(void **state)
{
	struct api *a = *state;
	_cleanup_json_ json_t *vmi = vmi_of("default", "vm", "u1");
	_cleanup_json_ json_t *answer = list(a, ""), *no = NULL, *nor = NULL;
	_cleanup_free_ char *path = NULL;

	event_record(&a->h, vmi, &started, "x");
	json_decref(answer);
	answer = list(a, "");
	path = xasprintf(EVENTS "/%s", json_str(answer, "items[0].metadata.name"));
	assert_int_equal(api_call(a, "POST", EVENTS, "{}", &no), 405);
	assert_int_equal(api_call(a, "DELETE", path, NULL, &nor), 405);
	assert_int_equal(count_of(a, ""), 1);
}

/* They stay when their object goes, keep no namespace, and go with it. */
static void test_namespace(void **state)
{
	struct api *a = *state;
	_cleanup_json_ json_t *vmi = vmi_of("lab", "vm", "u1");
	_cleanup_json_ json_t *made = NULL, *gone = NULL, *all = NULL;

	assert_int_equal(api_call(a, "POST", "/api/v1/namespaces",
				  "{\"apiVersion\": \"v1\", \"kind\": \"Namespace\", "
				  "\"metadata\": {\"name\": \"lab\"}}",
				  &made),
			 201);
	event_record(&a->h, vmi, &started, "x");
	assert_int_equal(api_call(a, "DELETE", "/api/v1/namespaces/lab", NULL, &gone), 200);
	assert_int_equal(api_call(a, "GET", "/api/v1/events", NULL, &all), 200);
	assert_int_equal(json_array_size(json_object_get(all, "items")), 0);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_shape),     TEST(test_long_name),
		TEST(test_again),     TEST(test_cleaned),
		TEST(test_number),    TEST(test_age),
		TEST(test_selectors), TEST(test_counted_after_quiet),
		TEST(test_watch),     TEST(test_read_only),
		TEST(test_namespace),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
