// SPDX-License-Identifier: Apache-2.0
/* Watch streams over the real socket: what is sent, to whom, from where on, and how they end. */
#include "tests/unit/handler/api.h"

#include "handler/node.h"
#include "handler/objstore.h"
#include "handler/vmi.h"
#include "handler/watch.h"
#include "handler/watcher.h"

#include <inttypes.h>

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

static void create(struct api *a, const char *name, const char *label, json_t **ret)
{
	_cleanup_free_ char *body = vmi_text(name, label);
	json_t *object = NULL;

	assert_int_equal(api_call(a, "POST", VMIS, body, &object), 201);
	if (ret)
		*ret = object;
	else
		json_decref(object);
}

/* A watch whose header has come. */
static struct client *watch(struct api *a, const char *query)
{
	_cleanup_free_ char *path = xasprintf(VMIS "?watch=true%s", query);
	_cleanup_free_ char *header = NULL;
	struct client *c = client_open(a);

	client_request(c, "GET", path, "", NULL);
	assert_int_equal(client_header(c, &header), 200);
	assert_non_null(strstr(header, "Content-Type: application/json\r\n"));
	return c;
}

static void expect(struct client *c, const char *type, const char *name)
{
	_cleanup_json_ json_t *event = client_event(c);

	assert_non_null(event);
	assert_string_equal(json_str(event, "type"), type);
	assert_string_equal(json_str(event, "object.metadata.name"), name);
}

static void expect_end(struct client *c)
{
	assert_null(client_event(c));
	while (!c->ended)
		client_more(c);
	assert_int_equal(c->len, 0);
}

static void set_phase(struct api *a, const char *name, const char *phase)
{
	_cleanup_json_ json_t *vmi = NULL;
	_cleanup_json_ json_t *status = json_pack("{s:s}", "phase", phase);
	struct err err = {0};

	assert_int_equal(store_get(a->h.store, VMI_KIND, "default", name, &vmi, &err), 0);
	vmi_publish(&a->h, vmi, status);
}

static void remove_vmi(struct api *a, const char *name)
{
	const struct kind *k = kind_by_path("kubevirt.io", "v1", "virtualmachineinstances");
	_cleanup_json_ json_t *vmi = NULL;
	struct err err = {0};

	assert_int_equal(object_load(&a->h, k, "default", name, &vmi, &err), 0);
	assert_int_equal(object_remove(&a->h, k, vmi, &err), 0);
}

static void test_life(void **state)
{
	struct api *a = *state;
	struct client *c;
	_cleanup_json_ json_t *modified = NULL;
	_cleanup_json_ json_t *got = NULL;

	create(a, "before", "a", NULL);
	c = watch(a, "");
	expect(c, "ADDED", "before");
	create(a, "later", "a", NULL);
	expect(c, "ADDED", "later");
	set_phase(a, "later", "Running");
	modified = client_event(c);
	assert_string_equal(json_str(modified, "type"), "MODIFIED");
	assert_string_equal(json_str(modified, "object.status.phase"), "Running");
	assert_int_equal(api_call(a, "GET", VMIS "/later", NULL, &got), 200);
	assert_true(json_equal(got, json_get(modified, "object")));
	set_phase(a, "later", "Running"); /* no change: no event */
	remove_vmi(a, "later");
	expect(c, "DELETED", "later");
	client_close(c);
}

static void test_from_version(void **state)
{
	struct api *a = *state;
	_cleanup_json_ json_t *first = NULL;
	_cleanup_free_ char *query = NULL;
	struct client *c;

	create(a, "one", "a", &first);
	create(a, "two", "a", NULL);
	set_phase(a, "one", "Running");
	query = xasprintf("&resourceVersion=%s", json_str(first, "metadata.resourceVersion"));
	c = watch(a, query);
	expect(c, "ADDED", "two");
	expect(c, "MODIFIED", "one");
	remove_vmi(a, "two");
	expect(c, "DELETED", "two");
	client_close(c);
}

/* resourceVersion=0 is as good as none. */
static void test_zero(void **state)
{
	struct client *c;

	create(*state, "one", "a", NULL);
	c = watch(*state, "&resourceVersion=0");
	expect(c, "ADDED", "one");
	client_close(c);
}

static void expect_expired(struct client *c)
{
	_cleanup_json_ json_t *event = client_event(c);

	assert_non_null(event);
	assert_string_equal(json_str(event, "type"), "ERROR");
	assert_string_equal(json_str(event, "object.kind"), "Status");
	assert_string_equal(json_str(event, "object.reason"), "Expired");
	assert_int_equal(json_u64(event, "object.code", 0), 410);
}

