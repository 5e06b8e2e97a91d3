// SPDX-License-Identifier: Apache-2.0
/*
 * What is taken from a pod's network, and given back, is heard of where it happens: in the pod's namespace,
 * in the host's (which is the test's own, so that nothing else happens there), and among the mounts.
 */
#include "tests/unit/handler/lab.h"

#include "handler/launcher.h"
#include "handler/linknames.h"
#include "handler/status.h"
#include "handler/steps.h"
#include "handler/wires.h"

#include "net/addr.h"
#include "net/link.h"
#include "net/nlsock.h"

#define CONDITION "virtpod.io/Network"

struct wired {
	struct lab *l;
	struct pod *pod;
	struct link_names names;
};

/* A process in the pod's namespace is its QEMU as far as this goes. */
static pid_t start_qemu(const struct pod *pod)
{
	int fds[2];
	pid_t pid;
	char byte;

	assert_int_equal(pipe(fds), 0);
	pid = fork();
	if (pid == 0) {
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (setns(pod->netns_fd, CLONE_NEWNET) < 0 || write(fds[1], "x", 1) != 1)
			_exit(1);
		(void)close_range(3, ~0u, 0);
		while (pause() < 0)
			;
	}
	assert_int_equal(read(fds[0], &byte, 1), 1);
	(void)close(fds[0]);
	(void)close(fds[1]);
	return pid;
}

static const char *said(const struct wired *w)
{
	const char *text = json_str(status_condition(w->pod->status, CONDITION), "message");

	return text ? text : "";
}

/* Until it says just this; only a test that fails waits for it in vain. */
static void expect(struct wired *w, const char *text)
{
	for (int i = 0; i < 20 && !str_eq(said(w), text); i++)
		assert_true(sd_event_run(w->l->h.event, 1000000) >= 0);
	assert_string_equal(said(w), text);
}

/* What the kernel has to say of what was done (of carriers it tells late) has been heard, and looked at. */
static void quiet(struct lab *l)
{
	int n = 0;

	while (sd_event_run(l->h.event, 1000000) > 0)
		assert_true(++n < 1000);
}

static void wire(struct wired *w, struct lab *l)
{
	struct pod *pod = lab_pod(l, UID_A, "one");
	struct plan_nic *nic;

	*w = (struct wired){.l = l, .pod = pod};
	pod->plan = xcalloc(1, sizeof *pod->plan);
	pod->plan->isolation.net = true;
	pod->plan->n_nics = 1;
	nic = &pod->plan->nics[0];
	nic->name = xstrdup("blue");
	nic->network = xstrdup("default/net");
	nic->model = xstrdup("virtio-net-pci");
	nic->gateway = xstrdup("10.9.0.1/24");
	memcpy(nic->mac, (uint8_t[]){2, 0, 0, 0, 0, 1}, 6);
	nic->mtu = 1500;
	nic->queues = 1;
	pod->record.host_id = 4242;
	if (step_net(pod, &l->err) < 0 || wires_open(&l->h, &l->err) < 0)
		fail_msg("%s", l->err.msg);
	link_names(&l->h.paths, UID_A, nic, &w->names);
	pod->qemu_pid = start_qemu(pod);
	assert_int_equal(launcher_watch_qemu(pod, &l->err), 0);
	pod->state = POD_RUNNING;
	wires_watch(pod);
	quiet(l);
	assert_string_equal(said(w), "");
}

static void unwire(struct wired *w)
{
	wires_close(&w->l->h);
	assert_int_equal(kill(w->pod->qemu_pid, SIGKILL), 0);
	assert_int_equal(waitpid(w->pod->qemu_pid, NULL, 0), w->pod->qemu_pid);
	if (undo_net(w->pod, &w->l->err) < 0)
		fail_msg("%s", w->l->err.msg);
	assert_string_equal(said(w), "");
}

static struct nl_sock *open_link(int netns, const char *name, struct linkinfo *ret)
{
	struct nl_sock *sk = NULL;
	struct err err = {0};

