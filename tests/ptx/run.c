// SPDX-License-Identifier: MIT
// Runs programs that are made by hand: fragments of warps, barriers, the order of blocks, faults.
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "decode.h"
#include "expect.h"
#include "grid.h"
#include "guard.h"

enum { MOST = 64, WORDS = 4096 };

// A program in the making.
static struct px_op ops[MOST];
static px_register operands[MOST][8];
static struct px_register_info registers[MOST];
static bool meets[MOST + 1];
static struct px_function kernel = {.is_kernel = true, .parameters_B = 8};
static struct px_module module = {.functions = &kernel, .function_count = 1};
static struct px_program program;
static uint32_t words[WORDS] __attribute__((aligned(256))); // the kernels' memory

static void begin(void)
{
    px_decoded_free(program.decoded[0]);
    program =
        (struct px_program){.module = &module, .ops = ops, .registers = registers, .meets = meets};
    memset(meets, 0, sizeof meets);
    memset(words, 0, sizeof words);
}

static px_register reg(char letter)
{
    registers[program.register_count] = (struct px_register_info){.letter = letter};
    return program.register_count++;
}

static px_register filled(char letter, enum px_fill fill, uint32_t index, uint64_t value)
{
    registers[program.register_count] = (struct px_register_info){
        .letter = letter, .fill = fill, .index = index, .value = value, .size_B = 8};
    return program.register_count++;
}

static px_register constant(uint32_t value)
{
    return filled('w', PX_FILL_CONSTANT, 0, value);
}

static px_register special(enum px_special which)
{
    return filled('w', PX_FILL_SPECIAL, which, 0);
}

static struct px_op *emit(enum px_code code, unsigned destinations, unsigned count,
                          const px_register *list)
{
    const uint32_t n = program.op_count++;
    memcpy(operands[n], list, count * sizeof *list);
    ops[n] = (struct px_op){.code = code,
                            .operands = operands[n],
                            .destinations = (uint8_t)destinations,
                            .sources = (uint8_t)(count - destinations),
                            .members = PX_NONE,
                            .guard = PX_NONE,
                            .line = n + 1};
    return &ops[n];
}

#define LIST(...)                                                                                  \
    sizeof((px_register[]){__VA_ARGS__}) / sizeof(px_register), (px_register[])                    \
    {                                                                                              \
        __VA_ARGS__                                                                                \
    }
#define CODE(code, destinations, ...) emit(code, destinations, LIST(__VA_ARGS__))

static struct px_op *form(const char *name, unsigned destinations, unsigned count,
                          const px_register *list)
{
    struct px_op *op = emit(PX_FORM, destinations, count, list);
    op->form = kn_form_find(name);
    if (op->form < 0) {
        printf("there is no form %s\n", name);
        exit(1);
    }
    return op;
}
#define FORM(name, destinations, ...) form(name, destinations, LIST(__VA_ARGS__))

static struct px_op *branch(px_register guard, uint32_t target)
{
    struct px_op *op = emit(PX_BRANCH, 0, 0, (px_register[]){0});
    op->guard = guard;
    op->target = target;
    meets[target] = meets[program.op_count] = true;
    return op;
}

static px_register address_of_words(void)
{
    return filled('l', PX_FILL_ARGUMENT, 0, 0);
}

static bool allow(const struct kn_memory *memory, uint64_t address, uint32_t size_B, bool write)
{
    return address >= (uintptr_t)words && address + size_B <= (uintptr_t)(words + WORDS);
}

static struct px_failure failure;
static int run(uint32_t blocks, uint32_t threads)
{
    const struct px_host host = {.foreign = allow,
                                 .shared_window = UINT64_C(1) << 48,
                                 .local_window = (UINT64_C(1) << 48) + (UINT64_C(1) << 32)};
    uint32_t *const argument = words;
    struct px_grid grid = {.program = &program,
                           .host = &host,
                           .blocks = {blocks, 1, 1},
                           .threads = {threads, 1, 1},
                           .arguments = &argument};
    const int status = px_run(&grid, 0, blocks);
    failure = grid.failure;
    return status;
}

// words[n] = n for the threads of all blocks, by address arithmetic of shared memory's width.
static void test_threads(void)
{
    begin();
    const px_register tid = special(PX_SPECIAL_TID_X), at = address_of_words(), lane = reg('w');
    FORM("add.32", 1, lane, tid, constant(7));
    FORM("red.generic.max.u32", 0, at, lane)->immediate = 4;
    FORM("atom.generic.add.32", 1, reg('w'), at, tid);
    CODE(PX_EXIT, 0, 0)->sources = 0;
    EXPECT_EQ(run(3, 100), 0);
    EXPECT_EQ(words[0], 3 * 99 * 100 / 2);
    EXPECT_EQ(words[1], 99 + 7);
}

