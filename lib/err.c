// SPDX-License-Identifier: Apache-2.0
#include "lib/err.h"

#include "lib/util.h"

#include <stdio.h>
#include <string.h>

__attribute__((format(printf, 3, 0))) static int verr_set(struct err *err, int code,
							  const char *fmt, va_list ap)
{
	if (!err || err->code)
		return code;
	err->code = code;
	/* a message that is cut is still a message */
	(void)vsnprintf(err->msg, sizeof err->msg, fmt, ap);
	str_one_line(err->msg); /* whatever it quotes, and wherever that was cut */
	return code;
}

int err_set(struct err *err, int code, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	code = verr_set(err, code, fmt, ap);
	va_end(ap);
	return code;
}

int err_errno(struct err *err, int code, const char *fmt, ...)
{
	va_list ap;
	size_t len;

	if (!err || err->code)
		return code;
	va_start(ap, fmt);
	code = verr_set(err, code, fmt, ap);
	va_end(ap);
	len = strlen(err->msg);
	(void)snprintf(err->msg + len, sizeof err->msg - len, ": %s", strerror(-code));
	return code;
}

void err_prefix(struct err *err, const char *fmt, ...)
{
	char old[ERR_MSG_MAX];
	va_list ap;
	size_t len;

	if (!err || !err->code)
		return;
	memcpy(old, err->msg, sizeof old);
	va_start(ap, fmt);
	(void)vsnprintf(err->msg, sizeof err->msg, fmt, ap);
	va_end(ap);
	len = strlen(err->msg);
	(void)snprintf(err->msg + len, sizeof err->msg - len, ": %s", old);
	str_one_line(err->msg);
}

void err_clear(struct err *err)
{
	err->code = 0;
	err->msg[0] = 0;
}