static void test_too_old(void **state)
{
	struct api *a = *state;
	uint64_t before = store_version(a->h.store);
	_cleanup_free_ char *just = NULL;
	_cleanup_free_ char *old = NULL;
	struct client *c;

	for (int i = 0; i <= WATCH_HISTORY; i++)
		node_publish(&a->h); /* one event more than are kept */
	old = xasprintf("&resourceVersion=%" PRIu64, before);
	c = watch(a, old);
	expect_expired(c);
	expect_end(c);
	client_close(c);
	just = xasprintf("&resourceVersion=%" PRIu64, before + 1);
	create(a, "one", "a", NULL); /* it pushes out another: before + 2 is the oldest now */
	c = watch(a, just);
	expect_expired(c);
	client_close(c);
	free(just);
	just = xasprintf("&resourceVersion=%" PRIu64, before + 2);
	c = watch(a, just);
	expect(c, "ADDED", "one");
	client_close(c);
}

static void test_before_this_handler(void **state)
{
	struct api *a = *state;
	struct server_options options = a->h.server->options;
	struct err err = {0};
	struct client *c;

	create(a, "one", "a", NULL);
	server_close(&a->h);
	(void)store_next_version(a->h.store, NULL); /* a change that this server will not know of */
	assert_int_equal(server_open_with(&a->h, &options, &err), 0);
	c = watch(a, "&resourceVersion=1");
	expect_expired(c);
	client_close(c);
}

static void relabel(struct api *a, const char *name, const char *label)
{
	_cleanup_free_ char *text = nad_text(name, 1500);
	_cleanup_json_ json_t *nad = json_loads(text, 0, NULL);
	_cleanup_json_ json_t *got = NULL;
	_cleanup_free_ char *body = NULL;
	_cleanup_free_ char *path = xasprintf(NADS "/%s", name);
	int code;

	(void)json_path_set(nad, "metadata.labels.app", json_string(label));
	body = json_text(nad);
	code = api_call(a, "PUT", path, body, &got);
	if (code == 404) {
		json_decref(got);
		code = api_call(a, "POST", NADS, body, &got);
	}
	assert_in_range(code, 200, 201);
}

/* An object that stops matching is gone for this watcher; one that starts to is new. */
static void test_labels(void **state)
{
	struct client *c = client_open(*state);
	_cleanup_free_ char *header = NULL;

	relabel(*state, "one", "a");
	relabel(*state, "two", "b");
	client_request(c, "GET", NADS "?watch=1&labelSelector=app%3Da", "", NULL);
	assert_int_equal(client_header(c, &header), 200);
	expect(c, "ADDED", "one");
	relabel(*state, "two", "c");
	relabel(*state, "two", "a");
	expect(c, "ADDED", "two");
	relabel(*state, "one", "b");
	expect(c, "DELETED", "one");
	relabel(*state, "one", "c");
	relabel(*state, "one", "a");
	expect(c, "ADDED", "one");
	client_close(c);
}

/* What was there when the server came up was there before its first event. */
static void test_labels_after_restart(void **state)
{
	struct api *a = *state;
	struct server_options options = a->h.server->options;
	_cleanup_free_ char *query = NULL;
	_cleanup_free_ char *header = NULL;
	struct err err = {0};
	struct client *c;

	relabel(a, "one", "a");
	server_close(&a->h);
	assert_int_equal(server_open_with(&a->h, &options, &err), 0);
	query = xasprintf(NADS "?watch=1&labelSelector=app%%3Da&resourceVersion=%" PRIu64,
			  store_version(a->h.store));
	relabel(a, "one", "b");
	c = client_open(a);
	client_request(c, "GET", query, "", NULL);
	assert_int_equal(client_header(c, &header), 200);
	expect(c, "DELETED", "one");
	client_close(c);
}

static void test_fields_and_namespaces(void **state)
{
	struct api *a = *state;
	struct client *c = watch(a, "&fieldSelector=metadata.name%3Dtwo");
	struct client *all = client_open(a);
	_cleanup_free_ char *body = vmi_text("two", "a");
	_cleanup_free_ char *header = NULL;
	_cleanup_json_ json_t *got = NULL;

	client_request(all, "GET", "/apis/kubevirt.io/v1/virtualmachineinstances?watch=1", "",
		       NULL);
	assert_int_equal(client_header(all, &header), 200);
	assert_int_equal(api_call(a, "POST",
				  "/apis/kubevirt.io/v1/namespaces/lab/virtualmachineinstances",
				  body, &got),
			 201);
	create(a, "one", "a", NULL);
	create(a, "two", "a", NULL);
	{
		_cleanup_json_ json_t *event = client_event(c);

		assert_string_equal(json_str(event, "object.metadata.name"), "two");
		assert_string_equal(json_str(event, "object.metadata.namespace"), "default");
	}
	expect(all, "ADDED", "two");
	expect(all, "ADDED", "one");
	expect(all, "ADDED", "two");
	client_close(c);
	client_close(all);
}

static void test_timeout(void **state)
{
	struct client *c = watch(*state, "&timeoutSeconds=1");

	expect_end(c);
	client_close(c);
}

