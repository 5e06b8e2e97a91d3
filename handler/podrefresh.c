// SPDX-License-Identifier: Apache-2.0
#include "handler/podrefresh.h"

#include "handler/channel.h"
#include "handler/pod.h"
#include "handler/threads.h"

#include "lib/json.h"
#include "lib/util.h"

#include <errno.h>

/* A launcher answers in milliseconds; whoever inspects a VM waits no longer than this for a silent one. */
#define REFRESH_SECONDS 3

struct refresh {
	struct pod *pod; /* borrowed; not to be used after -ECANCELED */
	void (*done)(void *arg);
	void *arg;
};

/* {"status": QMP's run state, "vcpus": [host's thread number of each vCPU, 0 where it is none of QEMU's]} */
static json_t *qmp_json(const struct pod *pod, const json_t *reply)
{
	const char *status = json_str(reply, "status");
	json_t *tids = json_array(), *tid;
	char text[40];
	size_t i;

	str_printable(status ? status : "", text, sizeof text);
	json_array_foreach (json_object_get(reply, "vcpus"), i, tid) {
		if (i == PLAN_MAX_VCPUS)
			break;
		(void)json_array_append_new(tids, json_integer(threads_host(pod, tid)));
	}
	return json_pack("{s:s, s:o}", "status", text, "vcpus", tids);
}

static void on_reply(void *arg, int r, const json_t *reply, const struct err *err)
{
	struct refresh q = *(struct refresh *)arg;

	(void)err;
	free(arg);
	if (r != -ECANCELED) {
		json_decref(q.pod->qmp);
		q.pod->qmp = r == 0 ? qmp_json(q.pod, reply) : NULL;
	}
	q.done(q.arg);
}

int pod_refresh(struct handler *h, const char *ns, const char *name, void (*done)(void *arg),
		void *arg)
{
	struct pod *pod = pod_find_running(h, ns, name);
	struct err err = {0};
	struct refresh *q;
	int r;

	if (!pod)
		return -ENOENT;
	q = xcalloc(1, sizeof *q);
	*q = (struct refresh){.pod = pod, .done = done, .arg = arg};
	r = channel_request(pod->channel, "status", NULL, NULL, 0, REFRESH_SECONDS, on_reply, q,
			    &err);
	if (r < 0)
		free(q);
	return r;
}
