// SPDX-License-Identifier: Apache-2.0
/* HTTP itself: what clients do wrong, too much of, or too slowly; and what the server leaves behind. */
#include "tests/unit/handler/api.h"

#include "handler/call.h"
#include "handler/node.h"

#include <dirent.h>
#include <sys/stat.h>
#include <sys/un.h>

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

static size_t open_fds(void)
{
	DIR *d = opendir("/proc/self/fd");
	size_t n = 0;

	assert_non_null(d);
	while (readdir(d))
		n++;
	(void)closedir(d);
	return n;
}

static void expect_alive(struct api *a)
{
	_cleanup_json_ json_t *got = NULL;

	assert_int_equal(api_call(a, "GET", "/version", NULL, &got), 200);
}

static void test_socket(void **state)
{
	struct api *a = *state;
	struct stat st;

	assert_int_equal(fstatat(a->h.paths.run_fd, "handler.sock", &st, AT_SYMLINK_NOFOLLOW), 0);
	assert_int_equal(st.st_mode & 07777, 0600);
	server_close(&a->h);
	assert_int_equal(fstatat(a->h.paths.run_fd, "handler.sock", &st, AT_SYMLINK_NOFOLLOW), -1);
	server_close(&a->h); /* again: nothing */
}

/* Even where the socket's mode lets it connect, another user gets a refusal only. */
static void test_other_user(void **state)
{
	struct api *a = *state;
	struct sockaddr_un sa = {.sun_family = AF_UNIX};
	struct client *c = client_open(a);
	_cleanup_json_ json_t *got = NULL;
	int r;

	assert_int_equal(chmod(a->root, 0711), 0);
	assert_int_equal(fchmodat(a->h.paths.run_fd, "handler.sock", 0666, 0), 0);
	(void)fd_close(c->fd);
	c->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	(void)snprintf(sa.sun_path, sizeof sa.sun_path, "%s/handler.sock", a->h.paths.run);
	assert_int_equal(seteuid(65534), 0);
	r = connect(c->fd, (struct sockaddr *)&sa, sizeof sa);
	assert_int_equal(seteuid(0), 0);
	assert_int_equal(r, 0);
	client_request(c, "GET", "/version", "", NULL);
	assert_int_equal(client_answer(c, &got), 403);
	assert_string_equal(json_str(got, "reason"), "Forbidden");
	assert_string_equal(json_str(got, "message"),
			    "only root and the user that runs virt-handler "
			    "may use this socket");
	client_close(c);
}

static void test_health(void **state)
{
	static const char *const paths[] = {"/healthz", "/livez", "/readyz"};

	for (size_t i = 0; i < ARRAY_SIZE(paths); i++) {
		struct client *c = client_open(*state);
		_cleanup_free_ char *header = NULL;
		_cleanup_free_ char *body = NULL;

		client_request(c, "GET", paths[i], "", NULL);
		assert_int_equal(client_header(c, &header), 200);
		body = client_bytes(c, 2);
		assert_string_equal(body, "ok");
		client_close(c);
	}
}

static void test_head(void **state)
{
	struct client *c = client_open(*state);
	_cleanup_free_ char *header = NULL;
	_cleanup_json_ json_t *next = NULL;

	client_request(c, "HEAD", "/api", "", NULL);
	assert_int_equal(client_header(c, &header), 200);
	/* no body: the next answer on this connection follows at once */
	client_request(c, "GET", "/api", "", NULL);
	assert_int_equal(client_answer(c, &next), 200);
	assert_string_equal(json_str(next, "kind"), "APIVersions");
	client_close(c);
}

static void test_malformed(void **state)
{
	static const char *const texts[] = {
		"nonsense\r\n\r\n",
		"GET\r\n\r\n",
		"GET /version HTTP/1.1\r\nno colon here\r\n\r\n",
		"POST /api/v1/namespaces HTTP/1.1\r\nHost: x\r\nContent-Length: many\r\n\r\n",
		"POST /api/v1/namespaces HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n",
		"GET /version HTTP/1.1\r\n\r\n", /* a Host header is missing */
	};

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		struct client *c = client_open(*state);
		_cleanup_free_ char *header = NULL;

		client_send(c, texts[i], strlen(texts[i]));
		if (client_header(c, &header) == 200)
			fail_msg("answered: %s", texts[i]);
		client_close(c);
		expect_alive(*state);
	}
}

