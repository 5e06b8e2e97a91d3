// SPDX-License-Identifier: Apache-2.0
#include "lib/yaml_scalar.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/util.h"

#define TAG_PREFIX "tag:yaml.org,2002:"

/* The words that YAML 1.1 types, in the three spellings of each that count. */
static bool special_word(const char *s, struct yaml_scalar *ret)
{
	static const struct {
		const char *word;
		enum yaml_type type;
		bool flag;
		double real;
	} words[] = {
		{"", YAML_TYPE_NULL},
		{"~", YAML_TYPE_NULL},
		{"null", YAML_TYPE_NULL},
		{"Null", YAML_TYPE_NULL},
		{"NULL", YAML_TYPE_NULL},
		{"y", YAML_TYPE_BOOL, true},
		{"Y", YAML_TYPE_BOOL, true},
		{"yes", YAML_TYPE_BOOL, true},
		{"Yes", YAML_TYPE_BOOL, true},
		{"YES", YAML_TYPE_BOOL, true},
		{"true", YAML_TYPE_BOOL, true},
		{"True", YAML_TYPE_BOOL, true},
		{"TRUE", YAML_TYPE_BOOL, true},
		{"on", YAML_TYPE_BOOL, true},
		{"On", YAML_TYPE_BOOL, true},
		{"ON", YAML_TYPE_BOOL, true},
		{"n", YAML_TYPE_BOOL, false},
		{"N", YAML_TYPE_BOOL, false},
		{"no", YAML_TYPE_BOOL, false},
		{"No", YAML_TYPE_BOOL, false},
		{"NO", YAML_TYPE_BOOL, false},
		{"false", YAML_TYPE_BOOL, false},
		{"False", YAML_TYPE_BOOL, false},
		{"FALSE", YAML_TYPE_BOOL, false},
		{"off", YAML_TYPE_BOOL, false},
		{"Off", YAML_TYPE_BOOL, false},
		{"OFF", YAML_TYPE_BOOL, false},
		{".nan", YAML_TYPE_REAL, false, NAN},
		{".NaN", YAML_TYPE_REAL, false, NAN},
		{".NAN", YAML_TYPE_REAL, false, NAN},
		{".inf", YAML_TYPE_REAL, false, INFINITY},
		{".Inf", YAML_TYPE_REAL, false, INFINITY},
		{".INF", YAML_TYPE_REAL, false, INFINITY},
		{"+.inf", YAML_TYPE_REAL, false, INFINITY},
		{"+.Inf", YAML_TYPE_REAL, false, INFINITY},
		{"+.INF", YAML_TYPE_REAL, false, INFINITY},
		{"-.inf", YAML_TYPE_REAL, false, -INFINITY},
		{"-.Inf", YAML_TYPE_REAL, false, -INFINITY},
		{"-.INF", YAML_TYPE_REAL, false, -INFINITY},
	};

	for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
		if (!str_eq(s, words[i].word))
			continue;
		*ret = (struct yaml_scalar){
			.type = words[i].type, .flag = words[i].flag, .real = words[i].real};
		return true;
	}
	return false;
}

/* The base that a prefix names (0x, 0o, 0b, a bare 0 is octal); *s moves behind it. */
static unsigned take_base(const char **s)
{
	const char *p = *s;

	if (p[0] != '0' || p[1] == 0)
		return 10;
	*s += 2;
	switch (p[1]) {
	case 'x':
	case 'X':
		return 16;
	case 'o':
	case 'O':
		return 8;
	case 'b':
	case 'B':
		return 2;
	default:
		*s = p + 1;
		return 8;
	}
}

/* All of s as digits of this base, at least one. */
static bool digits(const char *s, unsigned base, uint64_t *ret)
{
	uint64_t v = 0;

	if (!*s)
		return false;
	for (; *s; s++) {
		unsigned d = isdigit((unsigned char)*s)	   ? (unsigned)(*s - '0')
			     : isxdigit((unsigned char)*s) ? (unsigned)(tolower(*s) - 'a' + 10)
							   : 99;

		if (d >= base || __builtin_mul_overflow(v, base, &v) ||
		    __builtin_add_overflow(v, d, &v))
			return false;
	}
	*ret = v;
	return true;
}

/* Whole numbers that fit 64 bits, in any base; false for all else (larger ones become reals). */
static bool whole(const char *s, struct yaml_scalar *ret)
{
	bool neg = *s == '-', sign = neg || *s == '+';
	const char *p = s + sign;
	unsigned base = take_base(&p);
	uint64_t v;

	if (base == 2 && !sign && (*p == '-' || *p == '+'))
		neg = *p++ == '-'; /* "0b-1" is -1 to Kubernetes' parser */
	if (!digits(p, base, &v))
		return false;
	if (v <= (uint64_t)INT64_MAX + neg)
		*ret = (struct yaml_scalar){.type = YAML_TYPE_INT, .i = (int64_t)(neg ? 0 - v : v)};
	else if (!sign && !neg)
		*ret = (struct yaml_scalar){.type = YAML_TYPE_UINT, .u = v};
	else
		return false;
	return true;
}

