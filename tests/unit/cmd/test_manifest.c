// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/unit.h"

#include "cmd/manifest.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "api/meta.h"
#include "lib/file.h"
#include "lib/json.h"
#include "lib/util.h"
#include "lib/yaml.h"

#define NAMESPACE "apiVersion: v1\nkind: Namespace\nmetadata: {name: lab}\n"
#define KUBEVIRT                                                                                   \
	"apiVersion: kubevirt.io/v1\nkind: KubeVirt\nmetadata: {name: k, namespace: kubevirt}\n"
#define VMI(name)                                                                                  \
	"apiVersion: kubevirt.io/v1\nkind: VirtualMachineInstance\nmetadata: {name: " name "}\n"   \
	"spec:\n  domain:\n    memory: {guest: 64Mi}\n"                                            \
	"    devices: {autoattachPodInterface: false, autoattachGraphicsDevice: false,"            \
	" autoattachMemBalloon: false}\n"

struct box {
	char dir[64];
	int saved_stderr;
	int log; /* what went to stderr */
};

static int set_up(void **state)
{
	struct box *b = xcalloc(1, sizeof *b);

	(void)strcpy(b->dir, "/tmp/virtpod-manifest.XXXXXX");
	assert_non_null(mkdtemp(b->dir));
	b->log = memfd_create("stderr", MFD_CLOEXEC);
	b->saved_stderr = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
	assert_true(b->log >= 0 && b->saved_stderr >= 0);
	assert_true(dup2(b->log, STDERR_FILENO) >= 0);
	*state = b;
	return 0;
}

static int tear_down(void **state)
{
	struct box *b = *state;

	(void)dup2(b->saved_stderr, STDERR_FILENO);
	(void)fd_close(b->saved_stderr);
	(void)fd_close(b->log);
	(void)rm_rf_at(AT_FDCWD, b->dir);
	free(b);
	return 0;
}

static void put(const struct box *b, const char *name, const char *text)
{
	_cleanup_free_ char *path = xasprintf("%s/%s", b->dir, name);

	assert_int_equal(file_replace_at(AT_FDCWD, path, text, strlen(text), 0644), 0);
}

/* Paths below the box, NULL at the end. */
static int load(const struct box *b, const char *ns, struct manifest *ret, const char *const *names)
{
	struct texts paths = {0};
	char *full[8];
	size_t n = 0;
	int r;

	for (; names[n]; n++) {
		full[n] = xasprintf("%s/%s", b->dir, names[n]);
		texts_add(&paths, full[n]);
	}
	r = manifest_load(&paths, ns, ret);
	texts_done(&paths);
	while (n-- > 0)
		free(full[n]);
	return r;
}
#define LOAD(b, ns, ret, ...) load(b, ns, ret, (const char *const[]){__VA_ARGS__, NULL})

static bool said(const struct box *b, const char *words)
{
	_cleanup_free_ char *text = NULL;

	assert_true(lseek(b->log, 0, SEEK_SET) == 0);
	assert_int_equal(file_read_fd(b->log, 1 << 20, &text, NULL), 0);
	return strstr(text, words);
}

static void name_is(const struct manifest *m, size_t i, const char *name)
{
	assert_string_equal(object_name(m->items[i].object), name);
}

static void test_order(void **state)
{
	_cleanup_manifest_ struct manifest m = {0};
	struct box *b = *state;

	put(b, "a.yaml", VMI("one") "---\n---\n" KUBEVIRT);
	put(b, "b.yml", VMI("two") "---\n" NAMESPACE);
	assert_int_equal(LOAD(b, NULL, &m, "a.yaml", "b.yml"), 0);
	assert_int_equal(m.n, 4);
	name_is(&m, 0, "lab");
	name_is(&m, 1, "k");
	name_is(&m, 2, "one");
	name_is(&m, 3, "two");
	assert_null(manifest_ns(&m.items[0]));
	assert_string_equal(manifest_ns(&m.items[1]), "kubevirt");
	assert_string_equal(manifest_ns(&m.items[2]), "default");
	/* what is sent is what was written; defaults are only in the other copy */
	assert_null(json_get(m.items[2].object, "spec.terminationGracePeriodSeconds"));
	assert_non_null(json_get(m.items[2].admitted, "spec.domain.machine"));
}

