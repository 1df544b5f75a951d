// SPDX-License-Identifier: MIT
// Kernels for tests, as functions of the host.
#pragma once
#include <cardless.h>
#include <pthread.h>

#include "../sanitizers.h"

static CUresult kernels_result; // that a kernel has got from the driver

static unsigned kernel_index(void)
{
    const cardlessThread *t = cardlessThisThread();
    return t->block.x * t->block_size.x + t->thread.x;
}

static void kernel_scale(unsigned *data, unsigned factor, unsigned count)
{
    unsigned i = kernel_index();
    if (i < count)
        data[i] = i * factor;
}

static void kernel_add(unsigned *data, unsigned value, unsigned count)
{
    unsigned i = kernel_index();
    if (i < count)
        data[i] += value + 1;
}

static void kernel_indices(unsigned *data)
{
    const cardlessThread *t = cardlessThisThread();
    unsigned block = (t->block.z * t->grid_size.y + t->block.y) * t->grid_size.x + t->block.x;
    unsigned thread = (t->thread.z * t->block_size.y + t->thread.y) * t->block_size.x + t->thread.x;
    data[block * t->block_size.x * t->block_size.y * t->block_size.z + thread]++;
}

struct bytes24 {
    unsigned char bytes[24];
};

static void kernel_types(double *out, int8_t a, uint8_t b, int16_t c, uint16_t d, int32_t e,
                         uint32_t f, int64_t g, uint64_t h, float i, double j,
                         const struct bytes24 *k)
{
    const double values[] = {a, b, c, d, e, f, (double)g, (double)h, (double)i, j};
    for (int n = 0; n < 10; n++)
        out[n] = values[n];
    out[10] = 0;
    for (int n = 0; n < 24; n++)
        out[10] += k->bytes[n];
}

static void kernel_blocks(unsigned *data)
{
    const cardlessThread *t = cardlessThisThread();
    data[t->block.x] = t->block_size.x * 1000 + t->block.x;
}

static void kernel_rotate(unsigned *data, unsigned rounds)
{
    const cardlessThread *t = cardlessThisThread();
    unsigned *shared = t->dynamic_shared, mine = t->thread.x, size = t->block_size.x;
    for (unsigned i = 0; i < rounds; i++) {
        shared[t->thread.x] = mine;
        cardlessBarrier();
        mine = shared[(t->thread.x + 1) % size];
        cardlessBarrier();
    }
    data[t->block.x * size + t->thread.x] = mine + 1000 * t->block.x;
}

static void kernel_some_wait(unsigned *data)
{
    const cardlessThread *t = cardlessThisThread();
    unsigned *shared = t->dynamic_shared;
    if (t->thread.x >= 32)
        return;
    shared[t->thread.x] = t->thread.x;
    cardlessBarrier();
    unsigned sum = 0;
    for (unsigned i = 0; i < 32; i++)
        sum += shared[i];
    if (!t->thread.x)
        data[0] = sum;
}

static void kernel_grid(unsigned *data)
{
    unsigned i = kernel_index();
    const cardlessThread *t = cardlessThisThread();
    unsigned all = t->grid_size.x * t->block_size.x, sum = 0;
    data[i] = 1;
    cardlessGridBarrier();
    for (unsigned j = 0; j < all; j++)
        sum += data[j];
    data[all + i] = sum;
}

// Each thread reads in each round the value that another thread has written, and keeps values of
// its own across the barriers.
static void kernel_grid_pairs(unsigned *data, unsigned rounds)
{
    const cardlessThread *t = cardlessThisThread();
    unsigned i = kernel_index(), all = t->grid_size.x * t->block_size.x, own[64], sum = i;
    for (unsigned j = 0; j < 64; j++)
        own[j] = i * j;
    for (unsigned round = 0; round < rounds; round++) {
        data[i] = sum;
        cardlessGridBarrier();
        sum += data[all - 1 - i] + own[round];
        cardlessGridBarrier();
    }
    data[i] = sum;
}

static void kernel_shared(unsigned *data, unsigned at)
{
    const cardlessThread *t = cardlessThisThread();
    volatile unsigned char *bytes = t->dynamic_shared;
    bytes[at] = 1;
    data[0] = (unsigned)t->dynamic_shared_size;
    data[1] = (unsigned)((char *)t->dynamic_shared - (char *)t->shared);
}

static void kernel_count_up(void)
{
    unsigned *counter = cardlessVariable(0);
    if (!cardlessVariable(1000000)) // the table has no such variable
        __atomic_fetch_add(counter, 1, __ATOMIC_RELAXED);
}

