// SPDX-License-Identifier: Apache-2.0
#include "cmd/client.h"
#include "cmd/label.h"
#include "cmd/opts.h"
#include "cmd/url.h"

#include "lib/json.h"
#include "lib/log.h"
#include "lib/util.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#define REFUSAL_MAX 65536

struct logs {
	CURL *curl;
	bool terminal;
	struct str_stream cleaned;
	char *refusal; /* a Status, in place of a log */
	size_t refusal_len;
};

/* A guest's words are for programs as they are, for a terminal without what it would obey. */
static size_t print(struct logs *l, const char *data, size_t n)
{
	_cleanup_free_ char *clean = l->terminal ? xcalloc(n + STR_STREAM_MORE, 1) : NULL;
	size_t len = clean ? str_stream(&l->cleaned, data, n, clean) : n;

	return fwrite(clean ? clean : data, 1, len, stdout) == len && fflush(stdout) == 0 ? n : 0;
}

static size_t on_data(char *data, size_t size, size_t n, void *arg)
{
	struct logs *l = arg;
	long code = 0;

	(void)size; /* 1 */
	(void)curl_easy_getinfo(l->curl, CURLINFO_RESPONSE_CODE, &code);
	if (code == 200)
		return print(l, data, n);
	if (l->refusal_len + n > REFUSAL_MAX)
		return 0;
	l->refusal = xrealloc(l->refusal, l->refusal_len + n, 1);
	memcpy(l->refusal + l->refusal_len, data, n);
	l->refusal_len += n;
	return n;
}

/* -EPIPE: it was cut in the midst. */
static int transfer(struct client *c, const char *path, struct err *err)
{
	struct logs l = {.curl = curl_easy_init(), .terminal = isatty(STDOUT_FILENO)};
	_cleanup_json_ json_t *status = NULL;
	struct err bad = {0};
	CURLcode r = CURLE_OUT_OF_MEMORY;
	long code = 0;

	if (l.curl) {
		client_aim(c, l.curl, path);
		(void)curl_easy_setopt(l.curl, CURLOPT_WRITEFUNCTION, on_data);
		(void)curl_easy_setopt(l.curl, CURLOPT_WRITEDATA, &l);
		r = curl_easy_perform(l.curl);
		(void)curl_easy_getinfo(l.curl, CURLINFO_RESPONSE_CODE, &code);
	}
	curl_easy_cleanup(l.curl);
	if (code >= 300 && l.refusal)
		(void)json_parse(l.refusal, l.refusal_len, REFUSAL_MAX, &status, &bad);
	free(l.refusal);
	if (code >= 300)
		return client_status_error(code, status, err);
	if (r == CURLE_OK || ferror(stdout)) /* nobody reads any more */
		return 0;
	return err_set(err, code == 200 ? -EPIPE : -ENOTCONN, "virt-handler: %s",
		       curl_easy_strerror(r));
}

static int logs(struct cli *cli, const struct target *vmi, const char *which, long tail,
		bool follow)
{
	_cleanup_client_ struct client *client = NULL;
	_cleanup_free_ char *path = NULL, *query = NULL, *lines = NULL;
	_cleanup_free_ char *container = url_escape(which);
	_cleanup_free_ char *label = label_name(vmi->kind, cli_namespace(cli), vmi->name);
	struct err err = {0};
	int r;

	lines = tail < 0 ? xstrdup("") : xasprintf("&tailLines=%ld", tail);
	query = xasprintf("log?container=%s%s%s", container, lines, follow ? "&follow=true" : "");
	path = url_subresource("subresources.virtpod.io", cli_namespace(cli), vmi->name, query);
	r = client_open(cli, &client, &err);
	if (r == 0)
		r = transfer(client, path, &err);
	if (r == -EPIPE) { /* the log is still there; curl's words for this say nothing */
		_cleanup_free_ char *me = cli_me(NULL);

		log_error("virt-handler has ended, the VM lives on; %s logs %s -c %s%s goes on", me,
			  vmi->name, which, follow ? " -f --tail 10" : "");
		return EXIT_NO_HANDLER;
	}
	if (r == -EBUSY)
		err_prefix(&err, "%s", label);
	return r < 0 ? cli_fail(&err) : EXIT_DONE;
}

static int run(struct cli *cli, int argc, char **argv)
{
	const char *which = "console";
	bool follow = false;
	long tail = -1;
	const struct opt own[] = {{"container", 'c', OPT_TEXT, &which},
				  {"follow", 'f', OPT_FLAG, &follow},
				  {"tail", 0, OPT_COUNT, &tail}};
	struct target target;
	struct err err = {0};
	int code, at = opts_parse(cli, command_logs.usage, own, ARRAY_SIZE(own), false, argc, argv,
				  &code);

	if (at < 0)
		return code;
	if (label_one_vmi(argc - at, argv + at, &target, &err) < 0) {
		(void)cli_fail(&err);
		return EXIT_USAGE;
	}
	return logs(cli, &target, which, tail, follow);
}

const struct command command_logs = {
	"logs",
	"what a guest, QEMU or a launcher has said",
	"usage: virtpod logs NAME [-c console|qemu|launcher] [-f] [--tail N]\n"
	"\n"
	"  -c, --container LOG  console: the guest's serial console (the default); qemu: QEMU's\n"
	"                       stdout and stderr; launcher: virt-launcher's\n"
	"  -f, --follow         and what comes, until the VM ends\n"
	"  --tail N             the last N lines only\n"
	"\n"
	"Of a VM that has ended, too, until it is deleted. On a terminal control characters,\n"
	"and what is no UTF-8, become '?'.\n",
	run,
};
