// SPDX-License-Identifier: Apache-2.0
#include "cmd/client.h"

#include "cmd/autostart.h"

#include "handler/paths.h"
#include "lib/json.h"
#include "lib/log.h"
#include "lib/util.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define ANSWER_MAX (64u << 20) /* lists of whole objects */
#define ANSWER_S   120L	       /* a handler that is silent for so long hangs */
#define AGAIN_MAX  3 /* more is not a handler that was killed, but one that can't answer */

struct client {
	struct paths paths;
	bool own_root;
	CURL *curl;
};

struct answer {
	char *text;
	size_t len;
};

int client_run_fd(const struct client *c)
{
	return c->paths.run_fd;
}

static int reach(const struct client *c, struct err *err)
{
	int r = autostart_probe(&c->paths);

	if (r == -EACCES || r == -EPERM)
		return err_set(err, -EACCES,
			       "%s/handler.sock: permission denied; the API is root's: use sudo",
			       c->paths.run);
	if (r == -ENOENT || r == -ECONNREFUSED)
		return autostart(&c->paths, c->own_root, err);
	return r < 0 ? err_errno(err, -ENOTCONN, "%s/handler.sock", c->paths.run) : 0;
}

int client_reach(struct client *c, struct err *err)
{
	return reach(c, err);
}

static void compare_versions(struct client *c)
{
	_cleanup_json_ json_t *version = NULL;
	struct err err = {0};
	const char *theirs;

	if (client_call(c, "GET", "/version", NULL, &version, &err) < 0)
		return; /* the command's own request will say what is wrong */
	theirs = json_str(version, "virtpodVersion");
	if (!str_eq(theirs, VIRTPOD_VERSION))
		log_warning("this is virtpod " VIRTPOD_VERSION ", the handler is %s; stop it, and "
			    "the next command starts this one's (VMs live on)",
			    theirs ? theirs : "of unknown version");
}

int client_open(const struct cli *cli, struct client **ret, struct err *err)
{
	_cleanup_client_ struct client *c = xcalloc(1, sizeof *c);
	int r;

	c->own_root = cli->root != NULL;
	c->paths.run_fd = c->paths.lib_fd = -1;
	r = paths_open(cli->root, /* make= */ geteuid() == 0, &c->paths, err);
	if (geteuid() != 0 && (r == -ENOENT || r == -EACCES)) {
		err_clear(err);
		return err_set(err, -EACCES,
			       r == -ENOENT ? "no virt-handler has run here yet, and only root can "
					      "start one: use sudo"
					    : "permission denied: virt-handler's socket is root's: "
					      "use sudo");
	}
	if (r < 0 && r != -EINVAL) { /* a folder that can't be used: no handler can be in it */
		if (err)
			err->code = -ENOTCONN;
		return -ENOTCONN;
	}
	if (r == 0)
		r = reach(c, err);
	if (r < 0)
		return r;
	c->curl = curl_easy_init();
	if (!c->curl)
		return err_set(err, -ENOMEM, "libcurl: out of memory");
	compare_versions(c);
	*ret = TAKE_PTR(c);
	return 0;
}

void client_free(struct client *c)
{
	if (!c)
		return;
	curl_easy_cleanup(c->curl);
	paths_close(&c->paths);
	free(c);
}

void client_aim(const struct client *c, CURL *curl, const char *path)
{
	_cleanup_free_ char *url = xasprintf("http://localhost%s", path);
	char socket[64];

	/* through /proc, so that a deep root does not meet the 108 bytes of sun_path */
	(void)snprintf(socket, sizeof socket, "/proc/self/fd/%d/handler.sock", c->paths.run_fd);
	(void)curl_easy_setopt(curl, CURLOPT_URL, url);
	(void)curl_easy_setopt(curl, CURLOPT_UNIX_SOCKET_PATH, socket);
	(void)curl_easy_setopt(curl, CURLOPT_PROXY, ""); /* not what http_proxy says */
	(void)curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
}

static size_t on_data(char *data, size_t size, size_t n, void *arg)
{
	struct answer *a = arg;

	if (a->len + n > ANSWER_MAX)
		return 0;
	a->text = xrealloc(a->text, a->len + n + 1, size);
	memcpy(a->text + a->len, data, n);
	a->len += n;
	return n;
}

