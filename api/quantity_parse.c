// SPDX-License-Identifier: Apache-2.0
/*
 * A quantity's text into a number: digit by digit in decimal, as it is written, so that nothing is
 * lost on the way to the one rounding there is (at 1n, away from zero).
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/quantity.h"
#include "api/quantity_suffix.h"
#include "lib/util.h"

#define DIGITS "0123456789"
#define PLACES 9 /* decimal places kept: nano is Kubernetes' smallest */
/* Decimal digits, least significant first: room for a text's and for 2^60's. */
#define DIGITS_MAX (QUANTITY_TEXT_MAX + 20)

struct number {
	unsigned char digit[DIGITS_MAX];
	size_t n;
	long places; /* how many of them stand behind the point; negative: zeros to add */
};

/* A quantity's text, taken apart. */
struct parts {
	bool negative;
	const char *whole; /* without leading zeros */
	size_t n_whole;
	const char *fraction;
	size_t n_fraction;
	const char *suffix;
};

struct suffix {
	const char *text;
	int base, exponent;
	enum quantity_format format;
};

static const struct suffix suffixes[] = {
	{"", 10, 0, QUANTITY_DECIMAL_SI},   {"n", 10, -9, QUANTITY_DECIMAL_SI},
	{"u", 10, -6, QUANTITY_DECIMAL_SI}, {"m", 10, -3, QUANTITY_DECIMAL_SI},
	{"k", 10, 3, QUANTITY_DECIMAL_SI},  {"M", 10, 6, QUANTITY_DECIMAL_SI},
	{"G", 10, 9, QUANTITY_DECIMAL_SI},  {"T", 10, 12, QUANTITY_DECIMAL_SI},
	{"P", 10, 15, QUANTITY_DECIMAL_SI}, {"E", 10, 18, QUANTITY_DECIMAL_SI},
	{"Ki", 2, 10, QUANTITY_BINARY_SI},  {"Mi", 2, 20, QUANTITY_BINARY_SI},
	{"Gi", 2, 30, QUANTITY_BINARY_SI},  {"Ti", 2, 40, QUANTITY_BINARY_SI},
	{"Pi", 2, 50, QUANTITY_BINARY_SI},  {"Ei", 2, 60, QUANTITY_BINARY_SI},
};

/* Sign, digits, and a suffix that at least looks like one. "-", "." and "k" alone are zeros. */
static bool split(const char *text, struct parts *ret)
{
	struct parts p = {.negative = *text == '-'};
	const char *s = text;

	if (*s == 0)
		return false;
	s += *s == '-' || *s == '+';
	s += strspn(s, "0");
	p.whole = s;
	p.n_whole = strspn(s, DIGITS);
	s += p.n_whole;
	p.fraction = s;
	if (*s == '.') {
		p.fraction = ++s;
		p.n_fraction = strspn(s, DIGITS);
		s += p.n_fraction;
	}
	p.suffix = s;
	s += strspn(s, "eEinumkKMGTP");
	s += *s == '-' || *s == '+';
	s += strspn(s, DIGITS);
	if (*s)
		return false;
	*ret = p;
	return true;
}

static int read_suffix(const char *text, struct suffix *ret)
{
	const char *p = text + 1;
	char *end;
	long exponent;

	for (size_t i = 0; i < ARRAY_SIZE(suffixes); i++) {
		if (!str_eq(text, suffixes[i].text))
			continue;
		*ret = suffixes[i];
		return 0;
	}
	if (*text != 'e' && *text != 'E')
		return -EINVAL;
	p += *p == '-' || *p == '+';
	if (*p < '0' || *p > '9')
		return -EINVAL;
	exponent = strtol(text + 1, &end, 10); /* saturates */
	if (*end)
		return -EINVAL;
	if (exponent < INT32_MIN || exponent > INT32_MAX)
		return -ERANGE;
	*ret = (struct suffix){text, 10, (int)exponent, QUANTITY_DECIMAL_EXPONENT};
	return 0;
}

/*
 * Kubernetes keeps the text of numbers that its short path takes and that it holds for canonical
 * (apimachinery's quantity.go): at most 18 digits, or with a binary suffix what 14 less the
 * suffix's own leave, and no factor that would move into the suffix.
 */
static bool stands_for_itself(const struct parts *p, const struct suffix *s)
{
	long n = (long)(p->n_whole + p->n_fraction);
	long scale = s->exponent - (long)p->n_fraction;
	char digits[QUANTITY_TEXT_MAX];

	if (p->n_whole == 0) /* begins with a zero */
		return false;
	if (s->base == 2)
		return p->n_fraction == 0 && n <= 14 - s->exponent * 3 / 10 &&
		       strtoull(p->whole, NULL, 10) % 8 != 0;
	(void)snprintf(digits, sizeof digits, "%.*s%.*s", (int)p->n_whole, p->whole,
		       (int)p->n_fraction, p->fraction);
	return n <= 18 && scale >= -PLACES && scale % 3 == 0 &&
	       (n < 3 || strcmp(digits + n - 3, "000") != 0);
}

static void load(const struct parts *p, struct number *ret)
{
	size_t n = 0;

	for (size_t i = p->n_fraction; i--;)
		ret->digit[n++] = (unsigned char)(p->fraction[i] - '0');
	for (size_t i = p->n_whole; i--;)
		ret->digit[n++] = (unsigned char)(p->whole[i] - '0');
	ret->n = n;
	ret->places = (long)p->n_fraction;
}

