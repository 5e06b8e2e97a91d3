// SPDX-License-Identifier: Apache-2.0
/* A command line for a shell to take and for people to read. Pure. */
#pragma once

/* One word, as a shell takes it; the caller's. */
char *quote_word(const char *word);

/*
 * One line per option with its value, "\" at the ends of the lines, words quoted where a shell
 * would take them otherwise; ends in a newline. The caller's.
 */
char *quote_argv(char *const *argv);
