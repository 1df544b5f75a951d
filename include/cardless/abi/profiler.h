/* SPDX-License-Identifier: MIT */
/* The profiler's output. */
#ifndef CARDLESS_ABI_PROFILER_H
#define CARDLESS_ABI_PROFILER_H

/* Format of the output file of cuProfilerInitialize. */
typedef enum CUoutput_mode_enum { CU_OUT_KEY_VALUE_PAIR = 0, CU_OUT_CSV = 1 } CUoutput_mode;

#endif
