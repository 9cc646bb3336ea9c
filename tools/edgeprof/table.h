/* SPDX-License-Identifier: BSD-2-Clause */
/* Tables for a terminal: aligned columns, share bars, text from files made harmless. */
#ifndef EP_TOOLS_TABLE_H
#define EP_TOOLS_TABLE_H

#include <jansson.h>
#include <stdio.h>

#include "base/vec.h"

#define EP_TABLE_COLUMNS_MAX 12

/*
 * Start with the headings: `struct ep_table t = {.headings = {"from", ">count", NULL}}`. One that
 * begins with '>' is of a column of numbers, aligned right.
 */
struct ep_table {
	const char *headings[EP_TABLE_COLUMNS_MAX + 1];
	EP_VEC(char *) cells; /* row by row */
	bool failed;          /* sticky: out of memory; cells are missing */
};

/* Adds a cell, left to right and row by row. Control characters are shown as \xNN. */
void ep_table_cell(struct ep_table *table, const char *fmt, ...) EP_PRINTF(2, 3);

/* A cell with a number in groups of three digits. */
void ep_table_number(struct ep_table *table, uint64_t v);

/* A cell with part/whole in percent, and one with a bar of that share. */
void ep_table_share(struct ep_table *table, double part, double whole);
void ep_table_bar(struct ep_table *table, double part, double whole);

/* Prints all rows, indented by two columns, and empties the table. */
void ep_table_print(struct ep_table *table, FILE *stream);

/* Prints a title above a table; bold where the stream takes colours. */
void ep_table_title(FILE *stream, const char *title);

/* The text with control characters and what is not UTF-8 as \xNN, malloc'ed; NULL: no memory. */
char *ep_text_harmless(const char *text);

/* A string of a file as JSON: what is not UTF-8 is shown as \xNN. NULL: no memory. */
json_t *ep_json_text(const char *text);

/* Digits in groups of three. */
const char *ep_text_number(uint64_t v, char buf[32]);

/* A number of things: "1 binary", "2,000 binaries". `things` is their English plural. */
#define EP_TEXT_COUNT_MAX 64
const char *ep_text_count(uint64_t n, const char *things, char buf[EP_TEXT_COUNT_MAX]);

#endif