static void kernel_bad_address(unsigned *data)
{
    if (kernel_index() == 37)
        *(volatile unsigned *)((char *)data + (1ul << 36)) = 1;
}

static void kernel_bad_after_barrier(unsigned *data)
{
    cardlessBarrier();
    kernel_bad_address(data);
    cardlessBarrier();
}

static void kernel_bad_jump(unsigned *data)
{
    (void)data;
    ((void (*)(void))(uintptr_t)0x123450)();
}

static volatile int kernels_zero, kernels_hundred = 100;

static void kernel_divide(int *data)
{
    data[0] = kernels_hundred / kernels_zero;
}

static void kernel_builtin_trap(unsigned *data)
{
    (void)data;
    __builtin_trap();
}

static void kernel_trap(unsigned *data)
{
    if (cardlessThisThread()->thread.x == 17)
        cardlessTrap();
    data[0] = 1;
}

static void kernel_assert(unsigned *data)
{
    CARDLESS_ASSERT(data == NULL);
}

static int kernels_cleaned; // handlers that pthread_exit has called

static void kernel_clean(void *unused)
{
    (void)unused;
    kernels_cleaned++;
}

static void kernel_exit(void)
{
    pthread_cleanup_push(kernel_clean, NULL);
    if (kernel_index() == 35)
        pthread_exit(NULL);
    pthread_cleanup_pop(0);
}

static void kernel_exit_barrier(void)
{
    cardlessBarrier();
    kernel_exit();
    cardlessBarrier();
}

// Never ends, because kernels_hundred stays the same.
static int kernel_deep(volatile char *above)
{
    volatile char here[1024];
    here[0] = above ? above[0] : 0;
    return kernels_hundred == 100 ? kernel_deep(here) + here[0] : here[0];
}

static void kernel_recurse(unsigned *data)
{
    data[0] = (unsigned)kernel_deep(NULL);
}

struct bytes64 {
    unsigned char bytes[64];
};

static void kernel_aligned(unsigned *data, const struct bytes64 *a, unsigned char b,
                           const struct bytes24 *c)
{
    data[0] = (unsigned)((uintptr_t)a % 128);
    data[1] = a->bytes[0] + a->bytes[63];
    data[2] = b;
    data[3] = (unsigned)((uintptr_t)c % 64);
    data[4] = c->bytes[23];
}

static void kernel_calls_driver(void)
{
    CUdeviceptr p;
    kernels_result = cuMemAlloc(&p, 64);
}

// After a barrier one thread accesses a bad address, or overflows its stack.
static void kernel_bad_late(unsigned *data, unsigned thread, unsigned overflows)
{
    cardlessGridBarrier();
    if (kernel_index() == thread && overflows)
        data[0] = (unsigned)kernel_deep(NULL);
    else if (kernel_index() == thread)
        *(volatile unsigned *)((char *)data + (1ul << 36)) = 1;
    cardlessGridBarrier();
}

enum {
    KERNEL_SCALE,
    KERNEL_ADD,
    KERNEL_INDICES,
    KERNEL_TYPES,
    KERNEL_BLOCKS,
    KERNEL_ROTATE,
    KERNEL_SOME_WAIT,
    KERNEL_GRID,
    KERNEL_GRID_PAIRS,
    KERNEL_SHARED,
    KERNEL_COUNT_UP,
    KERNEL_BAD_ADDRESS,
    KERNEL_BAD_AFTER_BARRIER,
    KERNEL_BAD_JUMP,
    KERNEL_DIVIDE,
    KERNEL_BUILTIN_TRAP,
    KERNEL_TRAP,
    KERNEL_ASSERT,
    KERNEL_RECURSE,
    KERNEL_RECURSE_BARRIER,
    KERNEL_NO_FLAG,
    KERNEL_CALLS_DRIVER,
    KERNEL_ALIGNED,
    KERNEL_BAD_LATE,
    KERNEL_EXIT,
    KERNEL_EXIT_BARRIER,
    KERNEL_COUNT
};

#define KERNEL(f) .name = #f, .function = (void (*)(void))kernel_##f

