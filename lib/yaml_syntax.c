// SPDX-License-Identifier: Apache-2.0
#include "lib/yaml_syntax.h"

#include <errno.h>
#include <string.h>

#include "lib/util.h"
#include "lib/yaml_tree.h"

/* What libyaml says less well. */
#define NO_BLANK "no blank after ':'"
#define CUT_OFF	 "the text ends where more must follow"

unsigned yaml_line_at(const struct yaml_text *in, size_t offset)
{
	unsigned line = 1;

	for (size_t i = 0; i < offset && i < in->len; i++)
		line += in->text[i] == '\n';
	return line;
}

/* The bytes of a line, without its end; empty where there is none. */
static const char *line_text(const struct yaml_text *in, unsigned line, size_t *ret_len)
{
	const char *p = in->text, *end = p + in->len, *newline = NULL;

	while (--line && (p = memchr(p, '\n', (size_t)(end - p))))
		p++;
	if (!p)
		p = end;
	newline = p < end ? memchr(p, '\n', (size_t)(end - p)) : NULL;
	*ret_len = (size_t)((newline ? newline : end) - p);
	return p;
}

/* "key:value": a blank is missing, so that the line has no key at all. */
static bool blank_missing(const struct yaml_text *in, unsigned line)
{
	size_t len;
	const char *p = line_text(in, line, &len), *colon = len ? memchr(p, ':', len) : NULL;

	return colon && colon > p && colon + 1 < p + len && !strchr(" \t\r/", colon[1]) &&
	       !memmem(p, len, ": ", 2);
}

static unsigned last_line(const struct yaml_text *in)
{
	size_t end = in->len;

	while (end && strchr(" \t\r\n", in->text[end - 1]))
		end--;
	return yaml_line_at(in, end);
}

/* Is nothing but blanks behind a place? */
static bool at_end(const struct yaml_text *in, const yaml_mark_t *mark)
{
	size_t len;
	const char *p = line_text(in, yaml_line_of(mark), &len), *end = in->text + in->len;

	for (size_t column = 0; p < end && column < mark->column; column++)
		do /* columns are letters */
			p++;
		while (p < end && (*p & 0xc0) == 0x80);
	while (p < end && strchr(" \t\r\n", *p))
		p++;
	return p == end;
}

/* What the line gives away, whatever libyaml makes of it; or NULL. */
static const char *cure_by_line(const struct yaml_text *in, unsigned line)
{
	static const char *const conflict[] = {"<<<<<<<", "=======", ">>>>>>>"};
	size_t len, first = 0;
	const char *p = line_text(in, line, &len);

	for (size_t i = 0; i < len && (p[i] == ' ' || p[i] == '\t'); i++)
		if (p[i] == '\t')
			return "a tab can't indent YAML: use spaces";
	for (size_t i = 0; i < ARRAY_SIZE(conflict); i++)
		if (len >= 7 && !memcmp(p, conflict[i], 7))
			return "resolve the merge conflict first";
	if (len && memmem(p, len, "{{", 2))
		return "fill in the template first";
	while (first < in->len && strchr(" \t\r\n", in->text[first]))
		first++;
	if (first < in->len && in->text[first] == '<')
		return "this is a web page or XML, not a manifest";
	return NULL;
}

/* What to do about it, for the mistakes that people make; libyaml says only what it met. */
static const char *cure(const struct yaml_text *in, const char *problem, unsigned line,
			unsigned began)
{
	static const struct {
		const char *problem, *cure;
	} cures[] = {
		{"mapping values are not allowed",
		 "indent as the lines around it, or quote a value that holds ': '"},
		{"did not find expected key",
		 "indent as the lines around it, and put nothing but 'key: value' here"},
		{"did not find expected '-'",
		 "a list takes only '- item' lines at its indentation"},
		{"block sequence entries are not allowed", "begin the list on a line of its own"},
		{"could not find expected ':'",
		 "a key needs ': ' after it, and has at most 1024 characters"},
		{"found unexpected end of stream", "close the quote or bracket"},
		{"cannot start any token", "quote the value"},
		{"did not find expected ','", "separate the items by ',' and close the bracket"},
		{"found unknown escape", "write \\\\ for a backslash, or use single quotes"},
		{"invalid Unicode character escape",
		 "write the character itself, or \\U and 8 digits"},
		{"invalid Unicode character", "save the file as UTF-8"},
		{"control characters", "write it as an escape in double quotes"},
		{"UTF-8", "save the file as UTF-8"},
		{"did not find expected <document start>",
		 "put ': ' with its blank between key and value, or '---' before a further "
		 "document"},
		{"did not find expected node content", "write a value here, or take the comma out"},
		{"mapping keys are not allowed", "quote a value that begins with '?'"},
		{"incompatible YAML document", "take the %YAML line out"},
		{NO_BLANK, "write 'key: value'"},
		{CUT_OFF, "close the bracket, or restore what was cut off"},
	};
	const char *by_line = cure_by_line(in, line);

	if (!by_line && began < line)
		by_line = cure_by_line(in, began);
	if (by_line)
		return by_line;
	for (size_t i = 0; i < ARRAY_SIZE(cures); i++)
		if (strstr(problem, cures[i].problem))
			return cures[i].cure;
	return "correct the syntax";
}

int yaml_syntax_error(const yaml_parser_t *p, const struct yaml_text *in, struct err *err)
{
	const char *problem = p->problem ? p->problem : "not YAML";
	unsigned line, began;

	if (p->error == YAML_MEMORY_ERROR)
		return yaml_fail(err, -ENOMEM, in->name, 0, "out of memory");
	if (p->error == YAML_READER_ERROR)
		line = yaml_line_at(in, p->problem_offset);
	else if (p->context && strstr(problem, "unexpected end of stream"))
		line = yaml_line_of(&p->context_mark); /* where it began; the end says nothing */
	else
		line = yaml_line_of(&p->problem_mark);
	if (strstr(problem, "mapping values are not allowed") && line > 1 &&
	    blank_missing(in, line - 1)) {
		problem = NO_BLANK; /* the line before went on into this one */
		line--;
	} else if (strstr(problem, "did not find expected") && at_end(in, &p->problem_mark)) {
		problem = CUT_OFF;
		line = last_line(in);
	}
	began = p->context && yaml_line_of(&p->context_mark) < line ? yaml_line_of(&p->context_mark)
								    : line;
	if (began < line)
		return yaml_fail(err, -EINVAL, in->name, line, "%s (%s that began in line %u); %s",
				 problem, p->context, began, cure(in, problem, line, began));
	return yaml_fail(err, -EINVAL, in->name, line, "%s; %s", problem,
			 cure(in, problem, line, began));
}
