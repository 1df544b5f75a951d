// SPDX-License-Identifier: MIT
// For tests of the linker: a linker with logs, inputs of PTX, and runs of its images.
#pragma once
#include "kernel_text.h"

enum { PARTS = 3, LOG_B = 4096 };

// k writes the word g, or the result of f.
#define READS_G                                                                                    \
    ".extern .global .u32 g;\n.visible .entry k(.param .u64 p)\n{\n.reg .b64 %x;\n.reg .b32 %r;\n" \
    "ld.param.u64 %x, [p];\nld.global.u32 %r, [g];\nst.global.u32 [%x], %r;\nret;\n}\n"
#define CALLS_F                                                                                    \
    ".extern .func (.param .b32 r) f();\n.visible .entry k(.param .u64 p)\n{\n.reg .b64 %x;\n"     \
    ".reg .b32 %r;\nld.param.u64 %x, [p];\n{\n.param .b32 r;\ncall (r), f, ();\n"                  \
    "ld.param.b32 %r, [r];\n}\nst.global.u32 [%x], %r;\nret;\n}\n"
#define F(linkage, value)                                                                          \
    linkage " .func (.param .b32 r) f()\n{\n.reg .b32 %q;\nmov.b32 %q, " #value                    \
            ";\nst.param.b32 [r], %q;\nret;\n}\n"
#define NOTHING ".visible .entry k(.param .u64 p)\n{\nret;\n}\n"

static char error_log[LOG_B], info_log[LOG_B];

static inline CUlinkState begin(void)
{
    static CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES,
                                     CU_JIT_INFO_LOG_BUFFER, CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES};
    static void *values[4];
    CUlinkState state = NULL;
    values[0] = error_log;
    values[2] = info_log;
    values[1] = values[3] = (void *)(uintptr_t)LOG_B;
    *error_log = *info_log = 0;
    MUST(cuLinkCreate(4, options, values, &state));
    return state;
}

static inline CUresult add(CUlinkState state, const char *name, const char *text)
{
    static char whole[PARTS + 1][4096];
    static int next;
    char *to = whole[next++ % (PARTS + 1)];
    snprintf(to, sizeof whole[0], "%s%s", PTX_HEAD, text);
    return cuLinkAddData(state, CU_JIT_INPUT_PTX, to, strlen(to) + 1, name, 0, NULL, NULL);
}

// The value that the kernel of an image writes.
static inline unsigned run(const void *image)
{
    CUmodule m = ptx_load(image);
    CUdeviceptr p;
    MUST(cuMemAlloc(&p, 4));
    EXPECT_OK(cuMemsetD32(p, 77, 1));
    EXPECT_OK(ptx_run(ptx_kernel(m, "k"), 1, 1, (void *[]){&p}));
    const unsigned value = ptx_word(p);
    EXPECT_OK(cuMemFree(p));
    EXPECT_OK(cuModuleUnload(m));
    return value;
}