	if (nlsock_open(netns, &sk, &err) < 0 || linkinfo_get(sk, name, ret, &err) < 0)
		fail_msg("%s", err.msg);
	return sk;
}

static void delete (int netns, const char *name)
{
	struct linkinfo l;
	_cleanup_nlsock_ struct nl_sock *sk = open_link(netns, name, &l);

	assert_int_equal(link_delete(sk, &l, NULL), 0);
}

/* Each of these alone is heard: nothing else happens meanwhile. */
static void test_tap(void **state)
{
	struct wired w;

	wire(&w, *state);
	delete (w.pod->netns_fd, "tap16477688c0e");
	expect(&w, "pod link tap16477688c0e (interface blue) is absent, must be \"tun\"");
	unwire(&w);
}

static void test_veth(void **state)
{
	_cleanup_free_ char *text = NULL;
	struct wired w;

	wire(&w, *state);
	text = xasprintf("pod link 16477688c0e-nic (interface blue) is absent, must be \"veth\"; "
			 "host link %s (interface blue) is absent, must be \"veth\"",
			 w.names.veth);
	delete (-1, w.names.veth);
	expect(&w, text);
	unwire(&w);
}

static void test_bridge_address(void **state)
{
	_cleanup_free_ char *text = NULL;
	struct linkinfo l;
	struct wired w;

	wire(&w, *state);
	{
		_cleanup_nlsock_ struct nl_sock *sk = open_link(-1, w.names.bridge, &l);

		text = xasprintf("host link %s addresses is [], must be \"10.9.0.1/24\"",
				 w.names.bridge);
		assert_int_equal(addr_flush(sk, &l, NULL, NULL), 0);
		expect(&w, text);
		assert_int_equal(addr_add(sk, &l, "10.9.0.1/24", NULL), 0);
		expect(&w, "");
	}
	unwire(&w);
}

/* Nothing in the pod's namespace is to have an address; the host hears nothing of it. */
static void test_pod_address(void **state)
{
	struct linkinfo l;
	struct wired w;

	wire(&w, *state);
	{
		_cleanup_nlsock_ struct nl_sock *sk =
			open_link(w.pod->netns_fd, "k6t-16477688c0e", &l);

		assert_int_equal(addr_add(sk, &l, "10.9.0.7/24", NULL), 0);
		expect(&w, "pod link k6t-16477688c0e addresses is [\"10.9.0.7/24\"], must be []");
		assert_int_equal(addr_flush(sk, &l, NULL, NULL), 0);
		expect(&w, "");
	}
	unwire(&w);
}

static void test_pin(void **state)
{
	_cleanup_free_ char *path = NULL, *again = NULL;
	struct wired w;

	wire(&w, *state);
	path = xasprintf("%s/netns/%s", w.l->h.paths.run, UID_A);
	again = xasprintf("/proc/%d/ns/net", w.pod->qemu_pid);
	assert_int_equal(umount2(path, MNT_DETACH), 0);
	expect(&w, "network namespace pinned below run/netns is false, must be true");
	/* another namespace is not its own */
	assert_int_equal(mount("/proc/self/ns/net", path, NULL, MS_BIND, NULL), 0);
	assert_false(wires_pinned(w.pod, w.pod->qemu_pid));
	assert_int_equal(umount2(path, MNT_DETACH), 0);
	assert_int_equal(mount(again, path, NULL, MS_BIND, NULL), 0);
	expect(&w, "");
	unwire(&w);
}

/* A QEMU that has ended needs no links, and a pod that is being undone has none soon. */
static void test_ended(void **state)
{
	struct wired w;

	wire(&w, *state);
	w.pod->state = POD_UNDOING;
	delete (-1, w.names.veth);
	quiet(w.l);
	assert_string_equal(said(&w), "");
	unwire(&w);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, lab_setup_here, lab_teardown)

static int run(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_tap), TEST(test_veth),  TEST(test_pod_address), TEST(test_bridge_address),
		TEST(test_pin), TEST(test_ended),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

int main(void)
{
	return lab_main(run);
}
