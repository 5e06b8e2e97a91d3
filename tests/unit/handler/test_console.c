// SPDX-License-Identifier: Apache-2.0
/* The console: handshake, refusals, frames both ways, back-pressure, and every way to end. */
#include "tests/unit/handler/api.h"

#include "handler/vmi.h"

#define CONSOLE                                                                                    \
	"/apis/subresources.kubevirt.io/v1/namespaces/default/virtualmachineinstances/vm/console"
#define HANDSHAKE                                                                                  \
	"Connection: keep-alive, Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"   \
	"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"                                          \
	"Sec-WebSocket-Protocol: plain.kubevirt.io\r\n"

enum { OP_CONTINUE = 0, OP_TEXT = 1, OP_BINARY = 2, OP_CLOSE = 8, OP_PING = 9, OP_PONG = 10 };

/* The launcher's side of pod_console. */
static struct {
	int refuse; /* what it returns at once; 0: it takes the descriptor */
	int fd;
	void (*done)(void *arg, int r, const struct err *err);
	void *arg;
} pod;

static int fake_console(struct handler *h, const char *ns, const char *name, int client_fd_consume,
			void (*done)(void *arg, int r, const struct err *err), void *arg,
			struct err *err)
{
	(void)h;
	assert_string_equal(ns, "default");
	assert_string_equal(name, "vm");
	if (pod.refuse) {
		(void)fd_close(client_fd_consume);
		return err_set(err, pod.refuse, "refused at once");
	}
	assert_int_equal(pod.fd, -1);
	assert_int_equal(fcntl(client_fd_consume, F_SETFL, O_NONBLOCK), 0);
	pod.fd = client_fd_consume;
	pod.done = done;
	pod.arg = arg;
	return 0;
}

static void set_phase(struct api *a, const char *phase)
{
	_cleanup_json_ json_t *vmi = NULL;
	_cleanup_json_ json_t *status = json_pack("{s:s}", "phase", phase);
	struct err err = {0};

	assert_int_equal(store_get(a->h.store, VMI_KIND, "default", "vm", &vmi, &err), 0);
	vmi_publish(&a->h, vmi, status);
}

static int setup(void **state)
{
	static const struct server_options options = {
		.timeout_seconds = 30, .connections = 16, .console = fake_console};
	_cleanup_free_ char *body = vmi_text("vm", "a");
	_cleanup_json_ json_t *got = NULL;
	struct api *a = api_open(&options);

	pod.refuse = 0;
	pod.fd = -1;
	pod.done = NULL;
	assert_int_equal(api_call(a, "POST", VMIS, body, &got), 201);
	set_phase(a, "Running");
	*state = a;
	return 0;
}

static int teardown(void **state)
{
	pod.fd = fd_close(pod.fd);
	api_close(*state);
	return 0;
}

static void expect_refusal(struct api *a, const char *headers, int code, const char *message)
{
	struct client *c = client_open(a);
	_cleanup_json_ json_t *got = NULL;

	client_request(c, "GET", CONSOLE, headers, NULL);
	assert_int_equal(client_answer(c, &got), code);
	assert_string_equal(json_str(got, "message"), message);
	client_close(c);
}

/* An upgraded console. */
static struct client *attach(struct api *a)
{
	struct client *c = client_open(a);
	_cleanup_free_ char *header = NULL;

	client_request(c, "GET", CONSOLE, HANDSHAKE, NULL);
	while (!pod.done)
		api_turn(a);
	pod.done(pod.arg, 0, NULL);
	assert_int_equal(client_header(c, &header), 101);
	assert_non_null(strstr(header, "Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n"));
	assert_non_null(strstr(header, "Sec-WebSocket-Protocol: plain.kubevirt.io\r\n"));
	assert_non_null(strstr(header, "Upgrade: websocket\r\n"));
	assert_non_null(strstr(header, "Connection: Upgrade\r\n"));
	return c;
}

