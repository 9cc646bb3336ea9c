/* SPDX-License-Identifier: BSD-2-Clause */
/* Tables for a terminal. */
#include "table.h"

#include <stdarg.h>
#include <string.h>

#include "cmd.h"

#define BAR_WIDTH 16

static bool utf8_locale(void)
{
	static const char *const names[] = {"LC_ALL", "LC_CTYPE", "LANG"};

	for (size_t i = 0; i < EP_ARRAY_LEN(names); i++) {
		const char *v = getenv(names[i]);
		if (v && *v)
			return strstr(v, "UTF-8") || strstr(v, "utf8");
	}
	return false;
}

/* Bytes of the well-formed, printable UTF-8 character at `s`; 0 if it is none. */
static size_t character(const unsigned char *s)
{
	static const unsigned least[] = {0, 0, 0x80, 0x800, 0x10000};
	size_t n = s[0] < 0x80 ? 1 : s[0] < 0xc2 ? 0 : s[0] < 0xe0 ? 2 : s[0] < 0xf0 ? 3 : 4;
	unsigned c = n < 2 ? s[0] : s[0] & (0xffu >> (n + 1));

	if (!n || s[0] > 0xf4)
		return 0;
	for (size_t i = 1; i < n; i++) {
		if ((s[i] & 0xc0) != 0x80)
			return 0;
		c = c << 6 | (s[i] & 0x3f);
	}
	/* Control characters, also those of ISO 8859, and what UTF-8 must not hold. */
	if (c < 0x20 || (c >= 0x7f && c < 0xa0) || c < least[n] || c > 0x10ffff ||
	    (c >= 0xd800 && c < 0xe000))
		return 0;
	return n;
}

char *ep_text_harmless(const char *text)
{
	char *out = malloc(4 * strlen(text) + 1), *p = out;

	if (!out)
		return NULL;
	while (*text) {
		size_t n = character((const unsigned char *)text);
		if (n) {
			memcpy(p, text, n);
			p += n;
			text += n;
		} else {
			p += sprintf(p, "\\x%02x", (unsigned char)*text++);
		}
	}
	*p = '\0';
	return out;
}

json_t *ep_json_text(const char *text)
{
	json_t *json = json_string(text);

	if (json)
		return json;
	ep_autofree char *harmless = ep_text_harmless(text);
	return harmless ? json_string(harmless) : NULL;
}

const char *ep_text_number(uint64_t v, char buf[32])
{
	char digits[24];
	int n = snprintf(digits, sizeof(digits), "%llu", (unsigned long long)v);
	char *p = buf;

	for (int i = 0; i < n; i++) {
		if (i && (n - i) % 3 == 0)
			*p++ = ',';
		*p++ = digits[i];
	}
	*p = '\0';
	return buf;
}

static bool ends_with(const char *text, size_t n, const char *tail)
{
	size_t n_tail = strlen(tail);

	return n >= n_tail && !memcmp(text + n - n_tail, tail, n_tail);
}

const char *ep_text_count(uint64_t n, const char *things, char buf[EP_TEXT_COUNT_MAX])
{
	char number[32];
	size_t n_word = strlen(things);
	bool ies = ends_with(things, n_word, "ies");
	bool es = ends_with(things, n_word, "sses") || ends_with(things, n_word, "ches");

	ep_text_number(n, number);
	if (n == 1)
		snprintf(buf, EP_TEXT_COUNT_MAX, "%s %.*s%s", number,
		         (int)(n_word - (ies  ? 3
		                         : es ? 2
		                              : 1)),
		         things, ies ? "y" : "");
	else
		snprintf(buf, EP_TEXT_COUNT_MAX, "%s %s", number, things);
	return buf;
}

void ep_table_cell(struct ep_table *table, const char *fmt, ...)
{
	va_list ap;
	char *text = NULL;

	va_start(ap, fmt);
	int n = vasprintf(&text, fmt, ap);
	va_end(ap);
	char *cell = n < 0 ? NULL : ep_text_harmless(text);
	if (n >= 0)
		free(text);
	if (!cell || !ep_vec_push(&table->cells, cell)) {
		free(cell);
		table->failed = true;
	}
}

void ep_table_number(struct ep_table *table, uint64_t v)
{
	char buf[32];

	ep_table_cell(table, "%s", ep_text_number(v, buf));
}

void ep_table_share(struct ep_table *table, double part, double whole)
{
	if (whole > 0)
		ep_table_cell(table, "%.2f %%", 100.0 * part / whole);
	else
		ep_table_cell(table, "-");
}

void ep_table_bar(struct ep_table *table, double part, double whole)
{
	static const char *const eighths[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
	char bar[4 * BAR_WIDTH + 1], *p = bar;
	double share = whole > 0 ? part / whole : 0;
	unsigned n = (unsigned)(share * BAR_WIDTH * 8 + 0.5);
	bool utf8 = utf8_locale();

	n = EP_MIN(n, BAR_WIDTH * 8u);
	for (unsigned i = 0; i < n / 8; i++)
		p = stpcpy(p, utf8 ? "█" : "#");
	stpcpy(p, utf8 ? eighths[n % 8] : "");
	ep_table_cell(table, "%s", bar);
}

/* Columns a text takes: UTF-8 continuation bytes take none. */
static int width_of(const char *text)
{
	int n = 0;

	for (; *text; text++)
		n += ((unsigned char)*text & 0xc0) != 0x80;
	return n;
}

static void print_cell(FILE *stream, const char *text, int width, bool right, bool last)
{
	int pad = width - width_of(text);

	fprintf(stream, "  %*s%s%*s", right ? pad : 0, "", text, right || last ? 0 : pad, "");
}

void ep_table_print(struct ep_table *table, FILE *stream)
{
	int widths[EP_TABLE_COLUMNS_MAX] = {0};
	bool right[EP_TABLE_COLUMNS_MAX] = {false};
	size_t n = 0;
	bool color = ep_tty_color(stream);

	for (; n < EP_TABLE_COLUMNS_MAX && table->headings[n]; n++) {
		right[n] = table->headings[n][0] == '>';
		widths[n] = width_of(table->headings[n] + right[n]);
	}
	for (size_t i = 0; n && i < table->cells.n; i++)
		widths[i % n] = EP_MAX(widths[i % n], width_of(table->cells.v[i]));
	fputs(color ? "\033[2m" : "", stream);
	for (size_t i = 0; i < n; i++)
		print_cell(stream, table->headings[i] + right[i], widths[i], right[i], i + 1 == n);
	fputs(color ? "\033[0m\n" : "\n", stream);
	for (size_t i = 0; n && i < table->cells.n; i++) {
		size_t k = i % n;
		print_cell(stream, table->cells.v[i], widths[k], right[k], k + 1 == n);
		if (k + 1 == n)
			fputc('\n', stream);
	}
	for (size_t i = 0; i < table->cells.n; i++)
		free(table->cells.v[i]);
	ep_vec_deinit(&table->cells);
	if (table->failed)
		fputs("  (out of memory: the table is not complete)\n", stream);
	table->failed = false;
}

void ep_table_title(FILE *stream, const char *title)
{
	bool color = ep_tty_color(stream);

	fprintf(stream, "\n%s%s%s\n", color ? "\033[1m" : "", title, color ? "\033[0m" : "");
}
