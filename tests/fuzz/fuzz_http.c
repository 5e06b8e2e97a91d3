// SPDX-License-Identifier: Apache-2.0
/*
 * The whole API server over its socket: the input is what a client sends before it hangs up. A store with
 * one VM; it is made anew after an input that changed it, so that an input does the same whenever it comes.
 */
#include "tests/fuzz/fuzz.h"

#include "tests/unit/handler/api.h"

#include "handler/vmi.h"

#include "lib/log.h"

static int pod_fd = -1;

/* The launcher's end of the console; it is there at once. */
static int console(struct handler *h, const char *ns, const char *name, int client_fd_consume,
		   void (*done)(void *arg, int r, const struct err *err), void *arg,
		   struct err *err)
{
	(void)h;
	(void)ns;
	(void)name;
	(void)err;
	(void)fd_close(pod_fd);
	pod_fd = client_fd_consume;
	done(arg, 0, NULL);
	return 0;
}

static struct api *open_api(void)
{
	static const struct server_options options = {
		.timeout_seconds = 1000,
		.connections = 16,
		.console = console,
		.inspect = api_fake_report,
		.verify = api_fake_report,
	};
	_cleanup_json_ json_t *got = NULL, *vmi = NULL;
	_cleanup_json_ json_t *status = json_pack("{s:s}", "phase", "Running");
	_cleanup_free_ char *body = vmi_text("vm", "a");
	struct api *a = api_open(&options);
	struct err err = {0};

	fuzz_must(api_call(a, "POST", VMIS, body, &got) == 201);
	fuzz_must(store_get(a->h.store, VMI_KIND, "default", "vm", &vmi, &err) == 0);
	vmi_publish(&a->h, vmi, status);
	return a;
}

static void settle(struct api *a)
{
	do
		(void)sd_event_source_set_enabled(a->h.reconcile, SD_EVENT_OFF);
	while (sd_event_run(a->h.event, 0) > 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	static struct api *a;
	static uint64_t changes;
	struct client *c;

	log_open("fuzz", LOG_LEVEL_ERROR);
	if (a && a->h.changes != changes) {
		api_close(a);
		a = NULL;
	}
	if (!a) {
		a = open_api();
		changes = a->h.changes;
	}
	c = client_open(a);
	(void)send(c->fd, data, len, MSG_NOSIGNAL);
	(void)shutdown(c->fd, SHUT_WR);
	settle(a);
	client_close(c);
	settle(a);
	pod_fd = fd_close(pod_fd);
	settle(a);
	return 0;
}