/* One masked frame of the client. */
static void send_frame(struct client *c, int opcode, bool fin, const void *data, size_t len)
{
	_cleanup_free_ uint8_t *frame = xcalloc(1, len + 14);
	static const uint8_t mask[4] = {0x12, 0x34, 0x56, 0x78};
	size_t n = 0;

	frame[n++] = (uint8_t)((fin ? 0x80 : 0) | opcode);
	if (len < 126) {
		frame[n++] = (uint8_t)(0x80 | len);
	} else if (len < 65536) {
		frame[n++] = 0x80 | 126;
		frame[n++] = (uint8_t)(len >> 8);
		frame[n++] = (uint8_t)len;
	} else {
		frame[n++] = 0x80 | 127;
		for (int i = 7; i >= 0; i--)
			frame[n++] = (uint8_t)((uint64_t)len >> (8 * i));
	}
	memcpy(frame + n, mask, 4);
	n += 4;
	for (size_t i = 0; i < len; i++)
		frame[n + i] = ((const uint8_t *)data)[i] ^ mask[i % 4];
	client_send(c, frame, n + len);
}

static void need(struct client *c, size_t n)
{
	while (c->len < n && !c->ended)
		client_more(c);
	assert_true(c->len >= n);
}

/* One frame of the server: its opcode; *ret_len bytes of payload in *ret, the caller's. */
static int recv_frame(struct client *c, uint8_t **ret, size_t *ret_len)
{
	size_t len, head = 2;
	int opcode;

	need(c, 2);
	assert_int_equal(c->in[0] & 0x70, 0);
	assert_int_equal(c->in[0] & 0x80, 0x80); /* whole messages */
	assert_int_equal(c->in[1] & 0x80, 0);	 /* a server does not mask */
	opcode = c->in[0] & 0x0f;
	len = c->in[1] & 0x7f;
	if (len == 126) {
		need(c, 4);
		len = (size_t)(uint8_t)c->in[2] << 8 | (uint8_t)c->in[3];
		head = 4;
	}
	assert_int_not_equal(len, 127); /* 64 KiB or more in one frame are not ours */
	need(c, head + len);
	*ret = xcalloc(1, len + 1);
	memcpy(*ret, c->in + head, len);
	*ret_len = len;
	client_drop(c, head + len);
	return opcode;
}

static void expect_frame(struct client *c, int opcode, const char *payload)
{
	_cleanup_free_ uint8_t *data = NULL;
	size_t len = 0;

	assert_int_equal(recv_frame(c, &data, &len), opcode);
	assert_string_equal((char *)data, payload);
}

/* A Close with this code; 0: without one. */
static void expect_close(struct client *c, int code)
{
	_cleanup_free_ uint8_t *data = NULL;
	size_t len = 0;

	assert_int_equal(recv_frame(c, &data, &len), OP_CLOSE);
	assert_int_equal(len, code ? 2 : 0);
	if (code)
		assert_int_equal(data[0] << 8 | data[1], code);
}

static void expect_end(struct client *c)
{
	while (!c->ended)
		client_more(c);
	assert_int_equal(c->len, 0);
}

/* What the pod got, at least n bytes. */
static void expect_pod(struct api *a, const char *want)
{
	char buf[256] = "";
	size_t len = 0;

	while (len < strlen(want)) {
		ssize_t n = recv(pod.fd, buf + len, sizeof buf - 1 - len, 0);

		if (n < 0 && errno == EAGAIN)
			api_turn(a);
		else if (n > 0)
			len += (size_t)n;
		else
			fail_msg("the pod's side has ended");
	}
	assert_string_equal(buf, want);
}

static void test_handshake_refused(void **state)
{
	struct client *c = client_open(*state);
	_cleanup_free_ char *header = NULL;

	expect_refusal(*state, "", 400,
		       "the console is a WebSocket; this request asks for no upgrade");
	expect_refusal(*state,
		       "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n",
		       400, "Sec-WebSocket-Key: must be 16 bytes in base64 (24 letters)");
	client_request(c, "GET", CONSOLE,
		       "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 8\r\n",
		       NULL);
	assert_int_equal(client_header(c, &header), 426);
	assert_non_null(strstr(header, "Sec-WebSocket-Version: 13\r\n"));
	client_close(c);
	assert_null(pod.done);
}

