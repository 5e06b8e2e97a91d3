// SPDX-License-Identifier: Apache-2.0
/*
 * By hand, since what follows the header's end belongs to the WebSocket: the header is read byte by
 * byte, so that nothing behind it is taken.
 */
#include "cmd/ws_handshake.h"

#include "cmd/client.h"

#include "lib/base64.h"
#include "lib/file.h"
#include "lib/json.h"
#include "lib/sha1.h"
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

#define KEY_BYTES  16
#define HEADER_MAX 8192
#define BODY_MAX   65536
#define PATIENCE_S 30

/* RFC 6455, 4.1: 16 random bytes. */
static int make_key(char ret[static BASE64_SIZE(KEY_BYTES)])
{
	uint8_t raw[KEY_BYTES];

	if (getrandom(raw, sizeof raw, 0) != (ssize_t)sizeof raw)
		return -EIO;
	(void)base64_encode(raw, sizeof raw, ret);
	return 0;
}

static int send_request(int fd, const char *path, const char *key)
{
	_cleanup_free_ char *request =
		xasprintf("GET %s HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\n"
			  "Connection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
			  "Sec-WebSocket-Key: %s\r\n"
			  "Sec-WebSocket-Protocol: plain.kubevirt.io\r\n\r\n",
			  path, key);

	return fd_write_all(fd, request, strlen(request));
}

/* RFC 6455, 1.3: who answers has read the key and means a WebSocket. */
static bool accepts(const char *header, const char *key)
{
	static const char name[] = "\r\nSec-WebSocket-Accept:";
	_cleanup_free_ char *both = xasprintf("%s258EAFA5-E914-47DA-95CA-C5AB0DC85B11", key);
	char wanted[BASE64_SIZE(SHA1_SIZE)];
	const char *at = strcasestr(header, name);
	uint8_t hash[SHA1_SIZE];

	if (!at)
		return false;
	at += strlen(name);
	at += strspn(at, " \t");
	sha1(both, strlen(both), hash);
	(void)base64_encode(hash, sizeof hash, wanted);
	return strncmp(at, wanted, strlen(wanted)) == 0;
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

int ws_answer(const char *header, const char *key, struct err *err)
{
	int code = 0;

	if (sscanf(header, "HTTP/1.%*c %3d", &code) != 1 || code < 100)
		return err_set(err, -EIO, "virt-handler: its answer is not HTTP");
	if (code == 101 && !accepts(header, key))
		return err_set(err, -EIO, "virt-handler: its answer is no WebSocket's");
	return code;
}

int ws_handshake(int run_fd, const char *path, int *ret_fd, struct err *err)
{
	const struct timeval patience = {.tv_sec = PATIENCE_S}, endless = {0};
	_cleanup_fd_ int fd = -1;
	char header[HEADER_MAX], key[BASE64_SIZE(KEY_BYTES)];
	int r = sock_connect_at(run_fd, "handler.sock", SOCK_STREAM, &fd);

	if (r == 0 && setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience) < 0)
		r = -errno;
	if (r == 0)
		r = make_key(key);
	if (r == 0)
		r = send_request(fd, path, key);
	if (r == 0)
		r = read_header(fd, header);
	if (r < 0)
		return err_errno(err, -ENOTCONN, "virt-handler: %s", strerror(-r));
	r = ws_answer(header, key, err);
	if (r != 101)
		return r < 0 ? r : refused(fd, header, r, err);
	if (setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &endless, sizeof endless) < 0)
		return err_errno(err, -errno, "SO_RCVTIMEO");
	*ret_fd = TAKE_FD(fd);
	return 0;
}