// Lane 0 goes another way than the others, and all meet again.
static void test_divergence(void)
{
    begin();
    const px_register at = address_of_words(), members = constant(UINT32_MAX);
    const px_register p = reg('p'), leader = reg('w'), seen = reg('w');
    FORM("elect", 2, leader, p, members);
    branch(p, 3);
    FORM("red.generic.add.32", 0, at, constant(1000))->immediate = 4;
    FORM("activemask", 1, seen);
    FORM("red.generic.or.32", 0, at, seen);
    CODE(PX_EXIT, 0, 0)->sources = 0;
    EXPECT_EQ(run(1, 32), 0);
    EXPECT_EQ(words[0], UINT32_MAX);
    EXPECT_EQ(words[1], 31 * 1000);
}

// Lanes that have diverged wait for each other at a member mask.
static void test_members(void)
{
    begin();
    const px_register at = address_of_words(), members = constant(UINT32_MAX);
    const px_register p = reg('p'), leader = reg('w'), seen = reg('w'), sum = reg('w');
    FORM("elect", 2, leader, p, members);
    branch(p, 3);
    FORM("red.generic.add.32", 0, at, constant(1))->immediate = 4;
    // Lane 0 comes here first, because the others are at a lower operation later.
    struct px_op *op = FORM("redux.add.32", 1, sum, constant(2), members);
    op->code = PX_FORM_TOGETHER;
    op->members = members;
    FORM("activemask", 1, seen);
    FORM("red.generic.max.u32", 0, at, sum);
    CODE(PX_EXIT, 0, 0)->sources = 0;
    EXPECT_EQ(run(1, 20), 0);
    EXPECT_EQ(words[0], 40);
    EXPECT_EQ(words[1], 19);
}

// 128 threads add their numbers to shared memory, wait, and read the sum.
static void test_barrier(void)
{
    begin();
    const px_register tid = special(PX_SPECIAL_TID_X), at = address_of_words(), sum = reg('w');
    const px_register zero = constant(0);
    program.static_shared_B = 4;
    program.uses_barriers = true;
    FORM("red.shared.add.32", 0, zero, tid);
    CODE(PX_BARRIER, 0, zero, zero);
    FORM("ld.shared.32:32", 1, sum, zero);
    FORM("red.generic.max.u32", 0, at, sum);
    CODE(PX_EXIT, 0, 0)->sources = 0;
    EXPECT_EQ(run(2, 128), 0);
    EXPECT_EQ(words[0], 127 * 128 / 2);
}

// A block whose threads wait at two barriers, of which neither is ever complete.
static void test_deadlock(void)
{
    begin();
    const px_register warp = special(PX_SPECIAL_WARPID);
    program.uses_barriers = true;
    CODE(PX_BARRIER, 0, warp, constant(0));
    CODE(PX_EXIT, 0, 0)->sources = 0;
    EXPECT_EQ(run(1, 64), -EDEADLK);
    EXPECT_EQ((int)failure.kind, (int)PX_FAILED_DEADLOCK);
    EXPECT_EQ(failure.line, 1);
}

static void test_shared_fault(void)
{
    begin();
    program.static_shared_B = 64;
    FORM("ld.shared.32:32", 1, reg('w'), special(PX_SPECIAL_TID_X));
    CODE(PX_EXIT, 0, 0)->sources = 0;
    EXPECT_EQ(run(1, 32), -EFAULT);
    EXPECT_EQ((int)failure.kind, (int)PX_FAILED_MISALIGNED);
    EXPECT_EQ(failure.thread[0], 1);
    begin();
    program.static_shared_B = 64;
    FORM("ld.shared.32:32", 1, reg('w'), constant(64));
    CODE(PX_EXIT, 0, 0)->sources = 0;
    EXPECT_EQ(run(1, 32), -EFAULT);
    EXPECT_EQ((int)failure.kind, (int)PX_FAILED_SHARED);
    EXPECT_EQ(failure.address, 64);
}

static void test_global_fault(void)
{
    begin();
    FORM("ld.generic.32:32", 1, reg('w'), filled('l', PX_FILL_CONSTANT, 0, 4096));
    CODE(PX_EXIT, 0, 0)->sources = 0;
    EXPECT_EQ(run(1, 32), -EFAULT);
    EXPECT_EQ((int)failure.kind, (int)PX_FAILED_ADDRESS);
    EXPECT_EQ(failure.address, 4096);
    EXPECT_EQ(failure.line, 1);
}

int main(void)
{
    dm_guard_init();
    test_threads();
    test_divergence();
    test_members();
    test_barrier();
    test_deadlock();
    test_shared_fault();
    test_global_fault();
    px_decoded_free(program.decoded[0]);
    return 0;
}
