// SPDX-License-Identifier: MIT
// All families of instructions: random statements of every row of instructions.def are lowered and
// run, and every instruction set that the CPU has gives the same registers, memory and failures as
// plain C. Texture and surface instructions end with a failure here, because there are no objects;
// random.c compares arithmetic with a second implementation.
//
//     families [PROGRAMS [FIRST]]     programs are numbered; FIRST repeats one of them
#include <string.h>

#include "expect.h"
#include "generate.h"
#include "grid.h"
#include "guard.h"
#include "kn_cpu.h"
#include "lower.h"
#include "module.h"

enum {
    TEXT_B = 32768,
    STATEMENTS_MOST = 12,
    ATTEMPTS = 2000, // for a statement that lowers
    TRIALS = 60,     // for a statement of a program
    MEMORY_B = GENERATE_THREADS_MOST * GENERATE_OWN_B + GENERATE_COMMON_B,
    BRANCHES_MOST = 100,
    ONE_ENDS_OF = 4, // about half of the programs run to their end; the others end with a failure
};

struct outcome {
    int rc;
    struct px_failure failure;
    _Alignas(256) uint8_t memory[MEMORY_B];
};

static const char *memory_at;

static bool allow(const struct kn_memory *memory, uint64_t address, uint32_t size_B, bool write)
{
    (void)memory;
    (void)write;
    return address >= (uintptr_t)memory_at && address + size_B <= (uintptr_t)memory_at + MEMORY_B;
}

static void run(const char *text, uint32_t threads, unsigned flags, const uint8_t *first,
                uint8_t *memory, struct outcome *o)
{
    static uint8_t variables_memory[16384] __attribute__((aligned(256)));
    struct px_module *module = NULL;
    const struct px_program *program;
    struct px_report report;
    uint64_t variables[16] = {0}, used = 0;
    const struct px_host host = {.foreign = allow,
                                 .shared_window = UINT64_C(1) << 48,
                                 .local_window = (UINT64_C(1) << 48) + (UINT64_C(1) << 32)};
    kn_set_cpu_mask(flags);
    memory_at = (const char *)memory;
    memcpy(memory, first, MEMORY_B);
    memset(variables_memory, 0, sizeof variables_memory);
    o->rc = px_module_load(text, strlen(text), &module, &report);
    if (!o->rc)
        o->rc = px_program_get(module, 0, &program, &report);
    if (o->rc) {
        fprintf(stderr, "%s:\n%s", report.text, text);
        abort();
    }
    for (unsigned i = 0; i < module->variable_count && i < 16; i++) {
        if (module->variables[i].space != PX_GLOBAL && module->variables[i].space != PX_CONSTANT)
            continue;
        variables[i] = (uintptr_t)variables_memory + used;
        used += (module->variables[i].size_B + 255) / 256 * 256;
        EXPECT(used <= sizeof variables_memory);
    }
    const uint64_t arguments[] = {(uintptr_t)memory, 1, 2, 3};
    struct px_grid grid = {.program = program,
                           .host = &host,
                           .blocks = {1, 1, 1},
                           .threads = {threads, 1, 1},
                           .stack_B = 16384,
                           .variables = variables,
                           .branches_most = BRANCHES_MOST,
                           .arguments = arguments};
    memset(&o->failure, 0, sizeof o->failure);
    o->rc = px_run(&grid, 0, 1);
    if (o->rc)
        o->failure = grid.failure;
    memcpy(o->memory, memory, MEMORY_B);
    px_module_free(module);
}

// Rows without a lowering, rows that need more around them than one statement of this version of
// PTX, and rows that are refused whatever the operands are.
static bool is_left_out(const struct px_row *row)
{
    return (!row->lower && !row->form) || row->last_version || row->lower == px_lower_call ||
           row->lower == px_lower_st_param || row->lower == px_lower_tensor ||
           row->lower == px_lower_txq_other || row->lower == px_lower_suq_other;
}

