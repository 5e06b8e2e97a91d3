// SPDX-License-Identifier: Apache-2.0
#include "handler/server_internal.h"

#include "lib/json.h"

#include <string.h>

static enum MHD_Result queue(struct request *r, unsigned code, char *text_consume,
			     const char *content_type)
{
	struct MHD_Response *response = MHD_create_response_from_buffer(
		strlen(text_consume), text_consume, MHD_RESPMEM_MUST_FREE);
	enum MHD_Result result;

	if (!response) {
		free(text_consume);
		return MHD_NO;
	}
	(void)MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, content_type);
	if (code == MHD_HTTP_UPGRADE_REQUIRED) /* RFC 6455, 4.4: the version that would do */
		(void)MHD_add_response_header(response, "Sec-WebSocket-Version", "13");
	result = MHD_queue_response(r->connection, code, response);
	MHD_destroy_response(response);
	return result;
}

enum MHD_Result reply_json(struct request *r, unsigned code, json_t *object_consume)
{
	_cleanup_json_ json_t *object = object_consume;
	char *text = json_dumps(object, JSON_COMPACT);

	if (!text)
		return MHD_NO;
	return queue(r, code, text, "application/json");
}

enum MHD_Result reply_text(struct request *r, unsigned code, const char *text)
{
	return queue(r, code, xstrdup(text), "text/plain");
}

const char *request_query(const struct request *r, const char *name)
{
	return MHD_lookup_connection_value(r->connection, MHD_GET_ARGUMENT_KIND, name);
}

const char *request_header(const struct request *r, const char *name)
{
	return MHD_lookup_connection_value(r->connection, MHD_HEADER_KIND, name);
}
