// SPDX-License-Identifier: Apache-2.0
/* The configuration objects of the store into h->cluster and h->policy. */
#pragma once

#include "handler/handler.h"

/* Read them all again; on an error what was in force stays, and no VM starts until it is mended. */
int config_load(struct handler *h, struct err *err);

/*
 * May this KubeletConfiguration (NULL: none any more) come into force? -EBUSY while CPUs are held and
 * it would change the policy; -EINVAL when it does not fit this host.
 */
int config_check_kubelet(struct handler *h, const json_t *kubelet, struct err *err);
