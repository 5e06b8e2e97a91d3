// SPDX-License-Identifier: Apache-2.0
#include "lib/util.h"

#include <errno.h>
#include <stdarg.h>
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

/* Bytes of the letter at s, a NUL-terminated text; 0 when it is not well-formed UTF-8 (RFC 3629). */
static size_t letter_len(const unsigned char *s)
{
	size_t n = s[0] < 0x80 ? 1 : s[0] < 0xc2 ? 0 : s[0] < 0xe0 ? 2 : s[0] < 0xf0 ? 3 : 4;

	if (s[0] > 0xf4 || (s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] > 0x9f) ||
	    (s[0] == 0xf0 && s[1] < 0x90) || (s[0] == 0xf4 && s[1] > 0x8f))
		return 0; /* longer than it need be, a surrogate, or beyond Unicode */
	for (size_t i = 1; i < n; i++)
		if ((s[i] & 0xc0) != 0x80)
			return 0;
	return n;
}

void str_line(char *text, char instead)
{
	unsigned char *out = (unsigned char *)text;

	for (const unsigned char *s = out; *s;) {
		size_t n = letter_len(s);

		if (n == 0) {
			*out++ = '?';
			for (s++; (*s & 0xc0) == 0x80; s++)
				; /* the rest of it */
		} else if (*s < ' ' || *s == 0x7f || (*s == 0xc2 && s[1] < 0xa0)) {
			*out++ = (unsigned char)instead;
			s += n;
		} else {
			memmove(out, s, n);
			out += n;
			s += n;
		}
	}
	*out = 0;
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
