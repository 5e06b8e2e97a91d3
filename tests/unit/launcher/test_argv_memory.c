// SPDX-License-Identifier: Apache-2.0
/* What guest memory's pages, nodes and locking become on QEMU's command line. */
#include "tests/unit/unit.h"

#include "launcher/args.h"
#include "launcher/argv.h"
#include "tests/unit/launcher/plan_fixture.h"

#include <errno.h>
#include <string.h>

static const struct argv_fds fds = {.qmp = 5, .serial = 6, .kernel = -1, .initrd = -1};

/* All arguments between "-accel" and "-uuid" but -cpu, each on its line; and those of -machine. */
static char *memory_of(const struct plan *p, const struct argv_fds *with)
{
	char *text = xstrdup(""), **v = NULL;
	struct err err = {0};
	bool in = false;

	if (argv_build(p, "qemu", with, &v, &err) < 0)
		fail_msg("%s", err.msg);
	for (char **a = v; *a; a++) {
		char *longer;

		in = in ? strcmp(*a, "-uuid") != 0 : strcmp(*a, "-m") == 0;
		if (!in && !str_after(*a, "q35") && !str_after(*a, "max"))
			continue;
		longer = xasprintf("%s%s\n", text, *a);
		free(text);
		text = longer;
	}
	args_free(v);
	return text;
}

static void is(const struct plan *p, const struct argv_fds *with, const char *wanted)
{
	_cleanup_free_ char *text = memory_of(p, with);

	assert_string_equal(text, wanted);
}

static void cell(struct plan *p, const char *nodes, const char *vcpus, uint64_t mib)
{
	struct plan_cell *c = &p->cells[p->n_cells++];

	c->host_nodes = xstrdup(nodes);
	c->vcpus = xstrdup(vcpus);
	c->memory = mib << 20;
}

#define MACHINE "q35,vmport=off,dump-guest-core=off"

static void pages_without_nodes(void **state)
{
	struct plan *p = plan_fixture();

	(void)state;
	is(p, &fds, MACHINE "\nmax\n-m\nsize=67108864B\n");
	p->hugepage_size = 2 << 20;
	is(p, &fds,
	   MACHINE ",memory-backend=ram0\nmax\n-m\nsize=67108864B\n"
		   "-object\nmemory-backend-memfd,id=ram0,size=67108864B,hugetlb=on,"
		   "hugetlbsize=2097152B,prealloc=on\n");
	plan_free(p);
}

static void one_piece_on_its_nodes(void **state)
{
	struct plan *p = plan_fixture();

	(void)state;
	p->dedicated_cpus = true;
	cell(p, "1", "0", 64);
	is(p, &fds,
	   MACHINE ",memory-backend=ram0\nmax\n-m\nsize=67108864B\n"
		   "-object\nmemory-backend-ram,id=ram0,size=67108864B,host-nodes=1,policy=bind\n");
	free(p->cells[0].host_nodes);
	p->cells[0].host_nodes = xstrdup("0-1,3");
	/* QEMU rounds -m up, and wants the same of the backend */
	p->memory_guest = p->cells[0].memory = 64000000;
	is(p, &fds,
	   MACHINE ",memory-backend=ram0\nmax\n-m\nsize=64000000B\n"
		   "-object\nmemory-backend-ram,id=ram0,size=64004096B,host-nodes=0-1,"
		   "host-nodes=3,policy=bind\n");
	plan_free(p);
}

static struct plan *realtime(void)
{
	struct plan *p = plan_fixture();

	p->cores = 4;
	p->dedicated_cpus = p->numa_passthrough = true;
	p->hugepage_size = 2 << 20;
	p->realtime_vcpus = xstrdup("0-3");
	return p;
}

static void guest_nodes(void **state)
{
	struct plan *p = realtime();

	(void)state;
	cell(p, "0", "0,2", 34);
	cell(p, "2", "1,3", 30);
	p->cells[0].distance[1] = 21;
	p->cells[1].distance[0] = 22;
	is(p, &fds,
	   MACHINE ",mem-merge=off\nmax,pmu=off\n-m\nsize=67108864B\n"
		   "-object\nmemory-backend-memfd,id=ram0,size=35651584B,hugetlb=on,"
		   "hugetlbsize=2097152B,prealloc=on,host-nodes=0,policy=bind\n"
		   "-object\nmemory-backend-memfd,id=ram1,size=31457280B,hugetlb=on,"
		   "hugetlbsize=2097152B,prealloc=on,host-nodes=2,policy=bind\n"
		   "-numa\nnode,nodeid=0,cpus=0,cpus=2,memdev=ram0\n"
		   "-numa\nnode,nodeid=1,cpus=1,cpus=3,memdev=ram1\n"
		   "-numa\ndist,src=0,dst=1,val=21\n-numa\ndist,src=1,dst=0,val=22\n"
		   "-overcommit\nmem-lock=on\n");
	plan_free(p);
}

/* render knows no assignment; QEMU is never started without one. */
static void without_an_assignment(void **state)
{
	struct plan *p = realtime();
	struct err err = {0};
	char **v = NULL;

	(void)state;
	is(p, NULL,
	   MACHINE ",mem-merge=off\nmax,pmu=off\n-m\nsize=67108864B\n"
		   "-object\nmemory-backend-memfd,id=ram0,size=67108864B,hugetlb=on,"
		   "hugetlbsize=2097152B,prealloc=on,host-nodes=NODE,policy=bind\n"
		   "-numa\nnode,nodeid=0,cpus=0-3,memdev=ram0\n-overcommit\nmem-lock=on\n");
	assert_int_equal(argv_build(p, "qemu", &fds, &v, &err), -EINVAL);
	assert_string_equal(err.msg, "numa: the plan says no nodes");
	plan_free(p);
}

/* A page that the guest reports as free would go back to the host's pool, where others take it. */
static void no_page_reporting(void **state)
{
	struct plan *p = plan_fixture();
	struct err err = {0};
	char **v = NULL;

	(void)state;
	p->balloon = true;
	p->hugepage_size = 2 << 20;
	assert_int_equal(argv_build(p, "qemu", &fds, &v, &err), 0);
	for (char **a = v; *a; a++)
		assert_null(strstr(*a, "free-page-reporting"));
	args_free(v);
	plan_free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pages_without_nodes), cmocka_unit_test(one_piece_on_its_nodes),
		cmocka_unit_test(guest_nodes),	       cmocka_unit_test(without_an_assignment),
		cmocka_unit_test(no_page_reporting),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
