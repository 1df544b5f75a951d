// SPDX-License-Identifier: MIT
// Operations for which something is known of a source: shared memory at %tid.x * 4 plus an offset,
// comparisons with constants, and indices of arrays in 64 bits; in blocks of several shapes, with
// every instruction set.
#include <stdio.h>
#include <string.h>

#include "failures.h"
#include "grid.h"
#include "guard.h"
#include "kn_cpu.h"
#include "module.h"

enum { THREADS_MOST = 128, WORDS = 80 };

struct work {
    uint32_t loaded[THREADS_MOST], compared[THREADS_MOST];
};

static void write_text(char *text, size_t text_B, int store_B, int load_B)
{
    snprintf(text, text_B,
             ".version 7.0\n.target sm_70\n.address_size 64\n"
             ".visible .entry known(.param .u64 p)\n{\n"
             ".reg .pred %%q<8>;\n.reg .b32 %%x, %%t, %%r, %%s, %%u, %%v, %%w, %%b<8>, %%i<3>;\n"
             ".reg .b64 %%p, %%l, %%o, %%d;\n.shared .align 4 .b8 row[%d];\n"
             "ld.param.u64 %%p, [p];\nmov.u32 %%x, %%tid.x;\nmov.u32 %%i0, %%tid.z;\n"
             "mov.u32 %%w, %%ntid.y;\nmov.u32 %%v, %%tid.y;\nmad.lo.u32 %%i1, %%i0, %%w, %%v;\n"
             "mov.u32 %%i2, %%ntid.x;\nmad.lo.u32 %%t, %%i1, %%i2, %%x;\n"
             "shl.b32 %%r, %%x, 2;\nmov.u32 %%u, row;\nadd.u32 %%s, %%u, %%r;\n"
             "mad.lo.u32 %%v, %%t, 3, 1;\nst.shared.u32 [%%s+%d], %%v;\nbar.sync 0;\n"
             "ld.shared.u32 %%w, [%%s+%d];\n"
             "setp.lt.s32 %%q0, %%x, 5;\nsetp.gt.s32 %%q1, 7, %%x;\nsetp.le.s32 %%q2, -1, %%x;\n"
             "setp.ge.u32 %%q3, %%x, 0xfffffff0;\nsetp.eq.u32 %%q4, %%x, 3;\n"
             "setp.ne.u32 %%q5, 4, %%x;\nsetp.hs.u32 %%q6, 9, %%x;\nsetp.lo.u32 %%q7, %%x, 12;\n"
             "selp.u32 %%b0, 1, 0, %%q0;\nselp.u32 %%b1, 2, 0, %%q1;\nselp.u32 %%b2, 4, 0, %%q2;\n"
             "selp.u32 %%b3, 8, 0, %%q3;\nselp.u32 %%b4, 16, 0, %%q4;\n"
             "selp.u32 %%b5, 32, 0, %%q5;\nselp.u32 %%b6, 64, 0, %%q6;\n"
             "selp.u32 %%b7, 128, 0, %%q7;\nadd.u32 %%b0, %%b0, %%b1;\nadd.u32 %%b0, %%b0, %%b2;\n"
             "add.u32 %%b0, %%b0, %%b3;\nadd.u32 %%b0, %%b0, %%b4;\nadd.u32 %%b0, %%b0, %%b5;\n"
             "add.u32 %%b0, %%b0, %%b6;\nadd.u32 %%b0, %%b0, %%b7;\n"
             "cvt.s64.s32 %%l, %%t;\nshl.b64 %%o, %%l, 2;\nadd.u64 %%d, %%p, %%o;\n"
             "st.global.u32 [%%d], %%w;\nst.global.u32 [%%d+%d], %%b0;\nret;\n}\n",
             WORDS * 4, store_B, load_B, THREADS_MOST * 4);
}

static uint32_t comparisons(uint32_t x)
{
    return (x < 5) | (x < 7) << 1 | 1 << 2 | (x == 3) << 4 | (x != 4) << 5 | (x <= 9) << 6 |
           (x < 12) << 7;
}