static void test_vmi_refused(void **state)
{
	struct api *a = *state;
	struct client *c = client_open(a);
	_cleanup_json_ json_t *got = NULL;

	set_phase(a, "Scheduling");
	expect_refusal(a, HANDSHAKE, 400, "VMI is not running");
	set_phase(a, "Failed");
	expect_refusal(
		a, HANDSHAKE, 409,
		"Operation cannot be fulfilled on virtualmachineinstances.kubevirt.io \"vm\": "
		"VMI is in failed status");
	client_request(c, "GET",
		       "/apis/subresources.kubevirt.io/v1/namespaces/default/"
		       "virtualmachineinstances/none/console",
		       HANDSHAKE, NULL);
	assert_int_equal(client_answer(c, &got), 404);
	client_close(c);
	set_phase(a, "Running");
	pod.refuse = -ENOENT;
	expect_refusal(a, HANDSHAKE, 400, "VMI is not running");
	assert_null(pod.done);
}

static void test_launcher_refuses(void **state)
{
	struct api *a = *state;
	struct client *c = client_open(a);
	_cleanup_json_ json_t *got = NULL;
	struct err err = {.code = -EBUSY, .msg = "another client has the console"};

	client_request(c, "GET", CONSOLE, HANDSHAKE, NULL);
	while (!pod.done)
		api_turn(a);
	pod.done(pod.arg, -EBUSY, &err);
	assert_int_equal(client_answer(c, &got), 409);
	assert_string_equal(json_str(got, "message"), "another client has the console");
	assert_string_equal(json_str(got, "reason"), "Conflict");
	/* our end of the pair is closed, and the connection still good for more */
	assert_int_equal(recv(pod.fd, &(char){0}, 1, 0), 0);
	client_request(c, "GET", "/version", "", NULL);
	json_decref(got);
	assert_int_equal(client_answer(c, &got), 200);
	client_close(c);
}

static void test_both_ways(void **state)
{
	struct client *c = attach(*state);

	assert_int_equal(send(pod.fd, "login: ", 7, 0), 7);
	expect_frame(c, OP_BINARY, "login: ");
	send_frame(c, OP_BINARY, true, "root\n", 5);
	expect_pod(*state, "root\n");
	send_frame(c, OP_TEXT, true, "text\n", 5); /* is taken, too */
	expect_pod(*state, "text\n");
	client_close(c);
}

static void test_fragments(void **state)
{
	struct client *c = attach(*state);

	send_frame(c, OP_BINARY, false, "one ", 4);
	send_frame(c, OP_PING, true, "between", 7);
	send_frame(c, OP_CONTINUE, false, "two ", 4);
	send_frame(c, OP_CONTINUE, true, "three", 5);
	expect_pod(*state, "one two three");
	expect_frame(c, OP_PONG, "between");
	client_close(c);
}

/* Bytes that came with the request, before the 101, belong to the console. */
static void test_early_bytes(void **state)
{
	static const char text[] = "GET " CONSOLE " HTTP/1.1\r\nHost: x\r\n" HANDSHAKE "\r\n"
				   "\x82\x83\0\0\0\0abc";
	struct api *a = *state;
	struct client *c = client_open(a);
	_cleanup_free_ char *header = NULL;

	client_send(c, text, sizeof text - 1);
	while (!pod.done)
		api_turn(a);
	pod.done(pod.arg, 0, NULL);
	assert_int_equal(client_header(c, &header), 101);
	expect_pod(a, "abc");
	client_close(c);
}

static void test_client_closes(void **state)
{
	struct client *c = attach(*state);

	send_frame(c, OP_CLOSE, true, "\x03\xe8", 2);
	expect_close(c, 1000);
	expect_end(c);
	assert_int_equal(recv(pod.fd, &(char){0}, 1, 0), 0);
	client_close(c);
}

/* As KubeVirt's client ends: without a Close. */
static void test_client_vanishes(void **state)
{
	struct api *a = *state;
	struct client *c = attach(a);

	client_close(c);
	while (!server_idle(&a->h))
		api_turn(a);
	assert_int_equal(recv(pod.fd, &(char){0}, 1, 0), 0);
}