/* [-+]? (digits [. digits*] | . digits) ([eE] [-+]? digits)? within a double's range. */
static bool real(const char *s, struct yaml_scalar *ret)
{
	const char *p = s + (*s == '-' || *s == '+');
	size_t before = strspn(p, "0123456789"), after = 0;
	double v;

	p += before;
	if (*p == '.') {
		after = strspn(++p, "0123456789");
		p += after;
	}
	if (before + after == 0)
		return false;
	if (*p == 'e' || *p == 'E') {
		p += 1 + (p[1] == '-' || p[1] == '+');
		if (!isdigit((unsigned char)*p))
			return false;
		p += strspn(p, "0123456789");
	}
	if (*p)
		return false;
	v = strtod(s, NULL);
	if (!isfinite(v))
		return false;
	*ret = (struct yaml_scalar){.type = YAML_TYPE_REAL, .real = v};
	return true;
}

/* Type a text that nothing but its spelling says anything about. */
static void by_spelling(const char *text, struct yaml_scalar *ret)
{
	_cleanup_free_ char *bare = NULL;
	size_t n = 0;

	*ret = (struct yaml_scalar){.type = YAML_TYPE_STR};
	if (special_word(text, ret) || (*text == '.' && real(text, ret)))
		return;
	if (!isdigit((unsigned char)*text) && *text != '-' && *text != '+')
		return;
	bare = xstrdup(text);
	for (const char *p = text; *p; p++) /* 1_000 is 1000 */
		if (*p != '_')
			bare[n++] = *p;
	bare[n] = 0;
	if (!whole(bare, ret))
		(void)real(bare, ret); /* a string, then */
}

static int base64_digit(char c)
{
	static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
				       "0123456789+/";
	const char *p = c ? strchr(alphabet, c) : NULL;

	return p ? (int)(p - alphabet) : -1;
}

/* RFC 4648 section 4 with padding; line breaks are ignored. */
static int from_base64(const char *text, struct yaml_scalar *ret)
{
	_cleanup_free_ char *out = xcalloc(strlen(text) / 4 * 3 + 1, 1);
	unsigned in_group = 0, pad = 0;
	uint32_t group = 0;
	size_t n = 0;

	for (; *text; text++) {
		int d = base64_digit(*text);

		if (*text == '\n' || *text == '\r')
			continue;
		if (*text == '=' && in_group >= 2) {
			pad++;
			d = 0;
		} else if (d < 0 || pad) { /* padding ends the text */
			return -EINVAL;
		}
		group = group << 6 | (uint32_t)d;
		if (++in_group < 4)
			continue;
		for (unsigned i = 0; i < 3 - pad; i++)
			out[n++] = (char)(group >> (16 - 8 * i));
		in_group = 0;
	}
	if (in_group)
		return -EINVAL;
	*ret = (struct yaml_scalar){.type = YAML_TYPE_STR, .bytes = TAKE_PTR(out), .n_bytes = n};
	return 0;
}

/* An explicit tag must fit what the spelling says; tags that mean nothing here leave a string. */
static int by_tag(const char *text, const char *tag, struct yaml_scalar *ret)
{
	static const struct {
		const char *name;
		enum yaml_type type;
	} typed[] = {
		{"null", YAML_TYPE_NULL},
		{"bool", YAML_TYPE_BOOL},
		{"int", YAML_TYPE_INT},
		{"float", YAML_TYPE_REAL},
	};
	const char *name = str_after(tag, TAG_PREFIX);
	struct yaml_scalar s;

	*ret = (struct yaml_scalar){.type = YAML_TYPE_STR};
	if (str_eq(name, "binary"))
		return from_base64(text, ret);
	if (str_eq(name, "timestamp")) /* stays text; yyyy- is enough of a look */
		return strspn(text, "0123456789") == 4 && text[4] == '-' ? 0 : -EINVAL;
	by_spelling(text, &s);
	for (size_t i = 0; i < ARRAY_SIZE(typed); i++) {
		if (!str_eq(name, typed[i].name))
			continue;
		if (typed[i].type == YAML_TYPE_REAL && s.type == YAML_TYPE_INT)
			s = (struct yaml_scalar){.type = YAML_TYPE_REAL, .real = (double)s.i};
		if (s.type != typed[i].type &&
		    !(typed[i].type == YAML_TYPE_INT && s.type == YAML_TYPE_UINT))
			return -EINVAL;
		*ret = s;
	}
	return 0;
}

int yaml_scalar_type(const char *text, const char *tag, bool plain, struct yaml_scalar *ret)
{
	if (tag)
		return by_tag(text, tag, ret);
	*ret = (struct yaml_scalar){.type = YAML_TYPE_STR};
	if (plain)
		by_spelling(text, ret);
	return 0;
}

char *yaml_real_key(double value, char buf[static YAML_REAL_KEY_MAX])
{
	float f = (float)value;
	int digits = 1, exponent;

	if (!isfinite(f)) {
		(void)strcpy(buf, isnan(f) ? ".nan" : f > 0 ? ".inf" : "-.inf");
		return buf;
	}
	for (; digits <= 9; digits++) { /* 9 always suffice for a float */
		(void)snprintf(buf, YAML_REAL_KEY_MAX, "%.*e", digits - 1, (double)f);
		if (strtof(buf, NULL) == f)
			break;
	}
	exponent = atoi(strchr(buf, 'e') + 1);
	if (exponent >= -4 && exponent < 6) /* as Go's %g of the shortest form decides */
		(void)snprintf(buf, YAML_REAL_KEY_MAX, "%.*f",
			       digits - 1 > exponent ? digits - 1 - exponent : 0, (double)f);
	return buf;
}
