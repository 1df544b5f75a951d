// SPDX-License-Identifier: MIT
// Kernels whose warps run abreast (ptx/abreast.h): an index in the grid, a comparison with the
// number of elements, loads, arithmetic and stores. Random operations, blocks, and ends: with the
// kernel, in a loop, or at a branch that differs between warps. With every instruction set, against
// the same in C. And accesses that fail in one of the warps.
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "drawn.h"
#include "failures.h"
#include "grid.h"
#include "guard.h"
#include "kn_cpu.h"
#include "module.h"

enum { ELEMENTS = 12000, VALUES = 6, OPERATIONS_MOST = 14, RUNS = 60, ARRAYS = 4, MARK = 0x5a };

// An operation on values: value d = value a, operation, value b (and value c).
struct operation {
    int kind, d, a, b, c;
};
static const char *const kinds[] = {"add.u32", "sub.u32",  "mul.lo.u32", "mad.lo.u32",
                                    "and.b32", "or.b32",   "xor.b32",    "min.s32",
                                    "shl.b32", "popc.b32", "brev.b32",   "power"};
enum { ADD, SUB, MUL, MAD, AND, OR, XOR, MIN, SHL, POPC, BREV, POWER, KINDS };

struct kernel {
    uint32_t threads, blocks, count; // count: elements with results
    uint32_t rows;                   // of a block of 32 threads in x, or 0: all threads are in x
    struct operation operations[OPERATIONS_MOST];
    int operation_count, offset;
    bool loop, is_signed, odd; // odd: ends for lanes of odd warps before the last store
};

static uint32_t *arrays[ARRAYS]; // a, b, results, more results
static uint32_t expected[2][ELEMENTS];

static void draw(struct kernel *k)
{
    static const uint32_t threads[] = {64, 128, 256, 1024, 96, 32, 100, 512};
    memset(k, 0, sizeof *k);
    k->threads = threads[below(sizeof threads / sizeof *threads)];
    k->blocks = 8 + below(4);
    if (k->blocks * k->threads > ELEMENTS)
        k->blocks = ELEMENTS / k->threads;
    k->rows = k->threads % 32 || below(3) ? 0 : k->threads / 32;
    const uint32_t all = k->blocks * k->threads;
    k->count = below(2) ? all : all - below(all);
    // Few operations of the kinds that have no function of their own.
    const int usual = below(2) ? KINDS : XOR + 1;
    k->operation_count = 3 + (int)below(OPERATIONS_MOST - 3);
    for (int i = 0; i < k->operation_count; i++)
        k->operations[i] =
            (struct operation){(int)below((uint32_t)usual), (int)below(VALUES), (int)below(VALUES),
                               (int)below(VALUES), (int)below(VALUES)};
    k->offset = (int)below(3);
    k->loop = below(4) == 0;
    k->is_signed = below(2);
    k->odd = below(4) == 0;
}

static void write_operation(const struct operation *o)
{
    if (o->kind == POWER) { // of 2, which the approximate function gives exactly
        add("and.b32 %%r6, %%v%d, 15;\ncvt.rn.f32.u32 %%f0, %%r6;\nex2.approx.f32 %%f1, %%f0;\n"
            "add.rn.f32 %%f2, %%f1, %%f1;\ncvt.rzi.u32.f32 %%v%d, %%f2;\n",
            o->a, o->d);
        return;
    }
    add("%s %%v%d, %%v%d", kinds[o->kind], o->d, o->a);
    if (o->kind == SHL)
        add(", %d", o->b);
    else if (o->kind < POPC)
        add(", %%v%d", o->b);
    add(o->kind == MAD ? ", %%v%d;\n" : ";\n", o->c);
}

static void write_access(bool store, int array, int value, bool is_signed, int offset)
{
    add("mul.wide.%s %%o%d, %%j, 4;\nadd.s64 %%d%d, %%a%d, %%o%d;\n", is_signed ? "s32" : "u32",
        array, array, array, array);
    if (store)
        add("st.global.u32 [%%d%d+%d], %%v%d;\n", array, offset * 4, value);
    else
        add("ld.global.u32 %%v%d, [%%d%d+%d];\n", value, array, offset * 4);
}

