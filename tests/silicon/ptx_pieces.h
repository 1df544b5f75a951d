// SPDX-License-Identifier: MIT
// Pieces of random programs in PTX: registers of all types, and instructions (form_table.h).
// Draws must not change.
#pragma once
#include <inttypes.h>

#include "form_inputs.h"
#include "form_write.h"
#include "record.h"

#ifndef SEED
#define SEED 0 // of another recording: UINT64_C(900000007)
#endif

enum {
    BLOCK = 128,
    BLOCKS = 2,
    LANES = BLOCK * BLOCKS,
    DEEPEST = 3,
    TEXT_B = 1 << 17,
    OWN_B = 32, // memory of each thread, in shared and in global memory
    COMMON_B = 64,
    LOCAL_B = 128,
};

static const struct {
    char class;
    int count;
} pools[] = {{'h', 6}, {'w', 10}, {'l', 6}, {'F', 8}, {'D', 5},
             {'H', 5}, {'B', 4},  {'P', 4}, {'Q', 4}};
enum { POOLS = sizeof pools / sizeof *pools, PREDICATES = 6 };

static char text[TEXT_B];
static size_t length;
static int labels, loops, budget;

__attribute__((format(printf, 1, 2))) static void add(const char *format, ...)
{
    va_list list;
    va_start(list, format);
    length += (size_t)vsnprintf(text + length, TEXT_B - length, format, list);
    va_end(list);
}

static inline int draw(int n)
{
    return (int)(form_draw() % (unsigned)n);
}

static inline const char *pick(char class)
{
    static char names[16][24];
    static int next;
    char *name = names[next++ & 15];
    if (class == 's' && draw(2)) {
        sprintf(name, "%d", draw(40));
        return name;
    }
    if (class == 's')
        class = 'w';
    int count = PREDICATES;
    for (int i = 0; i < POOLS; i++)
        if (pools[i].class == class)
            count = pools[i].count;
    sprintf(name, "%%%c%d", class, draw(count));
    return name;
}

static inline void declare(void)
{
    for (int i = 0; i < POOLS; i++)
        add(".reg .b%d %%%c<%d>;\n", (int)form_size(pools[i].class) * 8, pools[i].class,
            pools[i].count);
    add(".reg .pred %%p<%d>;\n", PREDICATES);
}

// ---- instructions ----

static inline void instruction(bool together)
{
    struct form f;
    char names[8][24] = {{0}};
    const struct form_row *row;
    do
        row = &form_rows[draw(FORM_ROWS)];
    while (row->where == FORM_ALONE || (row->where == FORM_WARP && !together));
    form_make(row, form_draw_64() % form_count(row), &f);
    const size_t results = strlen(f.results);
    for (size_t i = 0; i < results; i++)
        for (bool again = true; again;) { // results are different registers
            strcpy(names[i], pick(f.results[i]));
            again = false;
            for (size_t j = 0; j < i; j++)
                again |= !strcmp(names[i], names[j]);
        }
    for (size_t i = 0; f.operands[i]; i++) {
        const bool parts = *f.text == 'v' || strstr(f.text, "x2"); // of registers
        strcpy(names[4 + i], pick(parts && f.operands[i] == 's' ? 'w' : f.operands[i]));
        if (strchr("wl", f.operands[i]) && !draw(8) && !parts && strncmp(f.text, "mov", 3) &&
            strncmp(f.text, "cvt", 3))
            sprintf(names[4 + i], "0x%" PRIx32, (uint32_t)form_draw_integer(32));
        // Operations in parts read operands that the instructions before must not have written.
        for (size_t j = 0; j < results && strstr(f.text, ".cc"); j++)
            while (!strcmp(names[4 + i], names[j]))
                strcpy(names[4 + i], pick(f.operands[i]));
    }
    const bool guarded = row->where != FORM_WARP && !strchr(f.text, '<') && !strstr(f.text, ".cc");
    if (guarded && !draw(6))
        add("@%s%s ", draw(2) ? "!" : "", pick('p'));
    length += form_write(text + length, &f, names, form_draw);
    add("\n");
}
