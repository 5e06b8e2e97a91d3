// SPDX-License-Identifier: Apache-2.0
#include "api/names.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "lib/util.h"

#define LOWER  "abcdefghijklmnopqrstuvwxyz"
#define UPPER  "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
#define DIGITS "0123456789"

#define LABEL_MAX     63  /* RFC 1123 and 1035; names of labels, too */
#define SUBDOMAIN_MAX 253 /* RFC 1123 */
#define SHOWN	      80  /* bytes of a name that messages repeat */

/* One kind of name, or of one part of a name between dots. */
struct rule {
	const char *first, *inner, *last; /* characters allowed there */
	const char *first_words, *inner_words, *last_words;
};

static const struct rule dns1123 = {
	LOWER DIGITS,
	LOWER DIGITS "-",
	LOWER DIGITS,
	"a lower-case letter or digit",
	"lower-case letters, digits and '-'",
	"a lower-case letter or digit",
};

static const struct rule dns1035 = {
	LOWER,
	LOWER DIGITS "-",
	LOWER DIGITS,
	"a lower-case letter",
	"lower-case letters, digits and '-'",
	"a lower-case letter or digit",
};

static const struct rule label = {
	LOWER UPPER DIGITS,
	LOWER UPPER DIGITS "-_.",
	LOWER UPPER DIGITS,
	"a letter or digit",
	"letters, digits, '-', '_' and '.'",
	"a letter or digit",
};

/* What a message calls the character at p: itself, or its bytes where it can't be printed. */
static void describe(const char *p, char buf[static 16])
{
	static const char printable[] = LOWER UPPER DIGITS " !\"#$%&()*+,-./:;<=>?@[\\]^_`{|}~";

	if (strchr(printable, *p))
		(void)snprintf(buf, 16, "'%c'", *p);
	else
		(void)snprintf(buf, 16, "byte 0x%02x", (unsigned char)*p);
}

/* Names come from outside: a message must stay one line. */
static void show(const char *name, char buf[static SHOWN + 4])
{
	size_t n = strlen(name);

	(void)snprintf(buf, SHOWN + 4, "%.*s%s", SHOWN, name, n > SHOWN ? "..." : "");
	str_line(buf, '?');
}

static int too_long(const char *name, size_t n, size_t max, struct err *err)
{
	char shown[SHOWN + 4];

	show(name, shown);
	return err_set(err, -EINVAL, "'%s' is %zu bytes long; at most %zu are allowed", shown, n,
		       max);
}

static int empty(const char *what, const struct rule *rule, struct err *err)
{
	return err_set(err, -EINVAL, "%s is empty; it must begin with %s", what, rule->first_words);
}

/* Check name[from..from+n), n > 0, a part of the whole name that messages are about. */
static int check_part(const char *name, size_t from, size_t n, const struct rule *rule,
		      struct err *err)
{
	for (size_t i = from; i < from + n; i++) {
		bool first = i == from, last = i + 1 == from + n;
		char shown[SHOWN + 4], c[16];

		if (strchr(first ? rule->first : rule->inner, name[i]) &&
		    (!last || strchr(rule->last, name[i])))
			continue;
		show(name, shown);
		describe(name + i, c);
		if (strchr(rule->inner, name[i]))
			return err_set(err, -EINVAL,
				       "'%s': %s at character %zu can't stand %s; %s must", shown,
				       c, i + 1, first ? "first" : "last",
				       first ? rule->first_words : rule->last_words);
		return err_set(err, -EINVAL, "'%s': %s at character %zu is not allowed; %s are",
			       shown, c, i + 1, rule->inner_words);
	}
	return 0;
}

static int check_label(const char *name, const struct rule *rule, struct err *err)
{
	size_t n = strlen(name);

	if (n == 0)
		return empty("the name", rule, err);
	if (n > LABEL_MAX)
		return too_long(name, n, LABEL_MAX, err);
	return check_part(name, 0, n, rule, err);
}

/* The first n bytes of a name as a subdomain: labels of any length with dots between. */
static int check_subdomain(const char *name, size_t n, struct err *err)
{
	char shown[SHOWN + 4];

	if (n > SUBDOMAIN_MAX)
		return too_long(name, n, SUBDOMAIN_MAX, err);
	for (size_t at = 0; at <= n;) {
		size_t len = strcspn(name + at, ".");
		int r;

		len = len < n - at ? len : n - at;
		if (len == 0) {
			show(name, shown);
			return err_set(err, -EINVAL,
				       "'%s': nothing %s the '.' at character %zu; %s must", shown,
				       at == n ? "follows" : "is before", at == n ? at : at + 1,
				       dns1123.first_words);
		}
		r = check_part(name, at, len, &dns1123, err);
		if (r < 0)
			return r;
		at += len + 1;
	}
	return 0;
}

int name_dns1123_label(const char *name, struct err *err)
{
	return check_label(name, &dns1123, err);
}

int name_dns1035_label(const char *name, struct err *err)
{
	return check_label(name, &dns1035, err);
}

int name_dns1123_subdomain(const char *name, struct err *err)
{
	if (!*name)
		return empty("the name", &dns1123, err);
	return check_subdomain(name, strlen(name), err);
}

int name_qualified(const char *name, struct err *err)
{
	const char *slash = strchr(name, '/');
	size_t from = slash ? (size_t)(slash - name) + 1 : 0, n = strlen(name + from);
	int r;

	if (slash == name)
		return empty("the prefix before '/'", &dns1123, err);
	if (slash) {
		r = check_subdomain(name, from - 1, err);
		if (r < 0)
			return r;
	}
	if (n == 0)
		return empty(slash ? "the name after '/'" : "the name", &label, err);
	if (n > LABEL_MAX)
		return too_long(name + from, n, LABEL_MAX, err);
	return check_part(name, from, n, &label, err); /* a second '/' is not allowed there */
}

int name_label_value(const char *name, struct err *err)
{
	return *name ? check_label(name, &label, err) : 0;
}