/* What it sent just before is not lost, even when it is more than is kept at once. */
static void test_last_words(void **state)
{
	struct api *a = *state;
	struct client *c = attach(a);
	_cleanup_free_ char *text = xcalloc(1, 200000);
	size_t got = 0;

	memset(text, 'x', 200000);
	send_frame(c, OP_BINARY, true, text, 200000);
	client_close(c);
	while (got < 200000) {
		ssize_t n = recv(pod.fd, text, 200000, 0);

		if (n < 0)
			api_turn(a);
		else if (n == 0)
			fail_msg("only %zu bytes came", got);
		else
			got += (size_t)n;
	}
	while (!server_idle(&a->h))
		api_turn(a);
}

/* The same of what came with the request. */
static void test_many_early_bytes(void **state)
{
	static const char text[] = "GET " CONSOLE " HTTP/1.1\r\nHost: x\r\n" HANDSHAKE "\r\n"
				   "\x82\xff\0\0\0\0\0\x01\x86\xa0\0\0\0\0"; /* 100000 bytes */
	struct api *a = *state;
	struct client *c = client_open(a);
	_cleanup_free_ char *body = xcalloc(1, 100000);
	_cleanup_free_ char *header = NULL;
	size_t got = 0;

	client_send(c, text, sizeof text - 1);
	client_send(c, body, 100000);
	while (!pod.done)
		api_turn(a);
	pod.done(pod.arg, 0, NULL);
	assert_int_equal(client_header(c, &header), 101);
	while (got < 100000) {
		ssize_t n = recv(pod.fd, body, 100000, 0);

		if (n < 0)
			api_turn(a);
		else
			got += (size_t)n;
	}
	client_close(c);
}

static void test_pod_closes(void **state)
{
	struct client *c = attach(*state);

	assert_int_equal(send(pod.fd, "bye", 3, 0), 3);
	pod.fd = fd_close(pod.fd);
	expect_frame(c, OP_BINARY, "bye");
	expect_close(c, 1000);
	send_frame(c, OP_CLOSE, true, "\x03\xe8", 2);
	expect_end(c);
	client_close(c);
}

static void test_protocol_errors(void **state)
{
	static const struct {
		const char *bytes;
		size_t len;
		int code;
	} cases[] = {
		{"\x82\x03"
		 "abc",
		 5, 1002},				       /* not masked */
		{"\xf2\x80\0\0\0\0", 6, 1002},		       /* reserved bits */
		{"\x83\x80\0\0\0\0", 6, 1002},		       /* no such opcode */
		{"\x80\x80\0\0\0\0", 6, 1002},		       /* continues nothing */
		{"\x82\xff\x80\0\0\0\0\0\0\0\0\0\0\0", 14, 0}, /* 2^63 bytes */
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct client *c = attach(*state);

		client_send(c, cases[i].bytes, cases[i].len);
		expect_close(c, cases[i].code);
		expect_end(c);
		client_close(c);
		pod.fd = fd_close(pod.fd);
		pod.done = NULL;
	}
}

/* A guest that floods a client that does not read is not read any more itself. */
static void test_flood_from_pod(void **state)
{
	struct api *a = *state;
	struct client *c = attach(a);
	_cleanup_free_ char *block = xcalloc(1, 65536);
	size_t sent = 0, got = 0;

	memset(block, 'x', 65536);
	for (;;) {
		ssize_t n = send(pod.fd, block, 65536, 0);

		if (n > 0)
			sent += (size_t)n;
		else if (sd_event_run(a->h.event, 0) == 0)
			break; /* the pod's side is full, and the server does nothing about it */
		assert_true(sent < (8u << 20));
	}
	while (got < sent) {
		_cleanup_free_ uint8_t *data = NULL;
		size_t len = 0;

		assert_int_equal(recv_frame(c, &data, &len), OP_BINARY);
		got += len;
	}
	assert_int_equal(got, sent); /* nothing was lost */
	client_close(c);
}

