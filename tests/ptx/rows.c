// SPDX-License-Identifier: MIT
// Kernels whose addresses, indices and comparisons depend on the threads' places in a known way
// (ptx/known.h, ptx/index.h): rows of shared memory, elements that neighbours in x share, indices
// in the grid, and branches that the first and the last lane decide. Random numbers and shapes of
// blocks, with every instruction set, against the same in C.
#include <stdio.h>
#include <string.h>

#include "drawn.h"
#include "failures.h"
#include "grid.h"
#include "guard.h"
#include "kn_cpu.h"
#include "module.h"

enum { THREADS = 128, BLOCKS = 4, SHARED = 512, BRANCHES = 8, VALUES = 4, RUNS = 40 };

struct work {
    int32_t limit; // of comparisons, that the text does not have
    uint32_t from[THREADS * BLOCKS * 4];
    uint32_t out[BLOCKS * THREADS][VALUES];
};

// A comparison of x * factor + plus with a number or with the limit.
struct branch {
    int relation, factor, constant, plus; // relation: of `relations`
    bool limit, second;                   // the number is the first operand
};
static const char *const relations[] = {"lt.s32", "le.s32", "gt.s32", "ge.s32", "lt.u32",
                                        "le.u32", "gt.u32", "ge.u32", "eq.u32", "ne.s32"};
enum { RELATIONS = sizeof relations / sizeof *relations };

struct kernel {
    uint32_t shape[3];
    int first, lanes; // threads with x from `first` to `lanes` - 1 do the accesses
    int row_at[2], same_at[2], scale_y; // elements; of rows in y
    struct branch branches[BRANCHES];
    int shift; // of the second index
};

static bool compare(int relation, uint32_t a, uint32_t b)
{
    const int32_t s = (int32_t)a, t = (int32_t)b;
    const bool results[RELATIONS] = {
        s<t, s <= t, s> t, s >= t, a<b, a <= b, a> b, a >= b, a == b, a != b};
    return results[relation];
}

static void draw(struct kernel *k)
{
    static const uint32_t shapes[][3] = {{32, 4, 1}, {64, 2, 1}, {128, 1, 1}, {16, 8, 1},
                                         {16, 2, 4}, {8, 16, 1}, {8, 4, 2},   {24, 4, 1},
                                         {33, 3, 1}, {5, 7, 1},  {100, 1, 1}, {1, 40, 1}};
    memcpy(k->shape, shapes[below(sizeof shapes / sizeof *shapes)], sizeof k->shape);
    k->first = below(2) ? 0 : (int)below(12);
    k->lanes = below(2) ? 1000 : (int)below(k->shape[0] + 1);
    k->scale_y = (int)below(4) * (int)k->shape[0] % 40;
    for (int i = 0; i < 2; i++) {
        k->row_at[i] = (int)below(20);
        k->same_at[i] = (int)below(20);
    }
    for (int i = 0; i < BRANCHES; i++) {
        static const int factors[] = {1, 1, 0, 3, -1, -2};
        static const int edges[] = {0, INT32_MAX - 10, INT32_MIN + 5, -7};
        struct branch *b = &k->branches[i];
        *b = (struct branch){.relation = (int)below(RELATIONS),
                             .factor = factors[below(6)],
                             .constant = below(4) ? (int)below(140) - 10 : edges[below(4)],
                             .plus = below(2) ? 0 : edges[below(4)],
                             .limit = below(3) == 0,
                             .second = below(2)};
    }
    k->shift = (int)below(8);
}

// ---- the text ----