static CURLcode transfer(struct client *c, const char *method, const char *path, const char *body,
			 struct answer *a)
{
	struct curl_slist *headers = curl_slist_append(NULL, "Content-Type: application/json");
	CURLcode code;

	curl_easy_reset(c->curl);
	client_aim(c, c->curl, path);
	(void)curl_easy_setopt(c->curl, CURLOPT_CUSTOMREQUEST, method);
	(void)curl_easy_setopt(c->curl, CURLOPT_HTTPHEADER, headers);
	(void)curl_easy_setopt(c->curl, CURLOPT_TIMEOUT, ANSWER_S);
	(void)curl_easy_setopt(c->curl, CURLOPT_WRITEFUNCTION, on_data);
	(void)curl_easy_setopt(c->curl, CURLOPT_WRITEDATA, a);
	if (body)
		(void)curl_easy_setopt(c->curl, CURLOPT_POSTFIELDS, body);
	code = curl_easy_perform(c->curl);
	curl_slist_free_all(headers);
	return code;
}

static int status_code(long code, const char *reason)
{
	switch (code) {
	case 401:
		return -EACCES;
	case 404:
		return -ENOENT;
	case 403: /* who may ask at all is root: it is the object that may not */
	case 409:
		return str_eq(reason, "AlreadyExists") ? -EEXIST : -EBUSY;
	case 400:
	case 422:
		return -EINVAL;
	default:
		return -EIO;
	}
}

int client_status_error(long code, const json_t *status, struct err *err)
{
	const json_t *causes = json_get(status, "details.causes"), *cause;
	const char *message = json_str(status, "message");
	int r = status_code(code, json_str(status, "reason"));
	char text[ERR_MSG_MAX] = "";
	size_t i, at = 0;

	json_array_foreach (causes, i, cause) {
		const char *field = json_str(cause, "field");

		if (at >= sizeof text - 1)
			break;
		at += (size_t)snprintf(text + at, sizeof text - at, "%s%s%s%s", i ? "; " : "",
				       field ? field : "", field && *field ? ": " : "",
				       json_str(cause, "message") ? json_str(cause, "message")
								  : "");
	}
	if (text[0])
		return err_set(err, r, "%s", text);
	if (!message)
		return err_set(err, r, "the handler answered %ld without saying why", code);
	return err_set(err, r, "%s", message);
}

static int read_answer(struct client *c, const char *path, const struct answer *a, json_t **ret,
		       struct err *err)
{
	_cleanup_json_ json_t *body = NULL;
	struct err bad = {0};
	long code = 0;

	(void)curl_easy_getinfo(c->curl, CURLINFO_RESPONSE_CODE, &code);
	if (json_parse(a->text ? a->text : "", a->len, ANSWER_MAX, &body, &bad) < 0 && code < 300)
		return err_set(err, -EIO, "%s: not JSON: %s", path, bad.msg);
	if (code < 200 || code >= 300)
		return client_status_error(code, body, err);
	if (ret)
		*ret = TAKE_PTR(body);
	return 0;
}

/*
 * Nobody listens; or, while a handler that was killed goes, somebody seems to, and all who came are sent
 * away unanswered. What changes nothing can be asked again then.
 */
static bool unheard(CURLcode code, const char *method)
{
	switch (code) {
	case CURLE_COULDNT_CONNECT:
		return true;
	case CURLE_SEND_ERROR:
	case CURLE_RECV_ERROR:
	case CURLE_GOT_NOTHING:
	case CURLE_PARTIAL_FILE:
		return str_eq(method, "GET");
	default:
		return false;
	}
}

int client_call(struct client *c, const char *method, const char *path, const json_t *body,
		json_t **ret, struct err *err)
{
	_cleanup_free_ char *text = body ? json_text(body) : NULL;
	struct answer a = {0};
	CURLcode code = transfer(c, method, path, text, &a);
	int r = 0;

	for (int i = 0; i < AGAIN_MAX && unheard(code, method); i++) {
		free(a.text);
		a = (struct answer){0};
		r = reach(c, err);
		if (r < 0)
			return r;
		code = transfer(c, method, path, text, &a);
	}
	if (r == 0 && code != CURLE_OK)
		r = err_set(err, -ENOTCONN, "virt-handler: %s", curl_easy_strerror(code));
	if (r == 0)
		r = read_answer(c, path, &a, ret, err);
	free(a.text);
	return r;
}
