// SPDX-License-Identifier: MIT
// Instruction sets for the kernels: those that the CPU has and a mask allows.
#pragma once

#include <stdint.h>

enum kn_cpu_flag {
    KN_CPU_AVX2 = 1 << 0,   // with BMI2, FMA and F16C, as in every CPU that has AVX2
    KN_CPU_AVX512 = 1 << 1, // F, BW, DQ and VL together; a mask with this flag includes AVX2
    KN_CPU_NEON = 1 << 2,
};
#define KN_CPU_FLAG_COUNT 3

// Chooses the functions. Every kn_ function does this at its first call, so kn_init() only moves
// the cost (microseconds) to an earlier moment. Thread-safe, and may be called any number of times.
void kn_init(void);

// The instruction sets in use: detected and allowed by the mask.
unsigned kn_cpu_flags(void);

// The instruction sets that this CPU has and this build supports, whatever the mask.
unsigned kn_cpu_flags_detected(void);

// Allows only the flags in `mask` from now on: all sets if it is ~0u, only the C references if it
// is 0. For tests and bug reports. The environment variable CARDLESS_CPU_MASK (a number, "0x"
// allowed) sets the initial mask. Calls that run at the same time in other threads finish with
// their old functions. Does nothing while another thread makes the very first call.
void kn_set_cpu_mask(unsigned mask);

// "avx512", "avx2", "neon" or "c": the best set among `flags`.
const char *kn_cpu_name(unsigned flags);
