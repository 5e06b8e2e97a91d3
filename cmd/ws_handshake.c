// SPDX-License-Identifier: Apache-2.0
/*
 * By hand, since what follows the header's end belongs to the WebSocket: the header is read byte by
 * byte. Sec-WebSocket-Accept, which tells a WebSocket server from a cache or a plain web server that
 * happens to answer, is not computed: the peer is root's own socket file.
 */
#include "cmd/ws_handshake.h"

#include "cmd/client.h"

#include "lib/file.h"
#include "lib/json.h"
#include "lib/sock.h"
#include "lib/util.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/time.h>

#define HEADER_MAX 8192
#define BODY_MAX   65536
#define PATIENCE_S 30

/* 16 random bytes in base64 are 22 characters of it and two '='; any 22 do, the last of [AQgw]. */
static int make_key(char ret[static 25])
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	uint8_t raw[22];

	if (getrandom(raw, sizeof raw, 0) != (ssize_t)sizeof raw)
		return -EIO;
	for (size_t i = 0; i < sizeof raw; i++)
		ret[i] = digits[raw[i] & 63];
	ret[21] = digits[raw[21] & 48];
	(void)strcpy(ret + 22, "==");
	return 0;
}

static int send_request(int fd, const char *path)
{
	_cleanup_free_ char *request = NULL;
	char key[25];
	int r = make_key(key);

	if (r < 0)
		return r;
	request = xasprintf("GET %s HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\n"
			    "Connection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
			    "Sec-WebSocket-Key: %s\r\n"
			    "Sec-WebSocket-Protocol: plain.kubevirt.io\r\n\r\n",
			    path, key);
	return fd_write_all(fd, request, strlen(request));
}

/* Up to and with the empty line; the result ends in NUL. */
static int read_header(int fd, char buf[static HEADER_MAX])
{
	size_t n = 0;

	while (n < 4 || memcmp(buf + n - 4, "\r\n\r\n", 4) != 0) {
		ssize_t got;

		if (n == HEADER_MAX - 1)
			return -EMSGSIZE;
		got = recv(fd, buf + n, 1, 0);
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return got < 0 ? -errno : -EPIPE;
		n++;
	}
	buf[n] = 0;
	return 0;
}

static size_t content_length(const char *header)
{
	const char *at = strcasestr(header, "\r\nContent-Length:");

	return at ? strtoul(at + strlen("\r\nContent-Length:"), NULL, 10) : 0;
}

static int refused(int fd, const char *header, long code, struct err *err)
{
	_cleanup_json_ json_t *status = NULL;
	size_t len = content_length(header), n = 0;
	_cleanup_free_ char *body = NULL;
	struct err bad = {0};

	if (len > BODY_MAX)
		len = BODY_MAX;
	body = xcalloc(len + 1, 1);
	while (n < len) {
		ssize_t got = recv(fd, body + n, len - n, 0);

		if (got <= 0)
			break;
		n += (size_t)got;
	}
	(void)json_parse(body, n, BODY_MAX, &status, &bad); /* without it the code alone is told */
	return client_status_error(code, status, err);
}

int ws_handshake(int run_fd, const char *path, int *ret_fd, struct err *err)
{
	const struct timeval patience = {.tv_sec = PATIENCE_S}, endless = {0};
	_cleanup_fd_ int fd = -1;
	char header[HEADER_MAX];
	long code = 0;
	int r = sock_connect_at(run_fd, "handler.sock", SOCK_STREAM, &fd);

	if (r == 0 && setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience) < 0)
		r = -errno;
	if (r == 0)
		r = send_request(fd, path);
	if (r == 0)
		r = read_header(fd, header);
	if (r < 0)
		return err_errno(err, -ENOTCONN, "virt-handler: %s", strerror(-r));
	if (sscanf(header, "HTTP/1.%*c %ld", &code) != 1)
		return err_set(err, -EIO, "virt-handler: its answer is not HTTP");
	if (code != 101)
		return refused(fd, header, code, err);
	if (setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &endless, sizeof endless) < 0)
		return err_errno(err, -errno, "SO_RCVTIMEO");
	*ret_fd = TAKE_FD(fd);
	return 0;
}