// The thread that wrote word `at` of the row last, or -1.
static int writer(const uint32_t *shape, int first, int at)
{
    const uint32_t count = shape[0] * shape[1] * shape[2];
    if (at < first || at - first >= (int)shape[0])
        return -1;
    return (int)(count - shape[0]) + at - first;
}

static int run(const char *text, const uint32_t *shape, struct work *w, struct px_failure *failure)
{
    struct px_module *module = NULL;
    const struct px_program *program;
    struct px_report report;
    struct work *argument = w;
    const struct px_host host = {.device_first = (uintptr_t)w,
                                 .device_end = (uintptr_t)(w + 1),
                                 .shared_window = UINT64_C(1) << 48,
                                 .local_window = (UINT64_C(1) << 48) + (UINT64_C(1) << 32)};
    struct px_grid grid = {.host = &host,
                           .blocks = {1, 1, 1},
                           .threads = {shape[0], shape[1], shape[2]},
                           .stack_B = 1 << 14,
                           .arguments = &argument};
    int rc = px_module_load(text, strlen(text), &module, &report);
    rc = rc ? rc : px_program_get(module, 0, &program, &report);
    CHECK(!rc, "the text is refused: %s", report.text);
    if (!rc) {
        grid.program = program;
        rc = px_run(&grid, 0, 1);
        *failure = grid.failure;
    }
    px_module_free(module);
    return rc;
}

static void try_shape(const uint32_t *shape)
{
    static struct work w;
    static char text[4096];
    struct px_failure failure;
    memset(&w, 0, sizeof w);
    write_text(text, sizeof text, 8, 4);
    const int rc = run(text, shape, &w, &failure);
    CHECK(!rc, "%u x %u x %u: the kernel ended with %d", shape[0], shape[1], shape[2], rc);
    for (uint32_t t = 0; !rc && t < shape[0] * shape[1] * shape[2]; t++) {
        const uint32_t x = t % shape[0];
        const int from = writer(shape, 2, (int)x + 1);
        const uint32_t expected = from < 0 ? 0 : (uint32_t)from * 3 + 1;
        CHECK(w.loaded[t] == expected && w.compared[t] == comparisons(x),
              "%u x %u x %u, thread %u: loaded %u, expected %u; compared 0x%x, expected 0x%x",
              shape[0], shape[1], shape[2], t, w.loaded[t], expected, w.compared[t],
              comparisons(x));
    }
}

// Offsets at which some threads leave the row, or are misaligned.
static void try_faults(void)
{
    static const int offsets[] = {WORDS * 4 - 31 * 4, WORDS * 4, -4, 2};
    static const uint32_t shape[3] = {32, 1, 1};
    static struct work w;
    static char text[4096];
    for (size_t i = 0; i < sizeof offsets / sizeof *offsets; i++) {
        struct px_failure failure = {0};
        write_text(text, sizeof text, 0, offsets[i]);
        CHECK(run(text, shape, &w, &failure) && strstr(failure.text, "4-byte read"),
              "a load at offset %d: \"%s\"", offsets[i], failure.text);
        write_text(text, sizeof text, offsets[i], 0);
        CHECK(run(text, shape, &w, &failure) && strstr(failure.text, "4-byte write"),
              "a store at offset %d: \"%s\"", offsets[i], failure.text);
    }
}

int main(void)
{
    static const unsigned masks[] = {0, KN_CPU_AVX2, UINT32_MAX};
    static const uint32_t shapes[][3] = {{32, 1, 1}, {64, 1, 1}, {40, 1, 1}, {5, 1, 1},
                                         {64, 2, 1}, {32, 2, 2}, {16, 4, 1}, {8, 2, 4},
                                         {33, 3, 1}, {1, 32, 1}, {40, 2, 1}};
    dm_guard_init();
    for (size_t m = 0; m < sizeof masks / sizeof *masks; m++) {
        kn_set_cpu_mask(masks[m]);
        for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
            try_shape(shapes[i]);
        try_faults();
    }
    return failures_result();
}
