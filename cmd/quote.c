// SPDX-License-Identifier: Apache-2.0
#include "cmd/quote.h"

#include "lib/util.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static void put_word(FILE *to, const char *word)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				    "0123456789-_=+./:,@%";

	if (*word && strspn(word, plain) == strlen(word)) {
		(void)fputs(word, to);
		return;
	}
	(void)fputc('\'', to);
	for (; *word; word++)
		if (*word == '\'')
			(void)fputs("'\\''", to);
		else
			(void)fputc(*word, to);
	(void)fputc('\'', to);
}

static FILE *open_text(char **text, size_t *len)
{
	FILE *to = open_memstream(text, len);

	if (!to)
		abort(); /* out of memory, as lib/util.h has it */
	return to;
}

char *quote_word(const char *word)
{
	char *text = NULL;
	size_t len;
	FILE *to = open_text(&text, &len);

	put_word(to, word);
	(void)fclose(to);
	return text;
}

char *quote_argv(char *const *argv)
{
	char *text = NULL;
	size_t len;
	FILE *to = open_text(&text, &len);

	for (size_t i = 0; argv[i]; i++) {
		/* a value stays on the line of its option */
		bool value = i > 1 && argv[i][0] != '-' && argv[i - 1][0] == '-';

		if (i)
			(void)fputs(value ? " " : " \\\n    ", to);
		put_word(to, argv[i]);
	}
	(void)fputc('\n', to);
	(void)fclose(to);
	return text;
}