static const cardlessParam one_pointer[] = {{.type = CARDLESS_POINTER}},
                           pointer_and_two[] = {{.type = CARDLESS_POINTER},
                                                {.type = CARDLESS_UINT32},
                                                {.type = CARDLESS_UINT32}},
                           all_types[] = {{.type = CARDLESS_POINTER}, {.type = CARDLESS_INT8},
                                          {.type = CARDLESS_UINT8},   {.type = CARDLESS_INT16},
                                          {.type = CARDLESS_UINT16},  {.type = CARDLESS_INT32},
                                          {.type = CARDLESS_UINT32},  {.type = CARDLESS_INT64},
                                          {.type = CARDLESS_UINT64},  {.type = CARDLESS_FLOAT},
                                          {.type = CARDLESS_DOUBLE},  {CARDLESS_BYTES, 24, 8}},
                           aligned_types[] = {{.type = CARDLESS_POINTER},
                                              {CARDLESS_BYTES, 64, 128},
                                              {.type = CARDLESS_UINT8},
                                              {CARDLESS_BYTES, 24, 64}};
#define ONE_POINTER .params = one_pointer, .param_count = 1

static const cardlessKernelDesc kernels_list[] = {
    [KERNEL_SCALE] = {KERNEL(scale), .params = pointer_and_two, .param_count = 3},
    [KERNEL_ADD] = {KERNEL(add), .params = pointer_and_two, .param_count = 3},
    [KERNEL_INDICES] = {KERNEL(indices), ONE_POINTER},
    [KERNEL_TYPES] = {KERNEL(types), .params = all_types, .param_count = 12},
    [KERNEL_BLOCKS] = {KERNEL(blocks), ONE_POINTER, .flags = CARDLESS_KERNEL_PER_BLOCK},
    [KERNEL_ROTATE] = {KERNEL(rotate), .params = pointer_and_two, .param_count = 2,
                       .flags = CARDLESS_KERNEL_BARRIERS},
    [KERNEL_SOME_WAIT] = {KERNEL(some_wait), ONE_POINTER, .flags = CARDLESS_KERNEL_BARRIERS},
    [KERNEL_GRID] = {KERNEL(grid), ONE_POINTER, .flags = CARDLESS_KERNEL_BARRIERS},
    [KERNEL_GRID_PAIRS] = {KERNEL(grid_pairs), .params = pointer_and_two, .param_count = 2,
                           .flags = CARDLESS_KERNEL_BARRIERS},
    [KERNEL_SHARED] = {KERNEL(shared), .params = pointer_and_two, .param_count = 2,
                       .static_shared = 100},
    [KERNEL_COUNT_UP] = {KERNEL(count_up)},
    [KERNEL_BAD_ADDRESS] = {KERNEL(bad_address), ONE_POINTER},
    [KERNEL_BAD_AFTER_BARRIER] = {KERNEL(bad_after_barrier), ONE_POINTER,
                                  .flags = CARDLESS_KERNEL_BARRIERS},
    [KERNEL_BAD_JUMP] = {KERNEL(bad_jump), ONE_POINTER},
    [KERNEL_DIVIDE] = {KERNEL(divide), ONE_POINTER},
    [KERNEL_BUILTIN_TRAP] = {KERNEL(builtin_trap), ONE_POINTER},
    [KERNEL_TRAP] = {KERNEL(trap), ONE_POINTER},
    [KERNEL_ASSERT] = {KERNEL(assert), ONE_POINTER},
    [KERNEL_RECURSE] = {KERNEL(recurse), ONE_POINTER},
    [KERNEL_RECURSE_BARRIER] = {.name = "recurse_barrier",
                                .function = (void (*)(void))kernel_recurse,
                                ONE_POINTER,
                                .flags = CARDLESS_KERNEL_BARRIERS},
    [KERNEL_NO_FLAG] = {.name = "no_flag",
                        .function = (void (*)(void))kernel_bad_after_barrier,
                        ONE_POINTER},
    [KERNEL_CALLS_DRIVER] = {KERNEL(calls_driver)},
    [KERNEL_BAD_LATE] = {KERNEL(bad_late), .params = pointer_and_two, .param_count = 3,
                         .flags = CARDLESS_KERNEL_BARRIERS},
    [KERNEL_EXIT] = {KERNEL(exit)},
    [KERNEL_EXIT_BARRIER] = {KERNEL(exit_barrier), .flags = CARDLESS_KERNEL_BARRIERS},
    [KERNEL_ALIGNED] = {KERNEL(aligned), .params = aligned_types, .param_count = 4},
};

static const unsigned kernels_seven = 7;
static const cardlessVariableDesc kernels_variables[] = {
    {.name = "counter", .size = 4, .initial = &kernels_seven},
    {.name = "pointer", .size = 8, .address_of = "counter"},
};

static const cardlessModuleDesc kernels_table = {
    .magic = CARDLESS_MODULE_MAGIC,
    .version = CARDLESS_VERSION,
    .kernel_count = KERNEL_COUNT,
    .variable_count = 2,
    .kernels = kernels_list,
    .variables = kernels_variables,
};
