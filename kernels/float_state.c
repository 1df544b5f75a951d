// SPDX-License-Identifier: MIT
// The floating-point state of the calling thread.
#include "kn_float.h"

#if defined(__x86_64__)

// The control register of SSE and AVX, and that of the x87 unit in the upper half: the C library
// takes the rounding mode of strtod from there.
#define DEFAULT (UINT64_C(0x37f) << 32 | 0x1f80)

static uint64_t read_state(void)
{
    uint16_t control;
    __asm__ volatile("fnstcw %0" : "=m"(control));
    return (uint64_t)control << 32 | __builtin_ia32_stmxcsr();
}

static void write_state(uint64_t bits)
{
    const uint16_t control = (uint16_t)(bits >> 32);
    __asm__ volatile("fldcw %0" : : "m"(control));
    __builtin_ia32_ldmxcsr((unsigned)bits);
}

#elif defined(__aarch64__)

#define DEFAULT 0

// The control register, and the flags of exceptions in the upper half.
static uint64_t read_state(void)
{
    uint64_t control, status;
    __asm__ volatile("mrs %0, fpcr" : "=r"(control));
    __asm__ volatile("mrs %0, fpsr" : "=r"(status));
    return status << 32 | (uint32_t)control;
}

static void write_state(uint64_t bits)
{
    const uint64_t control = (uint32_t)bits, status = bits >> 32;
    __asm__ volatile("msr fpcr, %0" : : "r"(control));
    __asm__ volatile("msr fpsr, %0" : : "r"(status));
}

#else

// Only the rounding mode.
#include <fenv.h>
#define DEFAULT (uint64_t) FE_TONEAREST

static uint64_t read_state(void)
{
    return (uint64_t)fegetround();
}

static void write_state(uint64_t bits)
{
    fesetround((int)bits);
}

#endif

struct kn_float_state kn_float_enter(void)
{
    const struct kn_float_state before = {read_state()};
    if (before.bits != DEFAULT)
        write_state(DEFAULT);
    return before;
}

void kn_float_leave(struct kn_float_state state)
{
    if (read_state() != state.bits)
        write_state(state.bits);
}
