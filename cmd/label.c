// SPDX-License-Identifier: Apache-2.0
#include "cmd/label.h"

#include "api/meta.h"
#include "api/names.h"
#include "lib/util.h"

#include <errno.h>
#include <string.h>

#define KINDS                                                                                      \
	"vmi, vm, net-attach-def, kubevirt, hyperconverged, kubeletconfiguration, namespace, "     \
	"node or event"

const struct kind *label_vmi(void)
{
	return kind_by_word("vmi");
}

/* alone: the only word there is, perhaps a VM's name where a kind is wanted. */
static int known_kind(const char *word, bool alone, const struct kind **ret, struct err *err)
{
	const struct kind *k = kind_by_word(word);

	if (!k && alone && name_dns1123_subdomain(word, NULL) == 0)
		return err_set(err, -EINVAL,
			       "'%.100s' is no kind; a VM of that name is vmi/%.100s (kinds: " KINDS
			       ")",
			       word, word);
	if (!k)
		return err_set(err, -EINVAL, "'%.100s' is no kind; say " KINDS, word);
	*ret = k;
	return 0;
}

static int slashed(const char *word, struct target *ret, struct err *err)
{
	const char *slash = strchr(word, '/');
	_cleanup_free_ char *kind = xstrndup(word, (size_t)(slash - word));

	ret->name = slash + 1;
	return known_kind(kind, /* alone= */ false, &ret->kind, err);
}

static int check_name(const struct target *t, struct err *err)
{
	struct err why = {0};

	if (!t->name || t->kind->singleton || name_dns1123_subdomain(t->name, &why) == 0)
		return 1;
	return err_set(err, -EINVAL, "'%.100s' is no name: %s", t->name, why.msg);
}

int label_target(int argc, char **argv, const struct kind *def, int i, struct target *ret,
		 struct err *err)
{
	struct target t = {.kind = def};
	/* a first word that is a kind says what the names behind it are */
	bool kind_first =
		argc > 0 && !strchr(argv[0], '/') && (!def || (argc > 1 && kind_by_word(argv[0])));
	int at = i + (kind_first ? 1 : 0), r = 0;

	if (kind_first)
		r = known_kind(argv[0], argc == 1, &t.kind, err);
	if (r < 0)
		return r;
	if (kind_first && argc == 1 && i == 0) {
		*ret = t;
		return 1;
	}
	if (at >= argc)
		return 0;
	t.name = argv[at];
	if (strchr(t.name, '/'))
		r = slashed(argv[at], &t, err);
	else if (!t.kind)
		r = err_set(err, -EINVAL, "'%.100s': say KIND NAME or KIND/NAME", t.name);
	if (r == 0)
		r = check_name(&t, err);
	if (r == 1)
		*ret = t;
	return r;
}

int label_check(int argc, char **argv, const struct kind *def, bool need_name, struct err *err)
{
	struct target t = {0};
	int r;

	for (int i = 0; (r = label_target(argc, argv, def, i, &t, err)) > 0; i++)
		if (need_name && !t.name && !t.kind->singleton)
			return err_set(err, -EINVAL, "which %s? say its name", label_kind(t.kind));
	return r;
}

int label_one_vmi(int argc, char **argv, struct target *ret, struct err *err)
{
	struct target t = {0}, more = {0};
	int r = label_target(argc, argv, label_vmi(), 0, &t, err);

	if (r < 0)
		return r;
	if (r == 0 || !t.name || label_target(argc, argv, label_vmi(), 1, &more, err) != 0)
		return err_set(err, -EINVAL, "say one VM: NAME or vmi/NAME");
	if (!str_eq(t.kind->singular, "virtualmachineinstance") &&
	    !str_eq(t.kind->singular, "virtualmachine"))
		return err_set(err, -EINVAL, "a %s is no VM: say NAME or vmi/NAME",
			       label_kind(t.kind));
	t.kind = label_vmi();
	*ret = t;
	return 0;
}
