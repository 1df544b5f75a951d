// SPDX-License-Identifier: MIT
// Tokens of PTX text.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum px_token_kind {
    PX_TOKEN_END,
    PX_TOKEN_NAME,    // %r1, foo, $L1, _
    PX_TOKEN_DOTTED,  // .reg, .L2::128B: the text includes the first dot
    PX_TOKEN_INTEGER, // value
    PX_TOKEN_FLOAT,   // value has the bits of an f64; `single`: of an f32 (0f…)
    PX_TOKEN_STRING,  // the text without quotation marks
    PX_TOKEN_SIGN,  // one of + - * / % & | ^ ~ ! < > = ( ) [ ] { } , ; : ? @, or two: << >> == …
    PX_TOKEN_WRONG, // a character, a number or a comment that PTX does not have
};

struct px_token {
    enum px_token_kind kind;
    bool is_unsigned; // of an integer: U suffix, or too large for 63 bits
    bool single;
    unsigned line;
    uint32_t length;
    const char *at;
    uint64_t value;
};

// Reads a range of text token by token; `token` is the one that is read now.
struct px_lexer {
    const char *at, *end;
    unsigned line;
    struct px_token token;
};

void px_lex_start(struct px_lexer *x, const char *at, const char *end, unsigned line);
void px_lex_next(struct px_lexer *x);
// Whether the token is this sign, name or dotted word.
bool px_lex_is(const struct px_lexer *x, const char *text);
// The same, and goes on to the next token if so.
bool px_lex_take(struct px_lexer *x, const char *text);
// The token is a {: goes on after the } that belongs to it, without a look at the tokens. Returns
// false if there is none.
bool px_lex_skip_body(struct px_lexer *x);
