// SPDX-License-Identifier: MIT
// Loads and stores of a warp whose addresses have a pattern: consecutive, uniform, in pieces of 8
// lanes that are one or the other, or almost so. Every instruction set must do the same as a loop.
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "failures.h"
#include "guard.h"
#include "kn_cpu.h"
#include "run_text.h"

enum { LANES = 32, DATA_B = 1024 };

// The memory that the kernel reads and writes.
struct work {
    uint32_t from[LANES], to[LANES]; // offsets in `data`, and in `stored`
    uint64_t shared[LANES], global[LANES];
    _Alignas(64) uint8_t data[DATA_B], stored[DATA_B];
};

// Copies `data` to shared memory, loads a value there and in `data`, and stores it. Values of up to
// 32 bits are loaded into registers of 32 bits.
static void write_text(char *text, size_t text_B, unsigned size_B)
{
    const unsigned bits = size_B * 8;
    const char *value = size_B == 8 ? "%x" : "%w", *wide = size_B == 8 ? "" : "cvt.u64.u32 %x, %w;";
    snprintf(text, text_B,
             ".version 7.0\n.target sm_70\n.address_size 64\n"
             ".visible .entry patterns(.param .u64 p)\n{\n"
             ".reg .pred %%more;\n.reg .b32 %%t, %%i, %%s, %%w, %%from, %%to;\n"
             ".reg .b64 %%p, %%d, %%g, %%st, %%x;\n"
             ".shared .align 64 .b8 copy[%d];\n"
             "ld.param.u64 %%p, [p];\nmov.u32 %%t, %%tid.x;\n"
             "mov.u32 %%s, copy;\nmad.lo.u32 %%s, %%t, 4, %%s;\n"
             "mad.wide.u32 %%d, %%t, 4, %%p;\nmov.u32 %%i, 0;\n"
             "COPY:\nld.global.u32 %%w, [%%d+%zu];\nst.shared.u32 [%%s], %%w;\n"
             "add.u64 %%d, %%d, 128;\nadd.u32 %%s, %%s, 128;\n"
             "add.u32 %%i, %%i, 1;\nsetp.lt.u32 %%more, %%i, 8;\n"
             "@%%more bra COPY;\nbar.sync 0;\n"
             "mad.wide.u32 %%d, %%t, 4, %%p;\n"
             "ld.global.u32 %%from, [%%d];\nld.global.u32 %%to, [%%d+128];\n"
             "mov.u32 %%s, copy;\nadd.u32 %%s, %%s, %%from;\n"
             "cvt.u64.u32 %%g, %%from;\nadd.u64 %%g, %%p, %%g;\n"
             "cvt.u64.u32 %%st, %%to;\nadd.u64 %%st, %%p, %%st;\n"
             "mad.wide.u32 %%d, %%t, 8, %%p;\n"
             "ld.shared.u%u %s, [%%s];\n%s\nst.global.u64 [%%d+%zu], %%x;\n"
             "ld.global.u%u %s, [%%g+%zu];\n%s\nst.global.u64 [%%d+%zu], %%x;\n"
             "st.global.u%u [%%st+%zu], %s;\nret;\n}\n",
             DATA_B, offsetof(struct work, data), bits, value, wide, offsetof(struct work, shared),
             bits, value, offsetof(struct work, data), wide, offsetof(struct work, global), bits,
             offsetof(struct work, stored), value);
}

static void compare(const char *pattern, unsigned size_B, const struct work *w)
{
    uint8_t stored[DATA_B] = {0};
    for (int i = 0; i < LANES; i++) {
        uint64_t value = 0;
        memcpy(&value, w->data + w->from[i], size_B);
        memcpy(stored + w->to[i], &value, size_B);
        CHECK(w->shared[i] == value && w->global[i] == value,
              "%s, %u bytes, lane %d at %u: shared memory has 0x%llx, global memory has 0x%llx, "
              "expected 0x%llx",
              pattern, size_B, i, w->from[i], (unsigned long long)w->shared[i],
              (unsigned long long)w->global[i], (unsigned long long)value);
    }
    for (int i = 0; i < DATA_B; i++)
        CHECK(w->stored[i] == stored[i], "%s, %u bytes: byte %d is 0x%x after the stores, not 0x%x",
              pattern, size_B, i, w->stored[i], stored[i]);
}

// `at` are the offsets of the lanes, in units of size_B.
static void try_pattern(const char *pattern, unsigned size_B, const int *at)
{
    static struct work w;
    static char text[4096];
    memset(&w, 0, sizeof w);
    for (int i = 0; i < LANES; i++)
        w.from[i] = w.to[i] = (uint32_t)at[i] * size_B;
    for (int i = 0; i < DATA_B; i++)
        w.data[i] = (uint8_t)(i * 37 + (i >> 8));
    write_text(text, sizeof text, size_B);
    const int rc = run_text_in_device(text, LANES, &w, sizeof w);
    CHECK(!rc, "%s, %u bytes: the kernel ended with %d", pattern, size_B, rc);
    compare(pattern, size_B, &w);
}

static int next_random(uint32_t *state, int below)
{
    *state = *state * 1664525u + 1013904223u;
    return (int)((*state >> 8) % (uint32_t)below);
}

static void try_size(unsigned size_B)
{
    const int count = (int)(DATA_B / size_B);
    int at[LANES];
    uint32_t state = 1;
    // Bits 2 p and 2 p + 1 of `kinds` are the kind of piece p: consecutive, uniform, reversed, or
    // consecutive except the last lane. The last piece ends at the end of the memory.
    for (unsigned kinds = 0; kinds < 256; kinds++) {
        char pattern[32];
        snprintf(pattern, sizeof pattern, "kinds 0x%02x", kinds);
        for (int i = 0; i < LANES; i++) {
            const unsigned kind = kinds >> i / 8 * 2 & 3;
            const int first = i < 24 ? i / 8 * 16 : kind == 1 ? count - 1 : count - 8, k = i % 8;
            at[i] = first + (kind == 0 ? k : kind == 1 ? 0 : kind == 2 ? 7 - k : k == 7 ? 0 : k);
        }
        try_pattern(pattern, size_B, at);
    }
    for (int i = 0; i < LANES; i++)
        at[i] = count - LANES + i;
    try_pattern("consecutive", size_B, at);
    for (int i = 0; i < LANES; i++)
        at[i] = count - 1;
    try_pattern("uniform", size_B, at);
    for (int i = 0; i < LANES; i++)
        at[i] = i / 16;
    try_pattern("two rows", size_B, at);
    for (int i = 0; i < LANES; i++)
        at[i] = next_random(&state, count);
    try_pattern("scattered", size_B, at);
}

int main(void)
{
    static const unsigned masks[] = {0, KN_CPU_AVX2, UINT32_MAX};
    dm_guard_init();
    for (unsigned m = 0; m < sizeof masks / sizeof *masks; m++) {
        kn_set_cpu_mask(masks[m]);
        for (unsigned size_B = 1; size_B <= 8; size_B *= 2)
            try_size(size_B);
    }
    return failures_result();
}
