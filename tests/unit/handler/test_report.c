// SPDX-License-Identifier: Apache-2.0
/* inspect over HTTP waits for QEMU's answer: it comes, the client leaves, the server closes. */
#include "tests/unit/handler/api.h"

#define INSPECT                                                                                    \
	"/apis/subresources.virtpod.io/v1/namespaces/default/virtualmachineinstances/one/inspect"

static struct {
	void (*done)(void *arg);
	void *arg;
	unsigned asked, read;
	int refuse;
} fake;

static int fake_refresh(struct handler *h, const char *ns, const char *name,
			void (*done)(void *arg), void *arg)
{
	(void)h;
	assert_string_equal(ns, "default");
	assert_string_equal(name, "one");
	fake.asked++;
	fake.done = done;
	fake.arg = arg;
	return fake.refuse;
}

static int fake_inspect(struct handler *h, const char *ns, const char *name, json_t **ret,
			struct err *err)
{
	(void)h;
	(void)ns;
	(void)name;
	(void)err;
	fake.read++;
	*ret = json_pack("{s:b}", "read", 1);
	return 0;
}

static int setup(void **state)
{
	static const struct server_options options = {.timeout_seconds = 30,
						      .connections = 16,
						      .refresh = fake_refresh,
						      .inspect = fake_inspect,
						      .verify = fake_inspect};

	memset(&fake, 0, sizeof fake);
	*state = api_open(&options);
	return 0;
}

static int teardown(void **state)
{
	api_close(*state);
	return 0;
}

static struct client *ask(struct api *a)
{
	struct client *c = client_open(a);

	client_request(c, "GET", INSPECT, "", NULL);
	while (!fake.asked)
		api_turn(a);
	assert_int_equal(fake.read, 0); /* the kernel is not read before QEMU has answered */
	return c;
}

static void test_answered(void **state)
{
	struct api *a = *state;
	struct client *c = ask(a);
	_cleanup_free_ char *header = NULL;

	fake.done(fake.arg);
	assert_int_equal(client_header(c, &header), 200);
	assert_int_equal(fake.asked, 1);
	assert_int_equal(fake.read, 1);
	client_close(c);
}

/* A VM that does not run has nobody to ask: the kernel's word alone. */
static void test_nobody_to_ask(void **state)
{
	struct api *a = *state;
	struct client *c = client_open(a);
	_cleanup_free_ char *header = NULL;

	fake.refuse = -ENOENT;
	client_request(c, "GET", INSPECT, "", NULL);
	assert_int_equal(client_header(c, &header), 200);
	assert_int_equal(fake.read, 1);
	client_close(c);
}

static void test_client_left(void **state)
{
	struct api *a = *state;

	client_close(ask(a));
	fake.done(fake.arg);
	while (!server_idle(&a->h))
		api_turn(a);
}

static void test_closed_meanwhile(void **state)
{
	struct api *a = *state;
	struct client *c = ask(a);

	server_close(&a->h);
	fake.done(fake.arg); /* as the channel's end does it */
	assert_int_equal(fake.read, 0);
	client_close(c);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_answered),
		TEST(test_nobody_to_ask),
		TEST(test_client_left),
		TEST(test_closed_meanwhile),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
