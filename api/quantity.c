// SPDX-License-Identifier: Apache-2.0
#include "api/quantity.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "api/quantity_suffix.h"
#include "lib/json.h"
#include "lib/util.h"

typedef unsigned __int128 u128;

int quantity_from_json(const json_t *value, struct quantity *ret, struct err *err)
{
	_cleanup_free_ char *trimmed = NULL;
	char number[JSON_REAL_MAX];
	const char *s;
	size_t n;

	if (json_is_integer(value)) {
		(void)snprintf(number, sizeof number, "%" JSON_INTEGER_FORMAT,
			       json_integer_value(value));
		return quantity_parse(number, ret, err);
	}
	if (json_is_real(value))
		return quantity_parse(json_real_text(json_real_value(value), number), ret, err);
	if (!json_is_string(value))
		return err_set(err, -EINVAL,
			       "a quantity must be a string or a number, such as 2 or \"1.5Gi\"");
	s = json_string_value(value);
	s += strspn(s, " ");
	for (n = strlen(s); n && s[n - 1] == ' '; n--)
		;
	trimmed = xstrndup(s, n);
	return quantity_parse(trimmed, ret, err);
}

/* The value in units of 10^-places, rounded away from zero. */
static int scaled(const struct quantity *q, int places, int64_t *ret)
{
	const u128 max = (u128)INT64_MAX + q->negative;
	u128 m = q->magnitude;
	int64_t exponent = (int64_t)q->exponent + places;

	for (; exponent > 0 && m && m <= max; exponent--)
		m *= 10;
	if (exponent < 0) {
		u128 unit = 1;

		for (; exponent < 0; exponent++) /* at most 9 times */
			unit *= 10;
		m = m / unit + (m % unit != 0);
	}
	if (m > max)
		return -ERANGE;
	*ret = (int64_t)(q->negative ? 0 - (uint64_t)m : (uint64_t)m);
	return 0;
}

int quantity_value(const struct quantity *q, int64_t *ret)
{
	return scaled(q, 0, ret);
}

int quantity_milli(const struct quantity *q, int64_t *ret)
{
	return scaled(q, 3, ret);
}

int quantity_sign(const struct quantity *q)
{
	return q->magnitude == 0 ? 0 : q->negative ? -1 : 1;
}

static int n_digits(u128 m)
{
	int n = 0;

	for (; m; m /= 10)
		n++;
	return n;
}

int quantity_cmp(const struct quantity *a, const struct quantity *b)
{
	int sign = quantity_sign(a), other = quantity_sign(b);
	u128 ma = a->magnitude, mb = b->magnitude;
	int64_t size_a, size_b;

	if (sign != other || sign == 0)
		return sign - other;
	size_a = (int64_t)n_digits(ma) + a->exponent;
	size_b = (int64_t)n_digits(mb) + b->exponent;
	if (size_a != size_b)
		return size_a > size_b ? sign : -sign;
	/* as many digits before the point: on one exponent neither gets longer than the other was */
	for (int e = a->exponent; e > b->exponent; e--)
		ma *= 10;
	for (int e = b->exponent; e > a->exponent; e--)
		mb *= 10;
	return ma == mb ? 0 : ma > mb ? sign : -sign;
}

static char *write_number(char buf[static QUANTITY_TEXT_MAX], bool negative, u128 m,
			  const char *suffix)
{
	char digits[QUANTITY_DIGITS + 3];
	size_t n = sizeof digits;

	digits[--n] = 0;
	do {
		digits[--n] = (char)('0' + (int)(m % 10));
		m /= 10;
	} while (m);
	(void)snprintf(buf, QUANTITY_TEXT_MAX, "%s%s%s", negative ? "-" : "", digits + n, suffix);
	return buf;
}

/* Powers of a thousand, as few digits as that leaves. */
static char *write_decimal(const struct quantity *q, char buf[static QUANTITY_TEXT_MAX])
{
	bool si = q->format != QUANTITY_DECIMAL_EXPONENT;
	u128 m = q->magnitude;
	int exponent = q->exponent;
	char suffix[16] = "";

	while (m && (exponent % 3 || (si && exponent > 18))) {
		m *= 10;
		exponent--;
	}
	if (si)
		return write_number(buf, q->negative, m, quantity_suffix(10, exponent));
	if (exponent)
		(void)snprintf(suffix, sizeof suffix, "e%d", exponent);
	return write_number(buf, q->negative, m, suffix);
}

char *quantity_recompute(const struct quantity *q, char buf[static QUANTITY_TEXT_MAX])
{
	u128 m = q->magnitude;
	int power = 0;

	if (q->format != QUANTITY_BINARY_SI || q->exponent < 0)
		return write_decimal(q, buf);
	for (int e = q->exponent; e; e--) /* capped: at most 2^63 */
		m *= 10;
	if (m < 1024)
		return write_decimal(q, buf);
	for (; m % 1024 == 0; m /= 1024)
		power += 10;
	return write_number(buf, q->negative, m, power ? quantity_suffix(2, power) : "");
}

char *quantity_canonical(const struct quantity *q, char buf[static QUANTITY_TEXT_MAX])
{
	if (!*q->kept)
		return quantity_recompute(q, buf);
	(void)strcpy(buf, q->kept); /* of the same size */
	return buf;
}

static int unsigned_of(const json_t *value, int (*scale)(const struct quantity *, int64_t *),
		       uint64_t *ret, struct err *err)
{
	char text[QUANTITY_TEXT_MAX];
	struct quantity q;
	int64_t v;
	int r = quantity_from_json(value, &q, err);

	if (r < 0)
		return r;
	if (quantity_sign(&q) < 0)
		return err_set(err, -EINVAL, "%s is negative; it must be 0 or more",
			       quantity_canonical(&q, text));
	r = scale(&q, &v);
	if (r < 0)
		return err_set(err, r, "%s is out of range: it must fit 64 bits",
			       quantity_canonical(&q, text));
	*ret = (uint64_t)v;
	return 0;
}

int quantity_bytes(const json_t *value, uint64_t *ret, struct err *err)
{
	return unsigned_of(value, quantity_value, ret, err);
}

int quantity_cpus_milli(const json_t *value, uint64_t *ret, struct err *err)
{
	return unsigned_of(value, quantity_milli, ret, err);
}