static void carry(struct number *x, unsigned c)
{
	for (size_t i = 0; c; i++) {
		if (i == x->n)
			x->digit[x->n++] = 0;
		c += x->digit[i];
		x->digit[i] = (unsigned char)(c % 10);
		c /= 10;
	}
}

static void twice(struct number *x)
{
	unsigned c = 0;

	for (size_t i = 0; i < x->n; i++) {
		c += x->digit[i] * 2u;
		x->digit[i] = (unsigned char)(c % 10);
		c /= 10;
	}
	if (c)
		x->digit[x->n++] = (unsigned char)c;
}

/* Take off the `drop` lowest digits; true if any of them was not zero. */
static bool drop_digits(struct number *x, size_t drop)
{
	bool rest = false;

	drop = drop < x->n ? drop : x->n;
	for (size_t i = 0; i < drop; i++)
		rest |= x->digit[i] != 0;
	memmove(x->digit, x->digit + drop, x->n - drop);
	x->n -= drop;
	return rest;
}

/* Round away from zero at 1n, and leave no zero at either end. */
static void normalise(struct number *x)
{
	size_t zeros = 0;

	if (x->places > PLACES) {
		carry(x, drop_digits(x, (size_t)(x->places - PLACES)));
		x->places = PLACES;
	}
	while (x->n && x->digit[x->n - 1] == 0)
		x->n--;
	while (zeros < x->n && x->digit[zeros] == 0)
		zeros++;
	(void)drop_digits(x, zeros); /* zeros: nothing is lost */
	x->places = x->n ? x->places - (long)zeros : 0;
}

static unsigned __int128 magnitude(const struct number *x)
{
	unsigned __int128 m = 0;

	for (size_t i = x->n; i--;)
		m = m * 10 + x->digit[i];
	return m;
}

/* As Kubernetes: binary quantities are capped at 2^63-1, and below 1 they turn decimal. */
static void limit_binary(struct quantity *q)
{
	const struct quantity max = {.magnitude = INT64_MAX}, one = {.magnitude = 1};
	struct quantity abs = *q;

	abs.negative = false;
	if (quantity_cmp(&abs, &max) > 0) {
		q->magnitude = max.magnitude;
		q->exponent = 0;
	} else if (q->magnitude && quantity_cmp(&abs, &one) < 0) {
		q->format = QUANTITY_DECIMAL_SI;
	}
}

/* Zeros that the text of it needs behind its digits, when the largest suffix is too small. */
static size_t zeros_to_write(const struct number *x, const struct suffix *s)
{
	return s->format != QUANTITY_DECIMAL_EXPONENT && -x->places > 18 ? (size_t)(-x->places - 18)
									 : 0;
}

static int compute(const struct parts *p, const struct suffix *s, struct quantity *q)
{
	struct number x;

	load(p, &x);
	if (s->base == 10)
		x.places -= s->exponent;
	for (int i = 0; s->base == 2 && i < s->exponent; i++)
		twice(&x);
	normalise(&x);
	if (s->base == 2 && (long)x.n - x.places > 19) { /* far above the cap */
		q->magnitude = (unsigned __int128)INT64_MAX + 1;
	} else {
		if (x.n + zeros_to_write(&x, s) > QUANTITY_DIGITS || -x.places > INT32_MAX)
			return -ERANGE;
		q->magnitude = magnitude(&x);
		q->exponent = (int)-x.places;
	}
	q->negative = p->negative && q->magnitude;
	if (s->base == 2)
		limit_binary(q);
	return 0;
}

const char *quantity_suffix(int base, int exponent)
{
	for (size_t i = 0; i < ARRAY_SIZE(suffixes); i++)
		if (suffixes[i].base == base && suffixes[i].exponent == exponent)
			return suffixes[i].text;
	return "";
}

int quantity_parse(const char *text, struct quantity *ret, struct err *err)
{
	struct quantity q = {};
	struct suffix s;
	struct parts p;
	int r;

	if (strlen(text) >= QUANTITY_TEXT_MAX)
		return err_set(err, -EINVAL,
			       "'%.20s...' is longer than the %d characters of a quantity", text,
			       QUANTITY_TEXT_MAX - 1);
	if (!split(text, &p))
		return err_set(err, -EINVAL,
			       "'%s' is not a quantity: it must be a number and a suffix without a "
			       "blank between, such as 2, 500m or 1.5Gi",
			       text);
	r = read_suffix(p.suffix, &s);
	if (r == -EINVAL)
		return err_set(
			err, r,
			"'%s' is not a quantity: there is no suffix '%s', only n u m k M G T "
			"P E, Ki Mi Gi Ti Pi Ei, and exponents such as e3",
			text, p.suffix);
	if (r == 0) {
		q.format = s.format;
		r = compute(&p, &s, &q);
	}
	if (r < 0)
		return err_set(err, r, "'%s' is out of range: at most %d digits count", text,
			       QUANTITY_DIGITS);
	if (stands_for_itself(&p, &s))
		(void)strcpy(q.kept, text); /* its length was looked at */
	*ret = q;
	return 0;
}
