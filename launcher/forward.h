// SPDX-License-Identifier: Apache-2.0
/*
 * QMP events for the handler. A guest can cause most of them at will, so each kind has its own rate;
 * what is over it is held back, only the newest of each kind, and follows when there is room, with
 * "dropped": how many were left out. So the last word of each kind always arrives.
 */
#pragma once

#include <jansson.h>
#include <systemd/sd-event.h>

struct forward;

/* Returns 0 once the event was sent, or negative: it is then held and tried again. */
typedef int (*forward_send)(void *arg, const json_t *event);

int forward_new(sd_event *event, forward_send send, void *arg, struct forward **ret);
void forward_event(struct forward *f, const char *name,
		   const json_t *data); /* data: borrowed, or NULL */
void forward_free(struct forward *f);	/* NULL is fine */