/* Bytes of every kind, in a fixed pseudo-random order. */
static void test_noise(void **state)
{
	uint32_t seed = 1;

	for (int round = 0; round < 50; round++) {
		struct client *c = client_open(*state);
		char noise[512];

		for (size_t i = 0; i < sizeof noise; i++) {
			seed = seed * 1664525u + 1013904223u;
			noise[i] = (char)(seed >> 24);
		}
		client_send(c, noise, sizeof noise);
		api_turn(*state);
		client_close(c);
	}
	expect_alive(*state);
	while (!server_idle(&((struct api *)*state)->h))
		api_turn(*state);
}

static void test_long_header(void **state)
{
	struct client *c = client_open(*state);
	_cleanup_free_ char *header = NULL;
	_cleanup_free_ char *text = xcalloc(1, 200001);
	int code;

	memset(text, 'a', 200000);
	client_send(c, "GET /version HTTP/1.1\r\nHost: x\r\nX-Long: ", 40);
	client_send(c, text, 200000);
	code = client_header(c, &header);
	assert_true(code == 431 || code == 413);
	client_close(c);
	expect_alive(*state);
}

static void expect_too_big(struct client *c)
{
	_cleanup_json_ json_t *got = NULL;

	assert_int_equal(client_answer(c, &got), 413);
	assert_string_equal(json_str(got, "reason"), "RequestEntityTooLarge");
	assert_string_equal(json_str(got, "message"),
			    "Request entity too large: limit is 4194304 bytes");
}

/* Announced: refused before a byte of the body. */
static void test_big_body(void **state)
{
	struct client *c = client_open(*state);
	static const char head[] = "POST /api/v1/namespaces HTTP/1.1\r\nHost: x\r\n"
				   "Content-Length: 4194305\r\n\r\n";

	client_send(c, head, sizeof head - 1);
	expect_too_big(c);
	client_close(c);
}

/* Not announced: read to its end, and not kept. */
static void test_big_chunks(void **state)
{
	static const char head[] = "POST /api/v1/namespaces HTTP/1.1\r\nHost: x\r\n"
				   "Transfer-Encoding: chunked\r\n\r\n";
	struct client *c = client_open(*state);
	_cleanup_free_ char *chunk = xcalloc(1, 65536);

	memset(chunk, ' ', 65536);
	client_send(c, head, sizeof head - 1);
	for (int i = 0; i < 70; i++) { /* 4.4 MiB */
		client_send(c, "10000\r\n", 7);
		client_send(c, chunk, 65536);
		client_send(c, "\r\n", 2);
	}
	client_send(c, "0\r\n\r\n", 5);
	expect_too_big(c);
	client_close(c);
	expect_alive(*state);
}

/* The largest body that is taken. */
static void test_full_body(void **state)
{
	static const char object[] = "{\"apiVersion\": \"v1\", \"kind\": \"Namespace\", "
				     "\"metadata\": {\"name\": \"full\"}}";
	_cleanup_free_ char *body = xcalloc(1, CALL_BODY_MAX + 1);
	_cleanup_json_ json_t *got = NULL;

	memset(body, ' ', CALL_BODY_MAX);
	memcpy(body, object, sizeof object - 1);
	assert_int_equal(api_call(*state, "POST", "/api/v1/namespaces", body, &got), 201);
}

/* Those above the bound wait in the kernel's queue until others have gone. */
static void test_many_connections(void **state)
{
	struct api *a = *state;
	struct client *c[300];
	size_t before = open_fds();

	for (size_t i = 0; i < ARRAY_SIZE(c); i++) {
		c[i] = client_open(a);
		while (sd_event_run(a->h.event, 0) > 0) /* accept it, or not */
			;
	}
	assert_int_equal(open_fds() - before, 300 + 256);
	for (size_t i = 0; i < 256; i++) {
		_cleanup_json_ json_t *got = NULL;

		client_request(c[i], "GET", "/version", "", NULL);
		assert_int_equal(client_answer(c[i], &got), 200);
	}
	for (size_t i = 0; i < ARRAY_SIZE(c) - 256; i++)
		client_close(c[i]);
	for (size_t i = 256; i < ARRAY_SIZE(c); i++) {
		_cleanup_json_ json_t *got = NULL;

		client_request(c[i], "GET", "/version", "", NULL);
		assert_int_equal(client_answer(c[i], &got), 200);
	}
	for (size_t i = ARRAY_SIZE(c) - 256; i < ARRAY_SIZE(c); i++)
		client_close(c[i]);
	while (!server_idle(&a->h))
		api_turn(a);
	assert_int_equal(open_fds(), before);
}

