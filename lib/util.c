// SPDX-License-Identifier: Apache-2.0
#include "lib/util.h"

#include <errno.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

int fd_close(int fd)
{
	int saved = errno;

	if (fd >= 0)
		(void)close(fd); /* Linux frees the number whatever close() says */
	errno = saved;
	return -1;
}

static void *checked(void *p)
{
	if (!p)
		abort();
	return p;
}

void *xcalloc(size_t n, size_t size)
{
	return checked(calloc(n ? n : 1, size ? size : 1));
}

void *xrealloc(void *p, size_t n, size_t size)
{
	return checked(reallocarray(p, n ? n : 1, size ? size : 1));
}

char *xstrdup(const char *s)
{
	return s ? checked(strdup(s)) : NULL;
}

char *xstrndup(const char *s, size_t n)
{
	return checked(strndup(s, n));
}

char *xasprintf(const char *fmt, ...)
{
	char *s = NULL;
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vasprintf(&s, fmt, ap);
	va_end(ap);
	return checked(n < 0 ? NULL : s);
}

void str_printable(const char *text, char *ret, size_t size)
{
	size_t i;

	for (i = 0; text[i] && i + 1 < size; i++)
		ret[i] = text[i] < ' ' || text[i] > '~' ? '?' : text[i];
	ret[i] = 0;
}

/* Bytes of the UTF-8 letter at s, which is NUL-terminated; 0 when there is none (RFC 3629). */
static size_t utf8_letter(const unsigned char *s)
{
	static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
	size_t len = *s < 0x80 ? 1 : *s >> 5 == 6 ? 2 : *s >> 4 == 14 ? 3 : *s >> 3 == 30 ? 4 : 0;
	uint32_t code = len > 1 ? *s & (0x7fu >> len) : *s;

	for (size_t i = 1; i < len; i++) {
		if (s[i] >> 6 != 2)
			return 0;
		code = code << 6 | (s[i] & 0x3f);
	}
	if (len && (code < least[len] || code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff)))
		return 0;
	return len;
}

void str_one_line(char *s)
{
	unsigned char *p = (unsigned char *)s;

	while (*p) {
		size_t len = utf8_letter(p);

		if (!len || *p < ' ' || *p == 0x7f)
			*p = '?';
		else if (*p == 0xc2 && p[1] <= 0x9f)
			p[0] = p[1] = '?';
		p += len ? len : 1;
	}
}

const char *str_after(const char *s, const char *prefix)
{
	size_t n = strlen(prefix);

	return strncmp(s, prefix, n) == 0 ? s + n : NULL;
}

bool str_has_word(const char *list, const char *word)
{
	size_t len = strlen(word);

	for (const char *p = list + strspn(list, " \n"); *p; p += strspn(p, " \n")) {
		size_t n = strcspn(p, " \n");

		if (n == len && !memcmp(p, word, n))
			return true;
		p += n;
	}
	return false;
}
