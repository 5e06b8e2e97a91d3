// SPDX-License-Identifier: Apache-2.0
#include "cmd/manifest.h"

#include "lib/file.h"
#include "lib/log.h"
#include "lib/util.h"
#include "lib/yaml.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct loader {
	struct manifest *to;
	const char *ns;
	int first_error; /* the errno of the first file that couldn't be read, else -EINVAL */
};

__attribute__((format(printf, 3, 4))) static void complain(struct loader *l, int code,
							   const char *fmt, ...)
{
	char text[ERR_MSG_MAX * 2];
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	log_error("%s", text);
	l->to->errors++;
	if (!l->first_error || l->first_error == -EINVAL)
		l->first_error = code;
}

static void on_wrong(void *arg, const char *text)
{
	struct loader *l = arg;

	log_error("%s", text);
	if (!l->first_error)
		l->first_error = -EINVAL;
}

static void take_fd(struct loader *l, const char *name, int fd)
{
	_cleanup_free_ char *text = NULL;
	size_t len;
	int r = file_read_fd(fd, YAML_BYTES_MAX, &text, &len);

	if (r == -EFBIG)
		complain(l, -EINVAL,
			 "%s: more than %u bytes; at most that many are taken: split it", name,
			 YAML_BYTES_MAX);
	else if (r < 0)
		complain(l, r, "%s: %s", name, strerror(-r));
	else
		manifest_take(l->to, name, text, len, l->ns, on_wrong, l);
}

static int is_manifest(const struct dirent *e)
{
	return manifest_is_file(e->d_name);
}

static void take_folder(struct loader *l, const char *path, int fd)
{
	struct dirent **names = NULL;
	int n = scandirat(fd, ".", &names, is_manifest, alphasort);

	if (n < 0)
		complain(l, -errno, "%s: %s", path, strerror(errno));
	if (n == 0)
		complain(l, -ENOENT, "%s: has no *.yaml, *.yml or *.json", path);
	for (int i = 0; i < n; i++) {
		_cleanup_free_ char *name = xasprintf(
			"%s%s%s", path, path[strlen(path) - 1] == '/' ? "" : "/", names[i]->d_name);
		_cleanup_fd_ int file = openat(fd, names[i]->d_name, O_RDONLY | O_CLOEXEC);

		if (file < 0)
			complain(l, -errno, "%s: %s", name, strerror(errno));
		else
			take_fd(l, name, file);
		free(names[i]);
	}
	free(names);
}

static void take_path(struct loader *l, const char *path)
{
	_cleanup_fd_ int fd = -1;
	struct stat st;

	if (str_eq(path, "-")) {
		take_fd(l, "stdin", STDIN_FILENO);
		return;
	}
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st) < 0)
		complain(l, -errno, "%s: %s", *path ? path : "-f ''", strerror(errno));
	else if (S_ISDIR(st.st_mode))
		take_folder(l, path, fd);
	else
		take_fd(l, path, fd);
}

int manifest_load(const struct texts *paths, const char *ns, struct manifest *ret)
{
	struct loader l = {.to = ret, .ns = ns};

	*ret = (struct manifest){0};
	for (size_t i = 0; i < paths->n; i++)
		take_path(&l, paths->v[i]);
	if (ret->n == 0 && !ret->errors)
		complain(&l, -EINVAL, "%s: no object in it", paths->n ? paths->v[0] : "-f");
	manifest_sort(ret);
	return l.first_error;
}