static void test_folder(void **state)
{
	_cleanup_manifest_ struct manifest m = {0};
	struct box *b = *state;
	_cleanup_free_ char *sub = xasprintf("%s/sub", b->dir);

	assert_int_equal(mkdir(sub, 0755), 0);
	put(b, "sub/2.yaml", VMI("second"));
	put(b, "sub/1.json",
	    "{\"apiVersion\": \"v1\", \"kind\": \"List\", \"items\": [{\"apiVersion\": "
	    "\"v1\", \"kind\": \"Namespace\", \"metadata\": {\"name\": \"lab\"}}]}");
	put(b, "sub/3.yml", VMI("third"));
	put(b, "sub/.4.yaml", "not: read\n");
	put(b, "sub/notes.txt", "not: read\n");
	assert_int_equal(LOAD(b, NULL, &m, "sub"), 0);
	assert_int_equal(m.n, 3);
	name_is(&m, 0, "lab");
	name_is(&m, 1, "second");
	name_is(&m, 2, "third");
}

static void test_all_errors(void **state)
{
	_cleanup_manifest_ struct manifest m = {0};
	struct box *b = *state;

	put(b, "a.yaml",
	    VMI("good") "---\n" VMI("bad") "  wrong: 1\n---\nkind: Pod\napiVersion: v1\n");
	put(b, "b.yaml", "a: [\n");
	put(b, "c.yaml", "just text\n");
	put(b, "d.yaml", "apiVersion: v1\nkind: List\nitems: {}\n");
	assert_int_equal(LOAD(b, NULL, &m, "a.yaml", "b.yaml", "c.yaml", "d.yaml"), -EINVAL);
	assert_int_equal(m.errors, 5);
	assert_true(said(b, "d.yaml:3: items: must be a list of objects"));
	assert_true(said(b, "a.yaml:16: spec.wrong: "));
	assert_true(said(b, "a.yaml:18: kind: 'Pod'"));
	assert_true(said(b, "b.yaml:"));
	assert_true(said(b, "c.yaml:1: is no Kubernetes object"));
}

static void test_same_object_twice(void **state)
{
	_cleanup_manifest_ struct manifest m = {0};
	struct box *b = *state;

	put(b, "a.yaml", VMI("one") "---\n" VMI("one"));
	assert_int_equal(LOAD(b, NULL, &m, "a.yaml"), -EINVAL);
	assert_true(said(b, "a.yaml:9: vmi default/one: is in "));
	assert_true(said(b, "a.yaml:1 already"));
}

static void test_namespace(void **state)
{
	_cleanup_manifest_ struct manifest m = {0}, other = {0};
	struct box *b = *state;

	put(b, "a.yaml", VMI("one") "---\n" NAMESPACE);
	assert_int_equal(LOAD(b, "lab", &m, "a.yaml"), 0);
	assert_string_equal(manifest_ns(&m.items[1]), "lab");
	assert_string_equal(json_str(m.items[1].object, "metadata.namespace"), "lab");
	put(b, "b.yaml", KUBEVIRT);
	assert_int_equal(LOAD(b, "lab", &other, "b.yaml"), -EINVAL);
	assert_true(said(b, "metadata.namespace: is kubevirt, but -n says lab"));
}

static void test_unreadable(void **state)
{
	_cleanup_manifest_ struct manifest m = {0}, none = {0}, large = {0};
	struct box *b = *state;

	_cleanup_free_ char *big = xcalloc(YAML_BYTES_MAX + 2, 1);

	memset(big, ' ', YAML_BYTES_MAX + 1);
	put(b, "big.yaml", big);
	assert_int_equal(LOAD(b, NULL, &large, "big.yaml"), -EINVAL);
	assert_true(said(b, "big.yaml: more than 4194304 bytes; at most that many are taken"));
	put(b, "empty.yaml", "# nothing\n---\n");
	assert_int_equal(LOAD(b, NULL, &m, "absent.yaml", "empty.yaml"), -ENOENT);
	assert_true(said(b, "absent.yaml: No such file or directory"));
	assert_int_equal(LOAD(b, NULL, &none, "empty.yaml"), -EINVAL);
	assert_true(said(b, "empty.yaml: no object in it"));
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_order),      TEST(test_folder),
		TEST(test_all_errors), TEST(test_same_object_twice),
		TEST(test_namespace),  TEST(test_unreadable),
	};

	return cmocka_run_group_tests_name("manifest", tests, NULL, NULL);
}
