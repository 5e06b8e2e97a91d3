// SPDX-License-Identifier: Apache-2.0
/*
 * Step net and its undo on real links, in a network namespace of the test's own; and the removal of what
 * no pod owns: links, namespaces, groups with their processes, pod directories.
 */
#include "tests/unit/handler/lab.h"

#include "handler/leftovers.h"
#include "handler/linknames.h"
#include "handler/poddir.h"
#include "handler/steps.h"

#include "net/bridge.h"
#include "net/netns.h"
#include "net/read.h"

#include <sys/stat.h>

/* A pod with one interface on network default/NETWORK; its walk has come to step net. */
static struct pod *new_pod(struct lab *l, const char *uid, const char *network)
{
	struct pod *pod = lab_pod(l, uid, uid);
	struct plan_nic *nic;

	pod->plan = xcalloc(1, sizeof *pod->plan);
	pod->plan->isolation.net = true;
	pod->plan->n_nics = 1;
	nic = &pod->plan->nics[0];
	nic->name = xstrdup("blue");
	nic->network = xasprintf("default/%s", network);
	nic->model = xstrdup("virtio-net-pci");
	memcpy(nic->mac, (uint8_t[]){2, 0, 0, 0, 0, 1}, 6);
	nic->mtu = 1500;
	nic->queues = 1;
	pod->record.host_id = 4242;
	pod->record.step = pod_step_index("net");
	return pod;
}

/* The same after kill -9: what the record keeps, no descriptor. */
static struct pod *revive(struct lab *l, struct pod *pod)
{
	struct pod *again = new_pod(l, UID_B, "x");

	plan_free(again->plan);
	again->plan = TAKE_PTR(pod->plan);
	free(again->record.uid);
	again->record.uid = xstrdup(pod->record.uid);
	pod_free(pod);
	return again;
}

static void must_do(struct lab *l, struct pod *pod)
{
	if (step_net(pod, &l->err) < 0)
		fail_msg("%s", l->err.msg);
}

static void undo(struct lab *l, struct pod *pod)
{
	if (undo_net(pod, &l->err) < 0)
		fail_msg("%s", l->err.msg);
	assert_int_equal(undo_net(pod, &l->err), 0);
}

static size_t links_of(struct lab *l)
{
	json_t *links = NULL;
	size_t n;

	assert_int_equal(net_list_ours(l->h.paths.tag, &links, &l->err), 0);
	n = json_array_size(links);
	json_decref(links);
	return n;
}

static bool is_there(struct lab *l, const char *folder, const char *uid)
{
	_cleanup_free_ char *path = xasprintf("%s/%s", folder, uid);

	return faccessat(l->h.paths.run_fd, path, F_OK, 0) == 0;
}

static void test_step(void **state)
{
	struct lab *l = *state;
	struct pod *pod = new_pod(l, UID_A, "net");
	int before = lab_count_fds();

	must_do(l, pod);
	assert_int_equal(links_of(l), 2); /* bridge and veth */
	assert_true(is_there(l, "netns", UID_A));
	assert_true(pod->netns_fd >= 0);
	assert_int_equal(pod->n_fds, 1);
	assert_string_equal(pod->fds[0].name, "tap:blue:0");
	(void)undo_disks(pod, NULL); /* closes what was for QEMU */
	undo(l, pod);
	assert_int_equal(links_of(l), 0);
	assert_false(is_there(l, "netns", UID_A));
	assert_int_equal(lab_count_fds(), before);
}

/* The network's bridge is made by its first pod and goes with its last. */
static void test_two_pods(void **state)
{
	struct lab *l = *state;
	struct pod *a = new_pod(l, UID_A, "net"), *b = new_pod(l, UID_B, "net");

	must_do(l, a);
	must_do(l, b);
	assert_int_equal(links_of(l), 3);
	undo(l, a);
	assert_int_equal(links_of(l), 2);
	undo(l, b);
	assert_int_equal(links_of(l), 0);
}

