// SPDX-License-Identifier: MIT
// Fibers: switches, values that survive them, guarded calls, fibers that are started again, and
// fibers that share a stack.
#include "fiber.h"

#include <errno.h>
#include <fenv.h>
#include <stdint.h>
#include <string.h>

#include "alloc.h"
#include "expect.h"
#include "guard.h"

enum { COUNT = 20, ROUNDS = 50, STACK_B = 64 << 10 };

static struct dm_fiber first, owner, fibers[COUNT];
static int current;
static double sums[COUNT];
static int faults;

// Values in registers and on the stack, integers and floating point, across switches.
static void add_up(void *argument)
{
    const int number = *(const int *)argument;
    double sum = number;
    uint64_t product = 1;
    for (int i = 0; i < ROUNDS; i++) {
        sum += i * 0.5;
        product = product * 3 + (uint64_t)number;
        dm_fiber_switch(&fibers[number], &first, NULL);
        product /= 3;
        EXPECT_EQ(current, number);
    }
    sums[number] = sum + (double)(product & 1) * 0;
}

static void touch(void *argument)
{
    dm_fiber_switch(&fibers[current], &first, NULL); // inside of a guarded call
    *(volatile char *)argument = 1;
}

static void touch_guarded(void *argument)
{
    struct dm_fault fault;
    if (dm_guarded(touch, argument, &fault))
        faults += fault.address == (uintptr_t)argument;
}

static void run(int number)
{
    current = number;
    dm_fiber_switch(&first, &fibers[number], &first);
}

// The mode of rounding belongs to the fiber, as it belongs to a function that another one calls.
static void round_up(void *argument)
{
    const int number = *(const int *)argument;
    EXPECT_EQ(fegetround(), FE_TONEAREST);
    fesetround(FE_UPWARD);
    dm_fiber_switch(&fibers[number], &first, NULL);
    EXPECT_EQ(fegetround(), FE_UPWARD);
    fesetround(FE_DOWNWARD);
}

static void check_rounding(int *numbers)
{
    for (int i = 0; i < COUNT; i++)
        dm_fiber_start(&fibers[i], round_up, &numbers[i]);
    for (int round = 0; round < 2; round++)
        for (int i = 0; i < COUNT; i++) {
            run(i);
            EXPECT_EQ(fegetround(), FE_TONEAREST);
        }
}

static void check(bool shared)
{
    static int numbers[COUNT];
    char *nowhere = (char *)(uintptr_t)0x1230;
    faults = 0;
    for (int i = 0; i < COUNT; i++) {
        numbers[i] = i;
        if (shared)
            dm_fiber_init_shared(&fibers[i], &owner);
        else
            EXPECT_EQ(dm_fiber_init(&fibers[i], STACK_B), 0);
        dm_fiber_start(&fibers[i], add_up, &numbers[i]);
    }
    for (int round = 0; round <= ROUNDS; round++)
        for (int i = 0; i < COUNT; i++)
            run(i);
    for (int i = 0; i < COUNT; i++)
        EXPECT(sums[i] == i + 0.5 * ROUNDS * (ROUNDS - 1) / 2);

    // Each fiber has guarded calls of its own, although they begin in turns.
    for (int i = 0; i < COUNT; i++)
        dm_fiber_start(&fibers[i], touch_guarded, nowhere);
    for (int round = 0; round < 2; round++)
        for (int i = COUNT - 1; i >= 0; i--)
            run(i);
    EXPECT_EQ(faults, COUNT);

    // A fiber that has not returned is forgotten.
    dm_fiber_start(&fibers[0], add_up, &numbers[0]);
    run(0);
    dm_fiber_start(&fibers[0], touch_guarded, nowhere);
    run(0);
    run(0);
    EXPECT_EQ(faults, COUNT + 1);
    check_rounding(numbers);
    for (int i = 0; i < COUNT; i++)
        dm_fiber_finish(&fibers[i]);
}

// A fiber that shares a stack cannot go on if there is no memory for its part of the stack.
static void check_no_memory(void)
{
    static int number = 0;
    dm_fiber_init_shared(&fibers[0], &owner);
    dm_fiber_start(&fibers[0], add_up, &number);
    dm_alloc_fail_after(1);
    EXPECT_EQ(dm_fiber_switch(&first, &fibers[0], &first), -ENOMEM);
    EXPECT(dm_alloc_failed());
    dm_fiber_finish(&fibers[0]);
}

int main(void)
{
    EXPECT_EQ(dm_guard_init(), 0);
    dm_fiber_of_thread(&first);
    EXPECT_EQ(dm_fiber_init(&owner, STACK_B), 0);
    check(false);
    check(true);
    check_no_memory();
    dm_fiber_finish(&owner);
    dm_guard_finish();
    return 0;
}