static void write_text(const struct kernel *k)
{
    text_used = 0;
    add(".version 7.0\n.target sm_70\n.address_size 64\n"
        ".visible .entry rows(.param .u64 p, .param .u32 limit)\n{\n"
        ".reg .pred %%q, %%b<%d>;\n.reg .b32 %%r<40>, %%v<%d>, %%x, %%y, %%z, %%nx, %%ny, %%c, "
        "%%e, %%g, "
        "%%h, %%t, %%l, %%m, %%n;\n.reg .b64 %%p, %%a<8>;\n.shared .align 4 .b32 s[%d];\n"
        "ld.param.u64 %%p, [p];\nld.param.u32 %%l, [limit];\nmov.u32 %%x, %%tid.x;\n"
        "mov.u32 %%y, %%tid.y;\nmov.u32 %%z, %%tid.z;\nmov.u32 %%nx, %%ntid.x;\n"
        "mov.u32 %%ny, %%ntid.y;\nmov.u32 %%c, %%ctaid.x;\nmov.u32 %%e, %%ctaid.y;\n",
        BRANCHES, BRANCHES, SHARED);
    // The thread in its block, and two indices in the grid.
    add("mad.lo.u32 %%t, %%z, %%ny, %%y;\nmad.lo.u32 %%t, %%t, %%nx, %%x;\n"
        "mad.lo.s32 %%g, %%nx, %%c, %%x;\nshl.b32 %%n, %%e, %d;\nadd.u32 %%h, %%y, %%n;\n",
        k->shift);
    // Each thread fills some elements.
    add("mov.u32 %%r0, s;\nmov.u32 %%r1, %%t;\nmov.u32 %%r2, 0;\nmul.lo.u32 %%r3, %%nx, %%ny;\n"
        "mov.u32 %%r4, %%ntid.z;\nmul.lo.u32 %%r3, %%r3, %%r4;\n"
        "F:\nmad.lo.u32 %%r4, %%r1, 4, %%r0;\nmad.lo.u32 %%r5, %%r1, 77, 5;\n"
        "st.shared.u32 [%%r4], %%r5;\nadd.u32 %%r1, %%r1, %%r3;\nsetp.lt.u32 %%q, %%r1, %d;\n"
        "@%%q bra F;\nbar.sync 0;\n",
        SHARED);
    // Rows and shared elements, with products that links pass on and keep; for some threads only,
    // which also compute the addresses.
    add("shl.b32 %%r6, %%x, 2;\nadd.u32 %%r7, %%r0, %%r6;\nmov.u32 %%m, 0;\n"
        "setp.lt.s32 %%q, %%x, %d;\n@%%q bra S;\nsetp.ge.s32 %%q, %%x, %d;\n@%%q bra S;\n"
        "mul.lo.u32 %%r8, %%y, %d;\nadd.u32 %%r9, %%r0, %%r8;\n"
        "ld.shared.u32 %%r11, [%%r7+%d];\nld.shared.u32 %%r12, [%%r9+%d];\n"
        "mad.lo.u32 %%r13, %%r11, %%r12, 1;\nadd.u32 %%r10, %%r7, %%r8;\n"
        "ld.shared.u32 %%r14, [%%r10+%d];\nadd.u32 %%r31, %%r13, 9;\n"
        "ld.shared.u32 %%r15, [%%r9+%d];\nxor.b32 %%r17, %%r31, %%r12;\n"
        "mad.lo.u32 %%r16, %%r14, %%r15, %%r17;\nadd.u32 %%m, %%r16, %%r13;\nS:\nbar.sync 0;\n",
        k->first, k->lanes, k->scale_y * 4, k->row_at[0] * 4, k->same_at[0] * 4, k->row_at[1] * 4,
        k->same_at[1] * 4);
    // Rows that are stored, one for each y and z, and read by other threads.
    add("mad.lo.u32 %%r18, %%z, %%ny, %%y;\nmul.lo.u32 %%r19, %%nx, 4;\n"
        "mad.lo.u32 %%r20, %%r18, %%r19, %%r7;\nst.shared.u32 [%%r20], %%m;\nbar.sync 0;\n"
        "sub.u32 %%r21, %%r3, %%t;\nmad.lo.u32 %%r21, %%r21, 4, %%r0;\n"
        "ld.shared.u32 %%r22, [%%r21+-4];\n");
    add("mov.u32 %%r23, 0;\n");
    for (int i = 0; i < BRANCHES; i++) {
        const struct branch *b = &k->branches[i];
        char limit[16], value[16];
        snprintf(limit, sizeof limit, b->limit ? "%%l" : "%d", b->constant);
        snprintf(value, sizeof value, "%%v%d", i);
        add("mad.lo.s32 %s, %%x, %d, %d;\nsetp.%s %%b%d, %s, %s;\n@%s%%b%d bra B%d;\n"
            "add.u32 %%r23, %%r23, %d;\nB%d:\n",
            value, b->factor, b->plus, relations[b->relation], i, b->second ? limit : value,
            b->second ? value : limit, i % 3 ? "" : "!", i, i, 1 << i, i);
        if (i % 2)
            add("selp.u32 %%r25, %d, 0, %%b%d;\nadd.u32 %%r23, %%r23, %%r25;\n", 256 << i, i);
    }
    // An array by an index in the grid, and the results.
    add("mad.wide.s32 %%a0, %%g, 4, %%p;\nld.global.u32 %%r26, [%%a0+4];\n"
        "mul.wide.s32 %%a1, %%g, 4;\nadd.s64 %%a2, %%p, %%a1;\nld.global.u32 %%r27, [%%a2+8];\n"
        "mul.lo.u32 %%r28, %%h, 1000;\nadd.u32 %%r28, %%r28, %%g;\nxor.b32 %%r28, %%r28, %%r26;\n"
        "add.u32 %%r28, %%r28, %%r27;\nmov.u32 %%r29, %%nctaid.x;\n"
        "mad.lo.u32 %%r30, %%e, %%r29, %%c;\nmad.lo.u32 %%r30, %%r30, %d, %%t;\n"
        "mad.wide.u32 %%a3, %%r30, %d, %%p;\nst.global.u32 [%%a3+%zu], %%m;\n"
        "st.global.u32 [%%a3+%zu], %%r22;\nst.global.u32 [%%a3+%zu], %%r23;\n"
        "st.global.u32 [%%a3+%zu], %%r28;\nret;\n}\n",
        THREADS, VALUES * 4, offsetof(struct work, out), offsetof(struct work, out) + 4,
        offsetof(struct work, out) + 8, offsetof(struct work, out) + 12);
}

// ---- the same in C ----

