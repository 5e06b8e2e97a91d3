// SPDX-License-Identifier: Apache-2.0
#include "launcher/fds.h"

#include "lib/util.h"

#include <errno.h>

void named_fds_done(struct named_fds *m)
{
	for (size_t i = 0; i < m->n; i++)
		m->fd[i] = fd_close(m->fd[i]);
	m->n = 0;
}

static int find(const struct named_fds *m, const char *name)
{
	for (size_t i = 0; i < m->n; i++)
		if (str_eq(m->name[i], name))
			return (int)i;
	return -1;
}

int named_fds_init(struct named_fds *m, const json_t *request, const int *fds, size_t n,
		   struct err *err)
{
	const json_t *names = json_object_get(request, "fds"), *v;
	size_t i, want = json_array_size(names);

	m->n = 0;
	if (names && !json_is_array(names))
		want = SIZE_MAX;
	for (i = 0; i < n; i++) { /* owned from here on, whatever follows */
		m->fd[i] = fds[i];
		m->name[i] = "";
		m->used[i] = false;
	}
	m->n = n;
	if (want != n)
		return err_set(err, -EINVAL, "fds: %zu descriptors for %zu names", n,
			       json_array_size(names));
	json_array_foreach (names, i, v) {
		const char *name = json_string_value(v);

		if (!name || !*name || find(m, name) >= 0)
			return err_set(err, -EINVAL, "fds[%zu]: want a name that is not used yet",
				       i);
		m->name[i] = name;
	}
	return 0;
}

int named_fds_find(struct named_fds *m, const char *name)
{
	int i = find(m, name);

	if (i < 0)
		return -1;
	m->used[i] = true;
	return m->fd[i];
}

int named_fds_take(struct named_fds *m, const char *name)
{
	int i = find(m, name);

	if (i < 0)
		return -1;
	m->used[i] = true;
	return TAKE_FD(m->fd[i]);
}

int named_fds_check_used(const struct named_fds *m, struct err *err)
{
	for (size_t i = 0; i < m->n; i++)
		if (!m->used[i])
			return err_set(err, -EINVAL,
				       "fds[%zu]: '%.100s' is not part of this request", i,
				       m->name[i]);
	return 0;
}

static unsigned find_queues(struct named_fds *m, const char *kind, const struct plan_nic *nic,
			    int ret[static ARGV_MAX_FDS])
{
	unsigned q;

	for (q = 0; q < nic->queues && q < ARGV_MAX_FDS; q++) {
		_cleanup_free_ char *name = xasprintf("%s:%s:%u", kind, nic->name, q);

		ret[q] = named_fds_find(m, name);
		if (ret[q] < 0)
			break;
	}
	return q;
}

void named_fds_for_plan(struct named_fds *m, const struct plan *p, struct argv_fds *ret)
{
	*ret = (struct argv_fds){.qmp = -1, .serial = -1, .kernel = -1, .initrd = -1};
	if (p->kernel_path)
		ret->kernel = named_fds_find(m, "kernel");
	if (p->initrd_path)
		ret->initrd = named_fds_find(m, "initrd");
	for (unsigned i = 0; i < p->n_disks; i++) {
		_cleanup_free_ char *name = xasprintf("disk:%s", p->disks[i].name);

		ret->disk[i] = named_fds_find(m, name);
	}
	for (unsigned i = 0; i < p->n_nics; i++) {
		struct argv_nic_fds *f = &ret->nic[i];

		f->n_tap = find_queues(m, "tap", &p->nics[i], f->tap);
		f->n_vhost = find_queues(m, "vhost", &p->nics[i], f->vhost);
	}
}
