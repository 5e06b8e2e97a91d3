// SPDX-License-Identifier: Apache-2.0
#include "api/plan_check.h"

#include <errno.h>

#include "api/text.h"
#include "lib/cpus.h"
#include "lib/json.h"

/* --- cells ------------------------------------------------------------------------------------- */

json_t *plan_cells_to_json(const struct plan *p)
{
	json_t *list = json_array();

	for (unsigned i = 0; i < p->n_cells; i++) {
		const struct plan_cell *cell = &p->cells[i];
		json_t *distances = json_array();

		for (unsigned k = 0; k < p->n_cells; k++)
			(void)json_array_append_new(distances, json_integer(cell->distance[k]));
		(void)json_array_append_new(list, json_pack("{s:s, s:s, s:I, s:o}", "hostNodes",
							    cell->host_nodes, "vcpus", cell->vcpus,
							    "memory", (json_int_t)cell->memory,
							    "distances", distances));
	}
	return list;
}

void plan_cells_free(struct plan *p)
{
	for (unsigned i = 0; i < p->n_cells; i++) {
		free(p->cells[i].host_nodes);
		free(p->cells[i].vcpus);
	}
}

static int decode_distances(const json_t *list, unsigned self, size_t n, struct plan_cell *cell)
{
	if (!json_is_array(list) || json_array_size(list) != n)
		return -EBADMSG;
	for (size_t i = 0; i < n; i++) {
		const json_t *value = json_array_get(list, i);
		json_int_t d = json_integer_value(value);

		if (!json_is_integer(value) || (i == self ? d != 10 : d < 11 || d > 254))
			return -EBADMSG;
		cell->distance[i] = (uint8_t)d;
	}
	return 0;
}

static char *decode_list(const json_t *json, const char *key)
{
	const char *text = json_string_value(json_object_get(json, key));

	return text && text_ok(text, TEXT_CPUS) ? xstrdup(text) : NULL;
}

int plan_cells_from_json(const json_t *list, struct plan *p, bool exact, struct err *err)
{
	size_t n = json_array_size(list);

	if (!list && !exact)
		return 0;
	if (!json_is_array(list) || n > PLAN_MAX_CELLS)
		return err_set(err, -EBADMSG, "cells: must be a list of at most %d",
			       PLAN_MAX_CELLS);
	for (unsigned i = 0; i < n; i++) {
		const json_t *json = json_array_get(list, i);
		const json_t *memory = json_object_get(json, "memory");
		struct plan_cell *cell = &p->cells[i];

		p->n_cells = i + 1; /* first, so that plan_free sees a half-read one */
		cell->host_nodes = decode_list(json, "hostNodes");
		cell->vcpus = decode_list(json, "vcpus");
		cell->memory = (uint64_t)json_integer_value(memory);
		if ((exact && json_object_size(json) != 4) || !cell->host_nodes || !cell->vcpus ||
		    !json_is_integer(memory) || cell->memory < 1 || cell->memory > PLAN_MAX_BYTES ||
		    decode_distances(json_object_get(json, "distances"), i, n, cell) < 0)
			return err_set(err, -EBADMSG, "cells[%u]: has a wrong member", i);
	}
	return 0;
}

/* --- between members --------------------------------------------------------------------------- */

/* The list's numbers, none of them in `seen` already or beyond the VM's vCPUs; they are added to it. */
static bool take_vcpus(const struct plan *p, const char *list, cpu_set_t *seen)
{
	cpu_set_t cpus, both;

	if (cpus_parse(list, &cpus) < 0 ||
	    cpus_next(&cpus, (int)plan_vcpus(p) - 1) >= 0) /* any beyond the last? */
		return false;
	CPU_AND(&both, &cpus, seen);
	CPU_OR(seen, seen, &cpus);
	return CPU_COUNT(&both) == 0;
}

static int check_cells(const struct plan *p, struct err *err)
{
	uint64_t sum = 0;
	cpu_set_t seen;

	CPU_ZERO(&seen);
	for (unsigned i = 0; i < p->n_cells; i++) {
		if (!take_vcpus(p, p->cells[i].vcpus, &seen))
			return err_set(err, -EBADMSG, "cells[%u].vcpus: not the VM's, or twice", i);
		if (p->hugepage_size && p->cells[i].memory % p->hugepage_size)
			return err_set(err, -EBADMSG, "cells[%u].memory: not whole pages", i);
		sum += p->cells[i].memory;
	}
	if (p->n_cells && sum != p->memory_guest)
		return err_set(err, -EBADMSG, "cells: their memory is not memoryGuest");
	if (p->n_cells && (unsigned)CPU_COUNT(&seen) != plan_vcpus(p))
		return err_set(err, -EBADMSG, "cells: do not have all vCPUs");
	if (p->n_cells && !p->dedicated_cpus)
		return err_set(err, -EBADMSG, "cells: go with dedicatedCpus");
	if (p->n_cells > 1 && !p->numa_passthrough)
		return err_set(err, -EBADMSG, "cells: several go with numaPassthrough");
	return 0;
}

static int check_memory(const struct plan *p, struct err *err)
{
	/* pages of the pool are not charged to the pod */
	if (!p->hugepage_size && p->memory_limit < p->memory_guest)
		return err_set(err, -EBADMSG, "memoryLimit: is less than memoryGuest");
	if (!!p->tcg_tb_size != (p->accel == ACCEL_TCG))
		return err_set(err, -EBADMSG, "tcgTbSize: goes with accel tcg");
	if (p->hugepage_size &&
	    (!plan_hugepage_known(p->hugepage_size) || p->memory_guest % p->hugepage_size))
		return err_set(err, -EBADMSG, "hugepageSize: memoryGuest must be whole pages");
	if (p->numa_passthrough && (!p->dedicated_cpus || !p->hugepage_size))
		return err_set(err, -EBADMSG,
			       "numaPassthrough: goes with dedicatedCpus and hugepageSize");
	return 0;
}

int plan_check_vcpus(const struct plan *p, struct err *err)
{
	uint64_t n = (uint64_t)p->sockets * p->cores * p->threads;

	if (n > PLAN_MAX_VCPUS)
		return err_set(err, -EBADMSG, "sockets × cores × threads is more than %d",
			       PLAN_MAX_VCPUS);
	return n ? 0 : err_set(err, -EBADMSG, "sockets × cores × threads is nothing");
}

int plan_check(const struct plan *p, struct err *err)
{
	int r = plan_check_vcpus(p, err);
	cpu_set_t none;

	if (r < 0)
		return r;
	CPU_ZERO(&none);
	r = check_memory(p, err);
	if (r == 0)
		r = check_cells(p, err);
	if (r == 0 && p->realtime_vcpus &&
	    (!p->dedicated_cpus || !take_vcpus(p, p->realtime_vcpus, &none)))
		return err_set(err, -EBADMSG, "realtimeVcpus: must be the VM's dedicated ones");
	return r;
}
