// SPDX-License-Identifier: MIT
// Changes PTX texts as texts: whole statements, modifiers, operands and numbers are replaced,
// removed, repeated and put elsewhere, and new statements come from the table of instructions.
#include <ctype.h>

#include "fuzz.h"
#include "generate.h"
#include "ptx_mutate.h"

// libFuzzer's own; absent without it.
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t most) __attribute__((weak));

enum { TEXT_B = 1 << 16, PIECE_B = 1024, CHANGES_MOST = 4 };

struct text {
    char *at;
    size_t size, most;
};

struct piece {
    size_t from, length;
};

static bool is_name(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '$' || c == '%';
}

// Puts `length` bytes where `piece` is.
static void replace(struct text *t, struct piece piece, const char *with, size_t length)
{
    if (t->size - piece.length + length > t->most)
        return;
    memmove(t->at + piece.from + length, t->at + piece.from + piece.length,
            t->size - piece.from - piece.length);
    memcpy(t->at + piece.from, with, length);
    t->size = t->size - piece.length + length;
}

// A statement or declaration, with its semicolon.
static struct piece draw_statement(const struct text *t, uint64_t *state)
{
    size_t from = generate_below(state, (unsigned)t->size), end = from;
    while (from && !strchr(";{}\n", t->at[from - 1]))
        from--;
    while (end < t->size && t->at[end] != ';')
        end++;
    return (struct piece){from, (end < t->size ? end + 1 : end) - from};
}

// A run of characters that are, or are not, part of names: found from a random place.
static struct piece draw_word(const struct text *t, uint64_t *state)
{
    size_t from = generate_below(state, (unsigned)t->size), end;
    while (from < t->size && !is_name(t->at[from]))
        from++;
    while (from && is_name(t->at[from - 1]))
        from--;
    for (end = from; end < t->size && is_name(t->at[end]);)
        end++;
    return (struct piece){from, end - from};
}

static struct piece draw_number(const struct text *t, uint64_t *state)
{
    struct piece piece = {0, 0};
    for (int i = 0; i < 20; i++) {
        piece = draw_word(t, state);
        if (piece.length && isdigit((unsigned char)t->at[piece.from]))
            return piece;
    }
    return piece;
}

// The name after a dot.
static struct piece draw_modifier(const struct text *t, uint64_t *state)
{
    struct piece piece = {0, 0};
    for (int i = 0; i < 20; i++) {
        piece = draw_word(t, state);
        if (piece.length && piece.from && t->at[piece.from - 1] == '.')
            return piece;
    }
    return piece;
}

static void new_statement(struct text *t, bool instead, uint64_t *state)
{
    char bytes[PIECE_B];
    struct generated g = {.at = bytes, .size_B = sizeof bytes};
    const struct px_row *row = &px_rows[generate_below(state, px_row_count)];
    struct piece piece = draw_statement(t, state);
    if (!generate_below(state, 4) || !generate_valid(&g, row, state, 30))
        generate_any(&g, row, state);
    if (!instead) {
        piece.from += piece.length;
        piece.length = 0;
    }
    replace(t, piece, bytes, g.used);
}

static void new_number(struct text *t, uint64_t *state)
{
    static const char *const numbers[] = {"0",
                                          "1",
                                          "2",
                                          "4",
                                          "16",
                                          "32",
                                          "33",
                                          "255",
                                          "256",
                                          "1024",
                                          "65536",
                                          "2147483647",
                                          "4294967295",
                                          "4294967296",
                                          "9223372036854775807",
                                          "18446744073709551615",
                                          "18446744073709551616",
                                          "0x7fffffffffffffff",
                                          "0f7F800000",
                                          "1.5",
                                          "1e400"};
    const char *number = numbers[generate_below(state, FUZZ_COUNT(numbers))];
    replace(t, draw_number(t, state), number, strlen(number));
}

static void new_modifier(struct text *t, uint64_t *state)
{
    const char *name = px_modifier_name(1 + generate_below(state, PX_MOD_COUNT - 1));
    struct piece piece = draw_modifier(t, state);
    char dotted[64];
    if (generate_below(state, 3)) {
        replace(t, piece, name, strlen(name));
        return;
    }
    piece.from += piece.length;
    piece.length = 0;
    replace(t, piece, dotted, (size_t)snprintf(dotted, sizeof dotted, ".%s", name));
}