/* A client that sends without end to a pod that does not read is not read any more itself. */
static void test_flood_from_client(void **state)
{
	struct api *a = *state;
	struct client *c = attach(a);
	_cleanup_free_ uint8_t *frame = xcalloc(1, 65536 + 14);
	size_t sent = 0, got = 0, at = 0;

	/* one frame of 1 MiB - 14, begun and continued with zeros (the mask is 0, too) */
	memcpy(frame, "\x82\xff\0\0\0\0\0\x0f\xff\xf2\0\0\0\0", 14);
	for (;;) {
		size_t want = sent == 0 ? 14 : 65536;
		ssize_t n = send(c->fd, sent == 0 ? frame : frame + 14, want, MSG_NOSIGNAL);

		if (n > 0)
			sent += (size_t)n;
		else if (sd_event_run(a->h.event, 0) == 0)
			break;
		assert_true(sent < 1048576 - 65536);
	}
	while (at < sent - 14) {
		char buf[4096];
		ssize_t n = recv(pod.fd, buf, sizeof buf, 0);

		if (n < 0)
			api_turn(a);
		else
			got += (size_t)n;
		at = got;
	}
	assert_int_equal(got, sent - 14);
	client_close(c);
}

/* Pings without reading the pongs cost a bounded amount of memory. */
static void test_flood_of_pings(void **state)
{
	struct api *a = *state;
	struct client *c = attach(a);
	static const char ping[] = "\x89\x84\0\0\0\0ping";
	size_t n = 0, pongs = 0;

	for (;;) {
		if (send(c->fd, ping, sizeof ping - 1, MSG_NOSIGNAL) == (ssize_t)sizeof ping - 1)
			n++;
		else if (sd_event_run(a->h.event, 0) == 0)
			break;
		assert_true(n < 1000000);
	}
	while (pongs < n) {
		_cleanup_free_ uint8_t *data = NULL;
		size_t len = 0;

		assert_int_equal(recv_frame(c, &data, &len), OP_PONG);
		pongs++;
	}
	client_close(c);
}

/* The client leaves while the launcher is being asked. */
static void test_leaves_while_asked(void **state)
{
	struct api *a = *state;
	struct client *c = client_open(a);

	client_request(c, "GET", CONSOLE, HANDSHAKE, NULL);
	while (!pod.done)
		api_turn(a);
	client_close(c);
	pod.done(pod.arg, 0, NULL);
	while (!server_idle(&a->h))
		api_turn(a);
	assert_int_equal(recv(pod.fd, &(char){0}, 1, 0), 0);
}

/* The server closes while the launcher is being asked; its answer comes later. */
static void test_server_closes_while_asked(void **state)
{
	struct api *a = *state;
	struct client *c = client_open(a);

	client_request(c, "GET", CONSOLE, HANDSHAKE, NULL);
	while (!pod.done)
		api_turn(a);
	server_close(&a->h);
	pod.done(pod.arg, 0, NULL);
	assert_int_equal(recv(pod.fd, &(char){0}, 1, 0), 0);
	client_close(c);
}

/* … or has just come. */
static void test_server_closes_when_answered(void **state)
{
	struct api *a = *state;
	struct client *c = client_open(a);

	client_request(c, "GET", CONSOLE, HANDSHAKE, NULL);
	while (!pod.done)
		api_turn(a);
	pod.done(pod.arg, 0, NULL);
	server_close(&a->h);
	assert_int_equal(recv(pod.fd, &(char){0}, 1, 0), 0);
	client_close(c);
}

static void test_server_closes(void **state)
{
	struct api *a = *state;
	struct client *c = attach(a);

	server_close(&a->h);
	assert_int_equal(recv(pod.fd, &(char){0}, 1, 0), 0);
	assert_int_equal(recv(c->fd, &(char){0}, 1, 0), 0);
	client_close(c);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_handshake_refused),
		TEST(test_vmi_refused),
		TEST(test_launcher_refuses),
		TEST(test_both_ways),
		TEST(test_fragments),
		TEST(test_early_bytes),
		TEST(test_client_closes),
		TEST(test_client_vanishes),
		TEST(test_last_words),
		TEST(test_many_early_bytes),
		TEST(test_pod_closes),
		TEST(test_protocol_errors),
		TEST(test_flood_from_pod),
		TEST(test_flood_from_client),
		TEST(test_flood_of_pings),
		TEST(test_leaves_while_asked),
		TEST(test_server_closes_while_asked),
		TEST(test_server_closes_when_answered),
		TEST(test_server_closes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
