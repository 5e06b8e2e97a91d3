// SPDX-License-Identifier: Apache-2.0
#include "launcher/forward.h"

#include "api/wire.h"
#include "launcher/rate.h"
#include "lib/util.h"

#include <errno.h>
#include <string.h>
#include <time.h>

/* Well below what the handler accepts from a launcher, seven kinds together. */
#define BURST	 10
#define EVERY_US 200000
#define RETRY_US 500000

/* Room for names and numbers around the data of one event. */
#define DATA_MAX (WIRE_MAX / 2)

static const char *const kinds[] = {
	"SHUTDOWN", "STOP", "RESUME", "RESET", "WATCHDOG", "GUEST_PANICKED", "BLOCK_IO_ERROR",
};

struct kind {
	struct rate rate;
	json_t *held; /* the newest that was not sent */
	unsigned dropped;
};

struct forward {
	sd_event *event; /* borrowed: outlives this */
	sd_event_source *timer;
	forward_send send;
	void *arg;
	struct kind kind[ARRAY_SIZE(kinds)];
};

static uint64_t now_us(const struct forward *f)
{
	uint64_t t = 0;

	(void)sd_event_now(f->event, CLOCK_MONOTONIC, &t);
	return t;
}

static void try_send(struct forward *f, struct kind *k)
{
	if (!k->held || !rate_take(&k->rate, now_us(f)))
		return;
	if (k->dropped)
		(void)json_object_set_new(k->held, "dropped", json_integer(k->dropped));
	if (f->send(f->arg, k->held) == 0) {
		json_decref(k->held);
		k->held = NULL;
		k->dropped = 0;
	}
}

static void flush(struct forward *f)
{
	bool waiting = false;

	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		try_send(f, &f->kind[i]);
		waiting |= f->kind[i].held != NULL;
	}
	if (waiting)
		(void)sd_event_source_set_time(f->timer, now_us(f) + RETRY_US);
	(void)sd_event_source_set_enabled(f->timer, waiting ? SD_EVENT_ONESHOT : SD_EVENT_OFF);
}

static int on_timer(sd_event_source *s, uint64_t usec, void *arg)
{
	(void)s;
	(void)usec;
	flush(arg);
	return 0;
}

/* {"event": "qmp", "name": …, "data": …}; data that would not fit into a frame is left out. */
static json_t *make_event(const char *name, const json_t *data)
{
	json_t *event = json_pack("{s:s, s:s}", "event", "qmp", "name", name);

	if (data && json_dumpb(data, NULL, 0, JSON_COMPACT) <= DATA_MAX)
		(void)json_object_set_new(event, "data", json_deep_copy(data));
	return event;
}

void forward_event(struct forward *f, const char *name, const json_t *data)
{
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		struct kind *k = &f->kind[i];

		if (!str_eq(kinds[i], name))
			continue;
		if (k->held)
			k->dropped++;
		json_decref(k->held);
		k->held = make_event(name, data);
		flush(f);
		return;
	}
}

int forward_new(sd_event *event, forward_send send, void *arg, struct forward **ret)
{
	struct forward *f = xcalloc(1, sizeof *f);
	int r;

	f->event = event;
	f->send = send;
	f->arg = arg;
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		f->kind[i].rate = (struct rate){.every_us = EVERY_US, .burst = BURST};
	r = sd_event_add_time(event, &f->timer, CLOCK_MONOTONIC, UINT64_MAX, 0, on_timer, f);
	if (r < 0) {
		forward_free(f);
		return r;
	}
	(void)sd_event_source_set_enabled(f->timer, SD_EVENT_OFF);
	(void)sd_event_source_set_description(f->timer, "event-forwarding");
	*ret = f;
	return 0;
}

void forward_free(struct forward *f)
{
	if (!f)
		return;
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		json_decref(f->kind[i].held);
	(void)sd_event_source_disable_unref(f->timer);
	free(f);
}