static void write_text(const struct kernel *k)
{
    text_used = 0;
    add(".version 7.0\n.target sm_70\n.address_size 64\n"
        ".visible .entry k(.param .u64 a, .param .u64 b, .param .u64 c, .param .u64 d, "
        ".param .u32 n)\n{\n.reg .pred %%p<4>;\n.reg .b32 %%r<8>, %%f<3>, %%i, %%j, %%e<4>, %%n, "
        "%%v<%d>;\n"
        ".reg .b64 %%a<4>, %%o<4>, %%d<4>;\nld.param.u64 %%a0, [a];\nld.param.u64 %%a1, [b];\n"
        "ld.param.u64 %%a2, [c];\nld.param.u64 %%a3, [d];\nld.param.u32 %%n, [n];\n"
        "mov.u32 %%r1, %%ctaid.x;\nmov.u32 %%r2, %%ntid.x;\nmov.u32 %%r3, %%tid.x;\n"
        "mad.lo.s32 %%i, %%r1, %%r2, %%r3;\n",
        VALUES);
    if (k->rows) // of an image that is as wide as all blocks
        add("mov.u32 %%e0, %%tid.y;\nmov.u32 %%e1, %%nctaid.x;\nmul.lo.u32 %%e2, %%e1, 32;\n"
            "mov.u32 %%e3, %%i;\nmad.lo.u32 %%j, %%e0, %%e2, %%e3;\n");
    else
        add(k->is_signed ? "mov.u32 %%j, %%i;\n" : "mad.lo.u32 %%j, %%r1, %%r2, %%r3;\n");
    add("setp.ge.s32 %%p0, %%j, %%n;\n@%%p0 bra END;\n");
    write_access(false, 0, 0, k->is_signed, k->offset);
    write_access(false, 1, 1, k->is_signed, 0);
    add("mov.u32 %%v2, %%j;\nmov.u32 %%v3, %%r3;\nmov.u32 %%v4, 77;\nmov.u32 %%v5, %%n;\n");
    for (int i = 0; i < k->operation_count; i++)
        write_operation(&k->operations[i]);
    write_access(true, 2, 0, k->is_signed, 0);
    if (k->loop)
        add("and.b32 %%r4, %%j, 3;\nadd.u32 %%r4, %%r4, 1;\nL:\nmad.lo.u32 %%v1, %%v1, 3, %%v2;\n"
            "sub.u32 %%r4, %%r4, 1;\nsetp.ne.u32 %%p1, %%r4, 0;\n@%%p1 bra L;\n");
    if (k->odd)
        add("and.b32 %%r5, %%r3, 32;\nsetp.ne.u32 %%p2, %%r5, 0;\n@%%p2 bra END;\n");
    write_access(true, 3, 1, k->is_signed, 0);
    add("END:\nret;\n}\n");
}

static uint32_t compute(int kind, uint32_t a, uint32_t b, uint32_t c, uint32_t number)
{
    uint32_t reversed = 0;
    switch (kind) {
    case ADD:
        return a + b;
    case SUB:
        return a - b;
    case MUL:
        return a * b;
    case MAD:
        return a * b + c;
    case AND:
        return a & b;
    case OR:
        return a | b;
    case XOR:
        return a ^ b;
    case MIN:
        return (int32_t)a < (int32_t)b ? a : b;
    case SHL:
        return a << number;
    case POPC:
        return (uint32_t)__builtin_popcount(a);
    case POWER:
        return 2u << (a & 15);
    default:
        for (int i = 0; i < 32; i++)
            reversed |= (a >> i & 1) << (31 - i);
        return reversed;
    }
}

static void expect(const struct kernel *k)
{
    memset(expected, MARK, sizeof expected);
    for (uint32_t i = 0; i < k->blocks * k->threads && i < k->count; i++) {
        const uint32_t thread = i % (k->rows ? 32 : k->threads);
        uint32_t v[VALUES] = {
            arrays[0][i + (uint32_t)k->offset], arrays[1][i], i, thread, 77, k->count};
        for (int n = 0; n < k->operation_count; n++) {
            const struct operation *o = &k->operations[n];
            v[o->d] = compute(o->kind, v[o->a], v[o->b], v[o->c], (uint32_t)o->b);
        }
        expected[0][i] = v[0];
        for (uint32_t turn = 0; k->loop && turn <= (i & 3); turn++)
            v[1] = v[1] * 3 + v[2];
        if (!k->odd || !(thread & 32))
            expected[1][i] = v[1];
    }
}

