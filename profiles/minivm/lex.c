/* SPDX-License-Identifier: BSD-2-Clause */
/* Splits source text into tokens. */
#include "lex.h"

#include <stdlib.h>
#include <string.h>

static const struct {
	const char *text;
	enum mv_token kind;
} words[] = {
    {"fn", T_FN},   {"let", T_LET},     {"if", T_IF},         {"else", T_ELSE}, {"while", T_WHILE},
    {"for", T_FOR}, {"break", T_BREAK}, {"return", T_RETURN}, {"true", T_TRUE}, {"false", T_FALSE},
    {"nil", T_NIL}, {"and", T_AND},     {"or", T_OR},
};

void mv_lex_init(struct mv_lex *lex, const char *src, size_t len)
{
	*lex = (struct mv_lex){.p = src, .end = src + len, .line = 1};
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_name(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || is_digit(c);
}

static void skip_blanks(struct mv_lex *lex)
{
	for (; lex->p < lex->end; lex->p++) {
		if (*lex->p == '\n') {
			lex->line++;
		} else if (*lex->p == '#') {
			while (lex->p + 1 < lex->end && lex->p[1] != '\n')
				lex->p++;
		} else if (*lex->p != ' ' && *lex->p != '\t' && *lex->p != '\r') {
			break;
		}
	}
}

static enum mv_token number(struct mv_lex *lex)
{
	const char *start = lex->p;
	char buf[40];
	size_t n;
	bool whole = true;

	for (; lex->p < lex->end; lex->p++) {
		if (*lex->p == '.' || *lex->p == 'e')
			whole = false;
		else if (!is_digit(*lex->p) && !(*lex->p == '-' && lex->p[-1] == 'e'))
			break;
	}
	n = (size_t)(lex->p - start);
	if (whole && n <= 18) {
		lex->i = 0;
		for (size_t i = 0; i < n; i++)
			lex->i = lex->i * 10 + (start[i] - '0');
		return T_INT;
	}
	if (whole || n >= sizeof(buf))
		return T_BAD;
	memcpy(buf, start, n);
	buf[n] = '\0';
	lex->d = strtod(buf, NULL);
	return T_NUM;
}

static enum mv_token name(struct mv_lex *lex)
{
	lex->text = lex->p;
	while (lex->p < lex->end && is_name(*lex->p))
		lex->p++;
	lex->len = (size_t)(lex->p - lex->text);
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (words[i].text[0] == lex->text[0] && strlen(words[i].text) == lex->len &&
		    memcmp(words[i].text, lex->text, lex->len) == 0)
			return words[i].kind;
	}
	return T_NAME;
}

/* No escapes: there is chr() for the rest. */
static enum mv_token string(struct mv_lex *lex)
{
	lex->text = ++lex->p;
	while (lex->p < lex->end && *lex->p != '"' && *lex->p != '\n')
		lex->p++;
	lex->len = (size_t)(lex->p - lex->text);
	if (lex->p == lex->end || *lex->p != '"')
		return T_BAD;
	lex->p++;
	return T_STR;
}

/* The token one: or, where the next character is second, the token two. */
static enum mv_token either(struct mv_lex *lex, char second, enum mv_token two, enum mv_token one)
{
	if (lex->p == lex->end || *lex->p != second)
		return one;
	lex->p++;
	return two;
}

static enum mv_token symbol(struct mv_lex *lex)
{
	static const char single[] = "()[]{},;:.+-*/%&|^";
	static const enum mv_token kinds[] = {
	    T_LPAREN, T_RPAREN,    T_LBRACKET, T_RBRACKET, T_LBRACE, T_RBRACE,
	    T_COMMA,  T_SEMICOLON, T_COLON,    T_DOT,      T_PLUS,   T_MINUS,
	    T_STAR,   T_SLASH,     T_PERCENT,  T_AMP,      T_PIPE,   T_CARET,
	};
	char c = *lex->p++;
	const char *at;

	switch (c) {
	case '=':
		return either(lex, '=', T_EQ, T_ASSIGN);
	case '!':
		return either(lex, '=', T_NE, T_BANG);
	case '<':
		return either(lex, '<', T_SHL, either(lex, '=', T_LE, T_LT));
	case '>':
		return either(lex, '>', T_SHR, either(lex, '=', T_GE, T_GT));
	default:
		at = c ? strchr(single, c) : NULL;
		return at ? kinds[at - single] : T_BAD;
	}
}

void mv_lex_next(struct mv_lex *lex)
{
	skip_blanks(lex);
	if (lex->p == lex->end)
		lex->kind = T_EOF;
	else if (is_digit(*lex->p))
		lex->kind = number(lex);
	else if (is_name(*lex->p))
		lex->kind = name(lex);
	else if (*lex->p == '"')
		lex->kind = string(lex);
	else
		lex->kind = symbol(lex);
}