// Every other row has a statement that lowers.
static void test_rows(void)
{
    uint64_t state = 1;
    static char text[TEXT_B];
    unsigned missing = 0;
    for (unsigned i = 0; i < px_row_count; i++) {
        struct generated g = {.at = text, .size_B = sizeof text};
        if (is_left_out(&px_rows[i]) || generate_valid(&g, &px_rows[i], &state, ATTEMPTS))
            continue;
        printf("no statement lowers: %s\n", px_rows[i].pattern);
        missing++;
    }
    EXPECT_EQ(missing, 0);
}

static void draw_program(struct generated *g, uint64_t number, uint32_t *threads, uint8_t *memory)
{
    uint64_t state = number * UINT64_C(0x9e3779b97f4a7c15) + 1;
    generate_below(&state, 2);
    for (unsigned i = 0; i < MEMORY_B; i += sizeof(uint64_t)) {
        const uint64_t bits = generate_bits(&state);
        memcpy(memory + i, &bits, sizeof bits);
    }
    *threads = generate_below(&state, 3) ? 32 : 1 + generate_below(&state, GENERATE_THREADS_MOST);
    generate_head(g);
    for (unsigned n = 1 + generate_below(&state, STATEMENTS_MOST); n;) {
        const struct px_row *row = &px_rows[generate_below(&state, px_row_count)];
        if (is_left_out(row) || row->lower == px_lower_trap || row->lower == px_lower_brkpt)
            continue;
        generate_valid(g, row, &state, TRIALS);
        n--;
    }
    generate_tail(g);
    EXPECT(!g->full);
}

static bool same(const struct outcome *a, const struct outcome *b)
{
    return a->rc == b->rc && !memcmp(a->memory, b->memory, MEMORY_B) &&
           a->failure.kind == b->failure.kind && a->failure.line == b->failure.line &&
           a->failure.address == b->failure.address && !strcmp(a->failure.text, b->failure.text);
}

static void report(uint64_t number, unsigned flags, const char *text, const struct outcome *want,
                   const struct outcome *got)
{
    printf("program %llu, %s: %d \"%s\" line %u, expected %d \"%s\" line %u\n",
           (unsigned long long)number, kn_cpu_name(flags), got->rc, got->failure.text,
           got->failure.line, want->rc, want->failure.text, want->failure.line);
    for (unsigned i = 0; i < MEMORY_B; i++) {
        if (got->memory[i] == want->memory[i])
            continue;
        printf("byte %u of thread %u is 0x%02x, expected 0x%02x\n", i % GENERATE_OWN_B,
               i / GENERATE_OWN_B, got->memory[i], want->memory[i]);
        break;
    }
    puts(text);
}

int main(int count, char **arguments)
{
    enum { FAILURES_MOST = 5 };
    static uint8_t first[MEMORY_B], memory[MEMORY_B] __attribute__((aligned(4096)));
    static struct outcome want, got;
    static char text[TEXT_B];
    const uint64_t programs = count > 1 ? strtoull(arguments[1], NULL, 0) : 600;
    const uint64_t from = count > 2 ? strtoull(arguments[2], NULL, 0) : 0;
    const unsigned best = kn_cpu_flags(), sets[] = {best & KN_CPU_AVX2, best};
    unsigned failures = 0, good = 0;
    dm_guard_init();
    test_rows();
    for (uint64_t n = from; n < from + programs && failures < FAILURES_MOST; n++) {
        struct generated g = {.at = text, .size_B = sizeof text};
        uint32_t threads;
        draw_program(&g, n, &threads, first);
        run(text, threads, 0, first, memory, &want);
        good += !want.rc;
        for (unsigned i = 0; i < sizeof sets / sizeof *sets; i++) {
            run(text, threads, sets[i], first, memory, &got);
            if (same(&want, &got))
                continue;
            report(n, sets[i], text, &want, &got);
            failures++;
        }
    }
    printf("%u of %llu programs have run to their end\n", good, (unsigned long long)programs);
    EXPECT(failures || good >= programs / ONE_ENDS_OF);
    return failures != 0;
}