static void test_undo_from_record(void **state)
{
	struct lab *l = *state;
	struct pod *pod = new_pod(l, UID_A, "net");

	must_do(l, pod);
	pod = revive(l, pod);
	undo(l, pod);
	assert_int_equal(links_of(l), 0);
	assert_false(is_there(l, "netns", UID_A));
}

/* Killed between any two of its acts: what is there goes, what is not does no harm. */
static void test_undo_half_done(void **state)
{
	struct lab *l = *state;
	struct pod *pod = new_pod(l, UID_A, "net");
	struct link_names names;
	int dir, fd;

	undo(l, pod);
	assert_int_equal(mkdir_p_at(l->h.paths.run_fd, "netns", 0700), 0);
	dir = openat(l->h.paths.run_fd, "netns", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	(void)fd_close(
		openat(dir, UID_A, O_RDWR | O_CREAT | O_CLOEXEC, 0600)); /* pins nothing yet */
	undo(l, pod);
	assert_false(is_there(l, "netns", UID_A));
	assert_int_equal(netns_create(dir, UID_A, &fd, &l->err), 0);
	(void)fd_close(fd);
	link_names(&l->h.paths, UID_A, &pod->plan->nics[0], &names);
	assert_int_equal(net_bridge_ensure(&(struct net_bridge_spec){.name = names.bridge,
								     .tag = names.bridge_tag,
								     .mtu = 1500},
					   &l->err),
			 0);
	undo(l, pod);
	assert_int_equal(links_of(l), 0);
	assert_false(is_there(l, "netns", UID_A));
	(void)fd_close(dir);
}

/* A bridge that somebody else made under the wanted name is refused, and left alone by the undo. */
static void test_foreign_bridge(void **state)
{
	struct lab *l = *state;
	struct pod *pod = new_pod(l, UID_A, "net");
	struct net_bridge_spec theirs = {.name = "br-lab", .tag = "ffffffff", .mtu = 1500};

	assert_int_equal(net_bridge_ensure(&theirs, &l->err), 0);
	pod->plan->nics[0].bridge = xstrdup("br-lab");
	assert_int_equal(step_net(pod, &l->err), -EEXIST);
	assert_non_null(strstr(l->err.msg, "interface 'blue'"));
	err_clear(&l->err);
	undo(l, pod);
	assert_int_equal(net_bridge_ports("br-lab", &l->err), 0);
	assert_int_equal(net_bridge_remove("br-lab", "ffffffff", &l->err), 0);
}

/* The same of the host's end of a veth. */
static void test_foreign_veth(void **state)
{
	struct lab *l = *state;
	struct pod *pod = new_pod(l, UID_A, "net");
	struct net_bridge_spec theirs = {.tag = "ffffffff", .mtu = 1500};
	struct link_names names;

	link_names(&l->h.paths, UID_A, &pod->plan->nics[0], &names);
	theirs.name = names.veth;
	assert_int_equal(net_bridge_ensure(&theirs, &l->err), 0);
	assert_int_equal(step_net(pod, &l->err), -EEXIST);
	assert_non_null(strstr(l->err.msg, "interface 'blue'"));
	err_clear(&l->err);
	undo(l, pod);
	assert_int_equal(links_of(l), 0);
	assert_int_equal(net_bridge_remove(names.veth, "ffffffff", &l->err), 0);
}

static void test_layer_off(void **state)
{
	struct lab *l = *state;
	struct pod *pod = new_pod(l, UID_A, "net");

	pod->plan->isolation.net = false;
	pod->plan->n_nics = 0;
	must_do(l, pod);
	assert_int_equal(pod->netns_fd, -1);
	assert_false(is_there(l, "netns", UID_A));
	undo(l, pod);
	pod->plan->n_nics = 1; /* for plan_free */
}

/* --- leftovers ------------------------------------------------------------------------------- */

static pid_t start_in_pod(struct lab *l, const char *uid)
{
	struct cgroup_pod_spec spec = {.uid = uid};
	int fds[2];
	pid_t pid;
	char byte;

	CPU_SET(0, &spec.emu);
	if (cgroup_pod_create(l->h.cgroups, &spec, &l->err) < 0)
		fail_msg("%s", l->err.msg);
	assert_int_equal(pipe(fds), 0);
	pid = fork();
	if (pid == 0) {
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (cgroup_pod_enter(l->h.cgroups, uid, /* born= */ false, &l->err) < 0 ||
		    write(fds[1], "x", 1) != 1)
			_exit(1);
		while (pause() < 0)
			;
	}
	assert_int_equal(read(fds[0], &byte, 1), 1);
	(void)close(fds[0]);
	(void)close(fds[1]);
	return pid;
}

static void make_all(struct lab *l, struct pod *pod)
{
	int fd;

	must_do(l, pod);
	(void)undo_disks(pod, NULL);
	assert_int_equal(poddir_create(&l->h, pod->record.uid, &fd, &l->err), 0);
	(void)fd_close(fd);
}

static bool lives(struct lab *l, const char *uid)
{
	bool empty = true;

	return cgroup_pod_empty(l->h.cgroups, uid, &empty, &l->err) == 0 && !empty;
}

/* One pod that nobody knows any more, one that is owned, in one network, and a third on its own. */
static void test_leftovers(void **state)
{
	struct lab *l = *state;
	struct pod *lost = new_pod(l, UID_A, "net"), *owned = new_pod(l, UID_B, "net");
	pid_t lost_pid = start_in_pod(l, UID_A), owned_pid = start_in_pod(l, UID_B);
	struct net_bridge_spec bridge = {.name = "vb-lost", .tag = l->h.paths.tag, .mtu = 1500};
	int status;

	make_all(l, lost);
	make_all(l, owned);
	pod_free(lost);
	assert_int_equal(net_bridge_ensure(&bridge, &l->err), 0);
	assert_int_equal(links_of(l), 4);
	leftovers_remove(&l->h);
	assert_int_equal(waitpid(lost_pid, &status, 0), lost_pid);
	assert_true(WIFSIGNALED(status));
	assert_false(is_there(l, "netns", UID_A));
	assert_false(is_there(l, "pods", UID_A));
	assert_int_equal(links_of(l), 2); /* the bridge that is used, and the owned port */
	assert_true(lives(l, UID_B));
	assert_true(is_there(l, "netns", UID_B));
	assert_true(is_there(l, "pods", UID_B));
	pod_free(owned);
	leftovers_remove(&l->h);
	assert_int_equal(waitpid(owned_pid, NULL, 0), owned_pid);
	assert_int_equal(links_of(l), 0);
	assert_false(is_there(l, "netns", UID_B));
	assert_false(is_there(l, "pods", UID_B));
	assert_int_equal(leftovers_remove(&l->h), 0); /* and nothing is no error */
	assert_int_equal(rm_rf_at(l->h.paths.run_fd, "netns"), 0);
	assert_int_equal(leftovers_remove(&l->h), 0);
	assert_int_equal(file_replace_at(l->h.paths.run_fd, "netns", "", 0, 0600), 0);
	assert_int_equal(leftovers_remove(&l->h), 1); /* what can't be read is not empty */
	assert_int_equal(unlinkat(l->h.paths.run_fd, "netns", 0), 0);
}

/* What another root of this host made is not ours to remove. */
static void test_other_root(void **state)
{
	struct lab *l = *state, *other = lab_open(NULL);
	struct pod *theirs = new_pod(other, UID_A, "net");
	pid_t pid = start_in_pod(other, UID_A);

	make_all(other, theirs);
	leftovers_remove(&l->h);
	assert_int_equal(links_of(other), 2);
	assert_true(lives(other, UID_A));
	assert_true(is_there(other, "pods", UID_A));
	pod_free(theirs);
	leftovers_remove(&other->h);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	assert_int_equal(links_of(other), 0);
	lab_close(other);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, lab_setup_here, lab_teardown)

static int run(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_step),	   TEST(test_two_pods),	      TEST(test_undo_from_record),
		TEST(test_undo_half_done), TEST(test_foreign_bridge), TEST(test_foreign_veth),
		TEST(test_layer_off),	   TEST(test_leftovers),      TEST(test_other_root),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

int main(void)
{
	return lab_main(run);
}
