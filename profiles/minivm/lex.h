/* SPDX-License-Identifier: BSD-2-Clause */
/* The tokens of the mini language. */
#ifndef MINIVM_LEX_H
#define MINIVM_LEX_H

#include "value.h"

enum mv_token {
	T_EOF,
	T_INT,
	T_NUM,
	T_STR,
	T_NAME,
	T_FN,
	T_LET,
	T_IF,
	T_ELSE,
	T_WHILE,
	T_FOR,
	T_BREAK,
	T_RETURN,
	T_TRUE,
	T_FALSE,
	T_NIL,
	T_AND,
	T_OR,
	T_LPAREN,
	T_RPAREN,
	T_LBRACKET,
	T_RBRACKET,
	T_LBRACE,
	T_RBRACE,
	T_COMMA,
	T_SEMICOLON,
	T_COLON,
	T_DOT,
	T_ASSIGN,
	T_EQ,
	T_NE,
	T_LT,
	T_LE,
	T_GT,
	T_GE,
	T_PLUS,
	T_MINUS,
	T_STAR,
	T_SLASH,
	T_PERCENT,
	T_AMP,
	T_PIPE,
	T_CARET,
	T_SHL,
	T_SHR,
	T_BANG,
	T_BAD,
	T_N
};

/* The source is borrowed. The fields below line describe the current token. */
struct mv_lex {
	const char *p, *end;
	unsigned line;
	enum mv_token kind;
	const char *text; /* of a name or of a string without its quotes */
	size_t len;
	int64_t i;
	double d;
};

void mv_lex_init(struct mv_lex *lex, const char *src, size_t len);
/* Steps to the next token; at the end it stays at T_EOF. */
void mv_lex_next(struct mv_lex *lex);

#endif
