// SPDX-License-Identifier: MIT
// A kernel that reads one byte and writes it back: a fault if the pages are gone, as on a card.
#pragma once
#include "../harness.h"

static const char read_byte_text[] =
    ".version 7.0\n.target sm_70\n.address_size 64\n"
    ".visible .entry read_byte(.param .u64 address) {\n"
    "  .reg .u64 %rd<2>;\n  .reg .u32 %r<2>;\n"
    "  ld.param.u64 %rd1, [address];\n  ld.global.u8 %r1, [%rd1];\n"
    "  st.global.u8 [%rd1], %r1;\n  ret;\n}\n";

static inline CUfunction load_reader(void)
{
    CUmodule module;
    CUfunction function;
    MUST(cuModuleLoadData(&module, read_byte_text));
    MUST(cuModuleGetFunction(&function, module, "read_byte"));
    return function;
}

// Returns the error of the kernel, after which the context is lost.
static inline CUresult read_in_kernel(CUfunction function, CUdeviceptr address)
{
    void *arguments[] = {&address};
    MUST(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, NULL, arguments, NULL));
    return cuCtxSynchronize();
}