static int run(const struct kernel *k, struct px_failure *failure)
{
    struct px_module *module = NULL;
    const struct px_program *program = NULL;
    struct px_report report;
    const struct {
        uint32_t *arrays[ARRAYS];
        uint32_t count;
    } arguments = {{arrays[0], arrays[1], arrays[2], arrays[3]}, k->count};
    const struct px_host host = {.device_first = (uintptr_t)arrays[0],
                                 .device_end = (uintptr_t)(arrays[3] + 2 * ELEMENTS),
                                 .shared_window = UINT64_C(1) << 48,
                                 .local_window = (UINT64_C(1) << 48) + (UINT64_C(1) << 32)};
    struct px_grid grid = {.host = &host,
                           .blocks = {k->blocks, 1, 1},
                           .threads = {k->rows ? 32 : k->threads, k->rows ? k->rows : 1, 1},
                           .stack_B = 1 << 14,
                           .arguments = &arguments};
    int rc = px_module_load(text, strlen(text), &module, &report);
    rc = rc ? rc : px_program_get(module, 0, &program, &report);
    CHECK(!rc, "the text is refused: %s\n%s", report.text, text);
    grid.program = program;
    rc = rc ? rc : px_run(&grid, 0, k->blocks);
    *failure = grid.failure;
    px_module_free(module);
    return rc;
}

static void try_one(unsigned mask)
{
    struct kernel k;
    struct px_failure failure;
    draw(&k);
    memset(arrays[2], MARK, 2 * ELEMENTS * sizeof(uint32_t));
    memset(arrays[3], MARK, 2 * ELEMENTS * sizeof(uint32_t));
    write_text(&k);
    expect(&k);
    const int rc = run(&k, &failure);
    CHECK(!rc, "the kernel ended with %d: %s", rc, failure.text);
    for (int array = 0; !rc && array < 2; array++)
        for (uint32_t i = 0; i < ELEMENTS; i++)
            CHECK(
                arrays[2 + array][i] == expected[array][i],
                "set 0x%x, %u blocks of %u, %u elements, result %d of %u: 0x%x, expected 0x%x%s%s",
                mask, k.blocks, k.threads, k.count, array, i, arrays[2 + array][i],
                expected[array][i], failures == 1 ? "\n" : "", failures == 1 ? text : "");
}

// The element `at` of the second array is not accessible: the first thread of its warp that reads
// there is reported.
static void try_fault(uint32_t threads, uint32_t at)
{
    struct kernel k = {.threads = threads, .blocks = 9, .count = 9 * threads};
    struct px_failure failure = {0};
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    char *from = (char *)(((uintptr_t)&arrays[1][at] + page - 1) / page * page);
    const uint32_t first = (uint32_t)((uint32_t *)(void *)from - arrays[1]);
    write_text(&k);
    mprotect(from, page, PROT_NONE);
    const int rc = run(&k, &failure);
    mprotect(from, page, PROT_READ | PROT_WRITE);
    CHECK(rc && failure.address >= (uintptr_t)from && failure.address < (uintptr_t)from + page &&
              failure.block[0] == first / threads && failure.thread[0] / 32 == first % threads / 32,
          "element %u, threads %u: %d, \"%s\", block %u, thread %u, 0x%llx", first, threads, rc,
          failure.text, failure.block[0], failure.thread[0], (unsigned long long)failure.address);
}

// Elements after the device's range.
static void try_outside(uint32_t threads)
{
    struct kernel k = {.threads = threads, .blocks = 9, .count = 9 * threads};
    struct px_failure failure = {0};
    uint32_t *const before = arrays[0];
    arrays[0] = arrays[3] + 2 * ELEMENTS - 5 * threads - 40;
    write_text(&k);
    struct kernel all = k;
    uint32_t *const array = arrays[0];
    arrays[0] = before;
    // As an argument only: the range stays.
    uint32_t *const second = arrays[1];
    arrays[1] = array;
    const int rc = run(&all, &failure);
    arrays[1] = second;
    CHECK(rc && failure.block[0] == 5 && failure.thread[0] == 40,
          "threads %u: %d, \"%s\", block %u, thread %u", threads, rc, failure.text,
          failure.block[0], failure.thread[0]);
}

int main(void)
{
    static const unsigned masks[] = {0, KN_CPU_AVX2, UINT32_MAX};
    uint32_t *memory = mmap(NULL, ARRAYS * 2 * ELEMENTS * sizeof(uint32_t), PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        return 1;
    for (int i = 0; i < ARRAYS; i++)
        arrays[i] = memory + i * 2 * ELEMENTS;
    for (int i = 0; i < 4 * ELEMENTS; i++)
        memory[i] = below(1u << 31);
    dm_guard_init();
    for (size_t m = 0; m < sizeof masks / sizeof *masks; m++) {
        kn_set_cpu_mask(masks[m]);
        for (int i = 0; i < RUNS; i++)
            try_one(masks[m]);
        try_fault(256, 1000);
        try_fault(512, 3000);
        try_outside(128);
        try_outside(256);
    }
    return failures_result();
}