static int setup_impatient(void **state)
{
	static const struct server_options options = {.timeout_seconds = 1, .connections = 5};

	*state = api_open(&options);
	return 0;
}

/* Many events in a row, more than a socket takes. */
static void publish(struct api *a, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		node_publish(&a->h);
}

/*
 * Neither silence nor half a request keeps a connection for ever; a watch may be silent, and its
 * client may let it wait.
 */
static void test_slow_clients(void **state)
{
	static const char begun[] = "POST /api/v1/namespaces HTTP/1.1\r\nHost: x\r\n"
				    "Content-Length: 99\r\n\r\n{";
	struct api *a = *state;
	struct client *silent = client_open(a), *half = client_open(a), *watch = client_open(a),
		      *unread = client_open(a);
	_cleanup_free_ char *header = NULL;
	_cleanup_free_ char *body = NULL;
	_cleanup_json_ json_t *event = NULL;
	_cleanup_json_ json_t *got = NULL;

	client_send(half, begun, sizeof begun - 1);
	client_request(watch, "GET", VMIS "?watch=1", "", NULL);
	assert_int_equal(client_header(watch, &header), 200);
	client_request(unread, "GET", "/api/v1/nodes?watch=1", "", NULL);
	free(client_until(unread, "\r\n\r\n"));
	publish(a, 400);
	while (!silent->ended)
		client_more(silent);
	while (!half->ended)
		client_more(half);
	body = vmi_text("one", "a");
	assert_int_equal(api_call(a, "POST", VMIS, body, &got), 201);
	event = client_event(watch);
	assert_string_equal(json_str(event, "type"), "ADDED");
	for (unsigned i = 0; i < 401; i++) { /* the first one is the state */
		_cleanup_json_ json_t *node = client_event(unread);

		assert_non_null(node);
	}
	client_close(unread);
	client_close(silent);
	client_close(half);
	client_close(watch);
}

/* Escapes name what they say, but none cuts a path or adds a part to it. */
static void test_escapes(void **state)
{
	struct api *a = *state;
	static const struct {
		const char *path;
		int code;
	} rows[] = {
		{VMIS "/%6fne", 200},
		{VMIS "/one%00x", 404},
		{VMIS "/one%2fconsole", 404},
		{VMIS "%2fone", 404},
		{VMIS "/one%zz", 404},
		{VMIS "?labelSelector=kubevirt.io%2FnodeName%3Dx", 200},
	};
	_cleanup_free_ char *body = vmi_text("one", "a");
	_cleanup_json_ json_t *made = NULL;

	assert_int_equal(api_call(a, "POST", VMIS, body, &made), 201);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		_cleanup_json_ json_t *got = NULL;

		assert_int_equal(api_call(a, "GET", rows[i].path, "", &got), rows[i].code);
	}
}

static void test_idle(void **state)
{
	struct api *a = *state;
	struct client *c;

	assert_true(server_idle(&a->h));
	c = client_open(a);
	while (server_idle(&a->h))
		api_turn(a);
	client_close(c);
	while (!server_idle(&a->h))
		api_turn(a);
}

static void test_closes_with_clients(void **state)
{
	struct api *a = *state;
	size_t before = open_fds();
	struct client *c[3] = {client_open(a), client_open(a), client_open(a)};
	_cleanup_free_ char *header = NULL;

	client_request(c[0], "GET", VMIS "?watch=1", "", NULL);
	assert_int_equal(client_header(c[0], &header), 200);
	client_send(c[1], "GET /ver", 8);
	server_close(&a->h);
	for (size_t i = 0; i < ARRAY_SIZE(c); i++) {
		char byte;

		while (recv(c[i]->fd, &byte, 1, 0) > 0) /* a chunked answer's end may come first */
			;
		client_close(c[i]);
	}
	assert_true(open_fds() < before); /* the listening socket went, too */
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_socket),
		TEST(test_other_user),
		TEST(test_health),
		TEST(test_head),
		TEST(test_malformed),
		TEST(test_noise),
		TEST(test_long_header),
		TEST(test_big_body),
		TEST(test_big_chunks),
		TEST(test_full_body),
		TEST(test_many_connections),
		cmocka_unit_test_setup_teardown(test_slow_clients, setup_impatient, teardown),
		TEST(test_escapes),
		TEST(test_idle),
		TEST(test_closes_with_clients),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