static void expect_bad(struct api *a, const char *query, const char *message)
{
	_cleanup_free_ char *path = xasprintf(VMIS "?watch=true&%s", query);
	_cleanup_json_ json_t *got = NULL;

	assert_int_equal(api_call(a, "GET", path, NULL, &got), 400);
	assert_string_equal(json_str(got, "message"), message);
}

static void test_bad_queries(void **state)
{
	expect_bad(*state, "resourceVersion=x", "resourceVersion: 'x' is not a number");
	expect_bad(*state, "timeoutSeconds=-1", "timeoutSeconds: '-1' is not a number");
	expect_bad(*state, "labelSelector=a%20b",
		   "labelSelector: after 'a' stands 'b'; known are =, ==, !=, in, notin");
}

/* A client that vanishes while nothing happens is noticed without any event. */
static void test_client_vanishes(void **state)
{
	struct api *a = *state;
	struct client *c = watch(a, "");

	assert_false(server_idle(&a->h));
	client_close(c);
	while (!server_idle(&a->h))
		api_turn(a);
}

/* A client that says it sends nothing more is gone, too: no request needs half a connection. */
static void test_client_half_closes(void **state)
{
	struct client *c = watch(*state, "");

	(void)shutdown(c->fd, SHUT_WR);
	expect_end(c);
	client_close(c);
}

/* … and one that vanishes in the middle of an event's bytes. */
static void test_client_vanishes_midway(void **state)
{
	struct api *a = *state;
	struct client *c;

	create(a, "one", "a", NULL);
	c = watch(a, "");
	/* more than the socket takes: the server waits for the client to read */
	for (int i = 0; i < 400; i++)
		set_phase(a, "one", i % 2 ? "Running" : "Scheduled");
	api_turn(a);
	api_turn(a);
	client_close(c);
	while (!server_idle(&a->h))
		api_turn(a);
}

/* Events for a client that does not read pile up to the bound, then it is told to begin again. */
static void test_slow_watcher(void **state)
{
	struct api *a = *state;
	_cleanup_json_ json_t *last = NULL;
	struct client *c;
	size_t n = 0;

	create(a, "one", "a", NULL);
	c = watch(a, "");
	for (int i = 0; i < 3000; i++)
		set_phase(a, "one", i % 2 ? "Running" : "Scheduled");
	for (;;) {
		_cleanup_json_ json_t *event = client_event(c);

		if (!event)
			break;
		assert_null(last); /* nothing follows an ERROR */
		if (str_eq(json_str(event, "type"), "ERROR"))
			last = json_incref(event);
		n++;
	}
	assert_non_null(last);
	assert_string_equal(json_str(last, "object.reason"), "Expired");
	assert_int_equal(json_u64(last, "object.code", 0), 410);
	assert_true(n < 2900); /* the rest was dropped */
	client_close(c);
}

/* The unread bytes of a stream are bounded, and cut only where a line ends. */
static void never(void *arg)
{
	(void)arg;
}

static void test_behind(void **state)
{
	struct api *a = *state;
	const struct kind *k = kind_by_path("kubevirt.io", "v1", "virtualmachineinstances");
	_cleanup_free_ char *text = xcalloc(1, 4u << 20);
	struct selector *selector = NULL;
	struct watcher *w = NULL;
	struct err err = {0};
	size_t len = 0;
	ssize_t n;

	create(a, "one", "a", NULL);
	assert_int_equal(selector_parse(k, NULL, NULL, &selector, &err), 0);
	assert_int_equal(watcher_new(&a->h, k, NULL, selector, 0, never, NULL, &w, &err), 0);
	n = watcher_read(w, text, 10); /* a part of the first line */
	assert_int_equal(n, 10);
	for (int i = 0; i < 3000 && !watcher_ended(w); i++)
		set_phase(a, "one", i % 2 ? "Running" : "Scheduled");
	assert_true(watcher_ended(w));
	len = 10;
	while ((n = watcher_read(w, text + len, 4096)) > 0)
		len += (size_t)n;
	assert_int_equal(n, -ENODATA);
	watcher_free(w);
	text[len] = 0;
	{
		char *second = strchr(text, '\n');
		_cleanup_json_ json_t *first = json_loads(text, JSON_DISABLE_EOF_CHECK, NULL);
		_cleanup_json_ json_t *error = json_loads(second + 1, 0, NULL);

		assert_string_equal(json_str(first, "type"), "ADDED"); /* whole */
		assert_string_equal(json_str(error, "type"), "ERROR"); /* and nothing between */
	}
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_life),
		TEST(test_from_version),
		TEST(test_zero),
		TEST(test_too_old),
		TEST(test_before_this_handler),
		TEST(test_labels),
		TEST(test_labels_after_restart),
		TEST(test_fields_and_namespaces),
		TEST(test_timeout),
		TEST(test_bad_queries),
		TEST(test_client_vanishes),
		TEST(test_client_half_closes),
		TEST(test_client_vanishes_midway),
		TEST(test_slow_watcher),
		TEST(test_behind),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
