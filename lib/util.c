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

enum letter { LETTER_NONE, LETTER_BEGUN, LETTER_WHOLE };

/* Are these n bytes, of which all but the last have begun a letter, one of well-formed UTF-8 (RFC 3629)? */
static enum letter letter_of(const unsigned char *s, size_t n)
{
	size_t all = s[0] < 0x80 ? 1 : s[0] < 0xe0 ? 2 : s[0] < 0xf0 ? 3 : 4;
	unsigned char low = 0x80, high = 0xbf;

	if (n == 1)
		return all == 1			    ? LETTER_WHOLE
		       : s[0] < 0xc2 || s[0] > 0xf4 ? LETTER_NONE
						    : LETTER_BEGUN;
	if (n == 2) /* longer than it need be, a surrogate, or beyond Unicode */
		low = s[0] == 0xe0 ? 0xa0 : s[0] == 0xf0 ? 0x90 : low;
	if (n == 2)
		high = s[0] == 0xed ? 0x9f : s[0] == 0xf4 ? 0x8f : high;
	if (s[n - 1] < low || s[n - 1] > high)
		return LETTER_NONE;
	return n == all ? LETTER_WHOLE : LETTER_BEGUN;
}

/* The letter that is whole, or what stands for it. */
static size_t put_letter(struct str_stream *s, const char *keep, char instead, char *out)
{
	unsigned char c = s->part[0];
	bool control = c < ' ' || c == 0x7f || (c == 0xc2 && s->part[1] < 0xa0);
	size_t n = s->n;

	s->n = 0;
	if (control && (!c || !strchr(keep, c))) {
		*out = instead;
		return 1;
	}
	memcpy(out, s->part, n);
	return n;
}

/* One more byte; returns how many are put, never more than have come. */
static size_t put_byte(struct str_stream *s, unsigned char c, const char *keep, char instead,
		       char *out)
{
	bool inside = (c & 0xc0) == 0x80, begins = !s->n;

	if (s->bad && inside) /* the rest of what is no letter */
		return 0;
	s->bad = false;
	s->part[s->n++] = c;
	switch (letter_of(s->part, s->n)) {
	case LETTER_BEGUN:
		return 0;
	case LETTER_WHOLE:
		return put_letter(s, keep, instead, out);
	case LETTER_NONE:
		break;
	}
	s->n = 0;
	s->bad = begins || inside;
	*out = '?';
	return s->bad ? 1 : 1 + put_byte(s, c, keep, instead, out + 1);
}

void str_line(char *text, char instead)
{
	struct str_stream s = {0};
	char *out = text;

	for (const char *from = text; *from; from++)
		out += put_byte(&s, (unsigned char)*from, "", instead, out);
	if (s.n)
		*out++ = '?';
	*out = 0;
}

size_t str_stream(struct str_stream *s, const char *data, size_t len, char *ret)
{
	size_t n = 0;

	for (size_t i = 0; i < len; i++)
		n += put_byte(s, (unsigned char)data[i], "\n\r\t", '?', ret + n);
	return n;
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
