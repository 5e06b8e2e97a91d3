// SPDX-License-Identifier: Apache-2.0
/*
 * virt-launcher: the first process of a pod. It enters the boundary when the handler says so, starts
 * QEMU paused, serves the handler's requests and the console, reaps, and writes how the guest ended.
 * A VM outlives the handler: the launcher goes on without one and takes the next that connects.
 */
#pragma once

#include "lib/err.h"

/*
 * The whole life of a launcher; call once, single-threaded. Eats both sockets. 0: the guest has ended
 * and its outcome is written, or there never was one and the handler asked for the end. Negative:
 * nothing was started, *err says why. Does not return from a failed "enter": that ends the process.
 */
int launcher_run(int channel_consume, int listener_consume, struct err *err);