static const char *const pieces[] = {
    ".entry ",
    ".func ",
    ".visible ",
    ".extern ",
    ".weak ",
    ".common ",
    ".global ",
    ".shared ",
    ".local ",
    ".const ",
    ".param ",
    ".reg ",
    ".align 8 ",
    ".maxntid 32 ",
    ".reqntid 64 ",
    ".minnctapersm 2 ",
    ".maxnreg 16 ",
    ".noreturn ",
    ".pragma \"nounroll\";",
    ".loc 1 2 3\n",
    ".file 1 \"a.cu\"\n",
    ".section .debug_str { .b8 0 }\n",
    ".branchtargets ",
    ".callprototype ",
    ".calltargets ",
    ".attribute(.managed) ",
    ".alias a, b;",
    ".v4 ",
    ".b8 ",
    ".texref ",
    ".reqnctapercluster 2 ",
    ".explicitcluster ",
    "generic(",
    "WARP_SZ",
    "//====\n",
    "/*",
    "*/",
    "//",
    "\"",
    "{",
    "}",
    "(",
    ")",
    "[",
    "]",
    "<",
    ">",
    "+",
    "-",
    "!",
    "|",
    "@",
    "_",
    "\\",
    ", ",
    ": ",
    ";\n",
    " = {1, 2};",
    "0xff(g)",
    "%tid.x",
    "%clock64",
    "%envreg3",
    "%laneid",
};

// Copies a piece of another place.
static void repeat(struct text *t, struct piece from, struct piece to, uint64_t *state)
{
    char bytes[PIECE_B];
    const size_t length = from.length < PIECE_B ? from.length : PIECE_B;
    (void)state;
    memcpy(bytes, t->at + from.from, length);
    replace(t, to, bytes, length);
}

static void change(struct text *t, uint64_t *state)
{
    struct piece a, b;
    const char *text;
    switch (generate_below(state, 12)) {
    case 0:
    case 1:
        new_statement(t, false, state);
        break;
    case 2:
        new_statement(t, true, state);
        break;
    case 3:
        new_number(t, state);
        break;
    case 4:
        new_modifier(t, state);
        break;
    case 5: // a statement instead of another
        a = draw_statement(t, state);
        repeat(t, a, draw_statement(t, state), state);
        break;
    case 6: // once more
        a = draw_statement(t, state);
        b = draw_statement(t, state);
        repeat(t, a, (struct piece){b.from, 0}, state);
        break;
    case 7:
        replace(t, draw_statement(t, state), "", 0);
        break;
    case 8:
    case 9: // an operand, a register, a type, a name
        a = draw_word(t, state);
        repeat(t, a, draw_word(t, state), state);
        break;
    case 10:
        text = pieces[generate_below(state, FUZZ_COUNT(pieces))];
        a = draw_word(t, state);
        if (generate_below(state, 2))
            a.length = 0;
        replace(t, a, text, strlen(text));
        break;
    default:
        if (LLVMFuzzerMutate)
            t->size = LLVMFuzzerMutate((uint8_t *)t->at, t->size, t->most);
        else
            t->at[generate_below(state, (unsigned)t->size)] ^=
                (char)(1 << generate_below(state, 7));
    }
}

// A text of the repository, or a kernel of random statements.
static void begin(struct text *t, uint64_t *state)
{
    const unsigned which = generate_below(state, fuzz_ptx_text_count + 2);
    if (which < fuzz_ptx_text_count) {
        t->size = strlen(fuzz_ptx_texts[which]);
        memcpy(t->at, fuzz_ptx_texts[which], t->size);
        return;
    }
    struct generated g = {.at = t->at, .size_B = t->most};
    generate_head(&g);
    for (unsigned n = 1 + generate_below(state, 6); n; n--)
        generate_valid(&g, &px_rows[generate_below(state, px_row_count)], state, 30);
    generate_tail(&g);
    t->size = g.used;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed)
{
    enum { LEAST_B = 16 };
    static char bytes[TEXT_B];
    uint64_t state = seed * UINT64_C(0x9e3779b97f4a7c15) + 1;
    struct text t = {.at = bytes, .most = (most < TEXT_B ? most : TEXT_B) - 1};
    generate_below(&state, 2);
    if (most < 4096)
        return size;
    if (size < LEAST_B || !generate_below(&state, 100)) {
        begin(&t, &state);
        data[0] = (uint8_t)generate_below(&state, 96);
        size = t.size + 1;
        memcpy(data + 1, t.at, t.size);
        if (generate_below(&state, 4) == 0)
            return size;
    }
    t.size = size - 1 < t.most ? size - 1 : t.most;
    memcpy(t.at, data + 1, t.size);
    if (generate_below(&state, 8) == 0)
        data[0] = (uint8_t)generate_below(&state, 96);
    // Mostly one, because most changes make a text wrong, and a mistake hides the rest.
    unsigned n = generate_below(&state, 2) ? 1 : 1 + generate_below(&state, CHANGES_MOST);
    for (; n && t.size > 1; n--)
        change(&t, &state);
    memcpy(data + 1, t.at, t.size);
    return t.size + 1;
}
