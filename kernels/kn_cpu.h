// SPDX-License-Identifier: MIT
// Which instruction sets the kernels may use: what the CPU has, less what a mask takes away.
#pragma once

#include <stdint.h>

enum kn_cpu_flag {
    KN_CPU_AVX2 = 1 << 0,   // with BMI2, FMA and F16C, as in every CPU since the first
    KN_CPU_AVX512 = 1 << 1, // F, BW, DQ and VL together; a mask with this flag has AVX2 too
    KN_CPU_NEON = 1 << 2,
};
#define KN_CPU_FLAG_COUNT 3

// Chooses the functions. Every kn_ function does this by itself at its first call, so that calling
// kn_init() only moves the cost (microseconds) to a moment of one's choice. Safe from any thread,
// any number of times.
void kn_init(void);

// The instruction sets in use: detected ones that the mask lets through.
unsigned kn_cpu_flags(void);

// What this CPU has and this build was made with, whatever the mask.
unsigned kn_cpu_flags_detected(void);

// Lets only the flags in `mask` through from now on (~0u: all; 0: the C references). For tests and
// bug reports; the environment variable CARDLESS_CPU_MASK (a number, "0x" allowed) sets the mask
// that holds at the start. Calls that run at the same time in other threads finish with the
// functions they began with. Does nothing while another thread makes the first call of all.
void kn_set_cpu_mask(unsigned mask);

// "avx512", "avx2", "neon" or "c": the best set among `flags`.
const char *kn_cpu_name(unsigned flags);
