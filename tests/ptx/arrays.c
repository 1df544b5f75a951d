// SPDX-License-Identifier: MIT
// Accesses of arrays by an index, whose addresses are not computed if the index is consecutive
// (ptx/affine.h). All kinds of indices, in whole and partial warps, should do the same as a loop.
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "failures.h"
#include "guard.h"
#include "kn_cpu.h"
#include "run_text.h"

enum { LANES = 32, HALF = 64, MARK = 0x5a5a5a5a };

// The kernel's indices begin in the middle of `from` and `to`.
struct work {
    uint32_t index[LANES], from[2 * HALF], to[2 * HALF];
};

// `between` is done after the offset has been computed, and before the accesses.
static int run(const char *type, const char *between, unsigned threads, struct work *w)
{
    char text[2048];
    snprintf(text, sizeof text,
             ".version 7.0\n.target sm_70\n.address_size 64\n"
             ".visible .entry arrays(.param .u64 p)\n{\n"
             ".reg .pred %%none;\n.reg .b32 %%t, %%i, %%v, %%w;\n"
             ".reg .b64 %%p, %%d, %%o, %%a, %%b, %%x, %%y;\n"
             "ld.param.u64 %%p, [p];\nmov.u32 %%t, %%tid.x;\n"
             "mad.wide.u32 %%d, %%t, 4, %%p;\nld.global.u32 %%i, [%%d];\n"
             "mul.wide.%s %%o, %%i, 4;\nadd.s64 %%a, %%p, %%o;\n%s\n"
             "ld.global.u32 %%v, [%%a+%zu];\nadd.u32 %%v, %%v, 7;\n"
             "add.s64 %%b, %%o, %%p;\nst.global.u32 [%%b+%zu], %%v;\nret;\n}\n",
             type, between, offsetof(struct work, from[HALF]), offsetof(struct work, to[HALF]));
    return run_text_in_device(text, threads, w, sizeof *w);
}

static void fill(struct work *w, const int *index)
{
    for (int i = 0; i < LANES; i++)
        w->index[i] = (uint32_t)index[i];
    for (int i = 0; i < 2 * HALF; i++) {
        w->from[i] = (uint32_t)(i * 2654435761u);
        w->to[i] = MARK;
    }
}

static void try_one(const char *name, const char *type, const char *between, unsigned threads,
                    const int *index)
{
    static struct work w;
    uint32_t to[2 * HALF];
    fill(&w, index);
    memcpy(to, w.to, sizeof to);
    for (unsigned i = 0; i < threads; i++)
        to[HALF + index[i]] = w.from[HALF + index[i]] + 7;
    const int rc = run(type, between, threads, &w);
    CHECK(!rc, "%s, %s, %u threads: the kernel ended with %d", name, type, threads, rc);
    for (int i = 0; i < 2 * HALF; i++)
        CHECK(w.to[i] == to[i], "%s, %s, %u threads: element %d is 0x%x, expected 0x%x", name, type,
              threads, i - HALF, w.to[i], to[i]);
}

// Indices from `first` on, each `step` after the one before; signed ones may be negative.
static void try_indices(const char *name, int first, int step)
{
    static const char *const between[] = {"", "add.u32 %i, %i, 1;", "mov.u64 %d, %a;",
                                          "setp.eq.u32 %none, %t, 99;\n@%none bra END;\nEND:",
                                          // %y could take the place of %o, which is read later.
                                          ("and.b64 %x, %o, 60;\nadd.s64 %y, %p, %x;\n"
                                           "ld.global.u32 %w, [%y];")};
    int index[LANES];
    for (int i = 0; i < LANES; i++)
        index[i] = first + i * step;
    for (unsigned n = 0; n < sizeof between / sizeof *between; n++)
        for (unsigned threads = LANES; threads > 12; threads -= 12) {
            try_one(name, "s32", between[n], threads, index);
            if (first >= 0 && index[LANES - 1] >= 0)
                try_one(name, "u32", between[n], threads, index);
        }
}

// Addresses that are no device memory: the kernel should fail for each of them.
static void try_outside(const char *name, const char *type, uint32_t first)
{
    static struct work w;
    int index[LANES];
    for (int i = 0; i < LANES; i++)
        index[i] = (int)(first + (uint32_t)i);
    fill(&w, index);
    CHECK(run(type, "", LANES, &w), "%s, %s: the kernel should have failed", name, type);
}

int main(void)
{
    static const unsigned masks[] = {0, KN_CPU_AVX2, UINT32_MAX};
    dm_guard_init();
    for (unsigned m = 0; m < sizeof masks / sizeof *masks; m++) {
        kn_set_cpu_mask(masks[m]);
        try_indices("consecutive", 5, 1);
        try_indices("consecutive from 0", 0, 1);
        try_indices("through 0", -16, 1);
        try_indices("to the first element", -HALF, 1);
        try_indices("to the last element", HALF - LANES, 1);
        try_indices("uniform", 3, 0);
        try_indices("reversed", 31, -1);
        try_indices("every second", -HALF, 2);
        try_outside("wrapping", "s32", 0x7ffffff0);
        try_outside("wrapping", "u32", 0xfffffff0);
    }
    return failures_result();
}