static uint32_t branches_of(const struct kernel *k, uint32_t x, int32_t limit)
{
    uint32_t sum = 0;
    for (int i = 0; i < BRANCHES; i++) {
        const struct branch *b = &k->branches[i];
        const uint32_t a = x * (uint32_t)b->factor + (uint32_t)b->plus;
        const uint32_t n = (uint32_t)(b->limit ? limit : b->constant);
        const bool is = compare(b->relation, b->second ? n : a, b->second ? a : n);
        sum += is == (i % 3 != 0) ? 0 : 1u << i;
        sum += i % 2 && is ? 256u << i : 0;
    }
    return sum;
}

static void expect(const struct kernel *k, struct work *w)
{
    const uint32_t nx = k->shape[0], ny = k->shape[1], count = nx * ny * k->shape[2];
    for (uint32_t block = 0; block < BLOCKS; block++) {
        uint32_t m[THREADS], s[SHARED + THREADS] = {0};
        for (uint32_t i = 0; i < SHARED; i++)
            s[i] = i * 77 + 5;
        for (uint32_t t = 0; t < count; t++) {
            const uint32_t x = t % nx, y = t / nx % ny, at = y * (uint32_t)k->scale_y;
            const uint32_t b = s[at + (uint32_t)k->same_at[0]];
            const uint32_t product = s[x + (uint32_t)k->row_at[0]] * b + 1;
            const uint32_t passed = (product + 9) ^ b;
            const uint32_t sum =
                s[x + at + (uint32_t)k->row_at[1]] * s[at + (uint32_t)k->same_at[1]] + passed;
            m[t] = (int)x < k->first || (int)x >= k->lanes ? 0 : sum + product;
        }
        for (uint32_t t = 0; t < count; t++)
            s[t] = m[t];
        for (uint32_t t = 0; t < count; t++) {
            const uint32_t x = t % nx, g = block % 2 * nx + x;
            const uint32_t h = t / nx % ny + (block / 2 << k->shift);
            uint32_t *out = w->out[block * THREADS + t];
            const uint32_t *array = (const uint32_t *)w;
            out[0] = m[t];
            out[1] = s[count - t - 1];
            out[2] = branches_of(k, x, w->limit);
            out[3] = ((h * 1000 + g) ^ array[g + 1]) + array[g + 2];
        }
    }
}

// ---- all ----

static int run(const struct kernel *k, struct work *w)
{
    struct px_module *module = NULL;
    const struct px_program *program = NULL;
    struct px_report report;
    const struct {
        struct work *work;
        int32_t limit;
    } arguments = {w, w->limit};
    const struct px_host host = {.device_first = (uintptr_t)w,
                                 .device_end = (uintptr_t)(w + 1),
                                 .shared_window = UINT64_C(1) << 48,
                                 .local_window = (UINT64_C(1) << 48) + (UINT64_C(1) << 32)};
    struct px_grid grid = {.host = &host,
                           .blocks = {2, BLOCKS / 2, 1},
                           .threads = {k->shape[0], k->shape[1], k->shape[2]},
                           .stack_B = 1 << 14,
                           .arguments = &arguments};
    int rc = px_module_load(text, strlen(text), &module, &report);
    rc = rc ? rc : px_program_get(module, 0, &program, &report);
    CHECK(!rc, "the text is refused: %s\n%s", report.text, text);
    grid.program = program;
    rc = rc ? rc : px_run(&grid, 0, BLOCKS);
    CHECK(!rc, "the kernel ended with %d: %s", rc, grid.failure.text);
    px_module_free(module);
    return rc;
}

static void try_one(unsigned mask)
{
    static struct work got, expected;
    struct kernel k;
    draw(&k);
    memset(&got, 0, sizeof got);
    got.limit = below(2) ? (int)below(140) - 10 : INT32_MIN + (int)below(3);
    for (size_t i = 0; i < sizeof got.from / sizeof *got.from; i++)
        got.from[i] = below(1u << 31);
    expected = got;
    write_text(&k);
    expect(&k, &expected);
    if (run(&k, &got))
        return;
    for (int i = 0; i < BLOCKS * THREADS * VALUES; i++)
        CHECK(got.out[i / VALUES][i % VALUES] == expected.out[i / VALUES][i % VALUES],
              "set 0x%x, %u x %u x %u, value %d of block %d, thread %d: 0x%x, expected 0x%x%s%s",
              mask, k.shape[0], k.shape[1], k.shape[2], i % VALUES, i / VALUES / THREADS,
              i / VALUES % THREADS, got.out[i / VALUES][i % VALUES],
              expected.out[i / VALUES][i % VALUES], failures == 1 ? "\n" : "",
              failures == 1 ? text : "");
}

int main(void)
{
    static const unsigned masks[] = {0, KN_CPU_AVX2, UINT32_MAX};
    dm_guard_init();
    for (size_t m = 0; m < sizeof masks / sizeof *masks; m++) {
        kn_set_cpu_mask(masks[m]);
        for (int i = 0; i < RUNS; i++)
            try_one(masks[m]);
    }
    return failures_result();
}
