// SPDX-License-Identifier: Apache-2.0
#include "cmd/bench_samples.h"

#include "lib/util.h"

#include <string.h>

void samples_add(struct samples *s, int64_t value)
{
	s->v = xrealloc(s->v, s->n + 1, sizeof *s->v);
	s->v[s->n++] = value;
}

void samples_done(struct samples *s)
{
	free(s->v);
	*s = (struct samples){0};
}

static int compare(const void *a, const void *b)
{
	const int64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

struct summary samples_summary(const struct samples *s)
{
	_cleanup_free_ int64_t *sorted = NULL;
	size_t half = s->n / 2;
	struct summary sum = {.n = s->n};

	if (!s->n)
		return sum;
	sorted = xcalloc(s->n, sizeof *sorted);
	memcpy(sorted, s->v, s->n * sizeof *sorted);
	qsort(sorted, s->n, sizeof *sorted, compare);
	sum.min = sorted[0];
	sum.max = sorted[s->n - 1];
	sum.median =
		s->n % 2 ? sorted[half] : sorted[half - 1] + (sorted[half] - sorted[half - 1]) / 2;
	return sum;
}

json_t *samples_json(const struct samples *s)
{
	struct summary sum = samples_summary(s);

	if (!s->n)
		return json_null();
	return json_pack("{s:I, s:I, s:I, s:I}", "median", (json_int_t)sum.median, "min",
			 (json_int_t)sum.min, "max", (json_int_t)sum.max, "n", (json_int_t)sum.n);
}
