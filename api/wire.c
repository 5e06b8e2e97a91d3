// SPDX-License-Identifier: Apache-2.0
#include "api/wire.h"

#include "lib/json.h"
#include "lib/sock.h"
#include "lib/util.h"

#include <errno.h>
#include <string.h>

int wire_send(int sock, const json_t *msg, const int *fds, size_t n_fds, struct err *err)
{
	_cleanup_free_ char *text = json_dumps(msg, JSON_COMPACT);
	int r;

	if (!text)
		return err_set(err, -EINVAL, "wire: the message is not valid UTF-8 JSON");
	if (strlen(text) > WIRE_MAX)
		return err_set(err, -EMSGSIZE, "wire: message of %zu bytes, the most is %d",
			       strlen(text), WIRE_MAX);
	r = sock_send(sock, text, strlen(text), fds, n_fds);
	return r < 0 ? err_errno(err, r, "wire: send") : 0;
}

int wire_recv(int sock, json_t **ret, int *ret_fds, size_t max_fds, size_t *ret_n_fds,
	      struct err *err)
{
	_cleanup_free_ char *buf = xcalloc(1, WIRE_MAX);
	int fds[SOCK_MAX_FDS];
	size_t n_fds = 0;
	struct err syntax = {0};
	json_t *msg = NULL;
	ssize_t n;

	if (max_fds > SOCK_MAX_FDS)
		max_fds = SOCK_MAX_FDS;
	n = sock_recv(sock, buf, WIRE_MAX, fds, max_fds, &n_fds);
	if (n == 0 && n_fds == 0)
		return 0;
	if (n == -EMSGSIZE)
		return err_set(err, -EBADMSG,
			       "wire: frame over %d bytes or with more than %zu descriptors",
			       WIRE_MAX, max_fds);
	if (n < 0)
		return n == -EAGAIN ? (int)n : err_errno(err, (int)n, "wire: receive");
	if (json_parse(buf, (size_t)n, WIRE_MAX, &msg, &syntax) < 0 || !json_is_object(msg)) {
		for (size_t i = 0; i < n_fds; i++)
			(void)fd_close(fds[i]);
		json_decref(msg);
		return err_set(err, -EBADMSG, "wire: not a JSON object: %s",
			       syntax.code ? syntax.msg : "another type");
	}
	if (n_fds)
		memcpy(ret_fds, fds, n_fds * sizeof(int));
	*ret_n_fds = n_fds;
	*ret = msg;
	return 1;
}
