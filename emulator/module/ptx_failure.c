// SPDX-License-Identifier: MIT
// Reports failures of PTX kernels, and launches that may never end.
#include "ptx_failure.h"

#include <stdio.h>

#include "check_result.h"
#include "config.h"
#include "error.h"
#include "lock.h"
#include "memory_device.h"
#include "ptx_check.h"

void em_ptx_slow_report(const struct px_slow *slow, const char *kernel,
                        const struct px_program *program)
{
    em_assert_unlocked();
    char lines[1024] = "";
    size_t used = 0;
    for (unsigned i = 0; i < slow->count; i++) {
        char line[192];
        em_ptx_line_text(program, slow->lines[i], line, sizeof line);
        used +=
            (size_t)snprintf(lines + used, sizeof lines - used, "%s%u thread%s at%s", i ? ", " : "",
                             slow->threads[i], slow->threads[i] == 1 ? "" : "s", line + 1);
    }
    em_mistake(
        K07, CUDA_SUCCESS,
        "kernel %s has run for %llu ms and is still running; block (%u,%u,%u) has %s, the first of "
        "them thread (%u,%u,%u)",
        kernel, (unsigned long long)em_config()->kernel_ms, slow->block[0], slow->block[1],
        slow->block[2], lines, slow->thread[0], slow->thread[1], slow->thread[2]);
}

static CUresult code_of(enum px_failure_kind kind)
{
    switch (kind) {
    case PX_FAILED_MISALIGNED:
        return CUDA_ERROR_MISALIGNED_ADDRESS;
    case PX_FAILED_INSTRUCTION:
        return CUDA_ERROR_ILLEGAL_INSTRUCTION;
    case PX_FAILED_RANK: // (recorded on an H200: mapa bad rank)
    case PX_FAILED_TRAP:
    case PX_FAILED_FREE:
        return CUDA_ERROR_LAUNCH_FAILED;
    case PX_FAILED_ASSERT:
        return CUDA_ERROR_ASSERT;
    case PX_FAILED_DEADLOCK:
    case PX_FAILED_ENDLESS:
        return CUDA_ERROR_LAUNCH_TIMEOUT;
    case PX_FAILED_MEMORY:
        return CUDA_ERROR_OUT_OF_MEMORY;
    default: // also for calls that are too deep (recorded: fault/recursion-overflow)
        return CUDA_ERROR_ILLEGAL_ADDRESS;
    }
}

static enum em_diagnostic diagnostic_of(enum px_failure_kind kind)
{
    switch (kind) {
    case PX_FAILED_ADDRESS:
    case PX_FAILED_SHARED:
    case PX_FAILED_LOCAL:
    case PX_FAILED_RANK:
    case PX_FAILED_OUTSIDE:
        return EM_DIAG_K01;
    case PX_FAILED_MISALIGNED:
        return EM_DIAG_K05;
    case PX_FAILED_DEADLOCK:
        return EM_DIAG_K04;
    case PX_FAILED_TEXTURE:
    case PX_FAILED_SURFACE:
        return EM_DIAG_K06;
    default:
        return EM_DIAG_GENERAL;
    }
}

CUresult em_ptx_failure_report(const struct px_failure *f, const char *kernel,
                               const struct px_program *program, struct em_ptx_objects *objects)
{
    em_assert_unlocked();
    char where[320] = "", memory[200] = "", text[160];
    size_t used = 0;
    if (f->placed && f->line)
        used = em_ptx_line_text(program, f->line, where, sizeof where);
    if (f->placed)
        snprintf(where + used, sizeof where - used, ", block (%u,%u,%u), thread (%u,%u,%u)",
                 f->block[0], f->block[1], f->block[2], f->thread[0], f->thread[1], f->thread[2]);
    if (f->kind == PX_FAILED_ADDRESS || f->kind == PX_FAILED_FREE) {
        em_lock();
        em_memory_text(f->address, text, sizeof text);
        em_unlock();
        snprintf(memory, sizeof memory, "; %s", text);
    } else if (f->kind == PX_FAILED_TEXTURE || f->kind == PX_FAILED_SURFACE) {
        if (!em_ptx_object_text(
                objects, f->kind == PX_FAILED_TEXTURE ? KN_OBJECT_TEXTURE : KN_OBJECT_SURFACE,
                f->address, text, sizeof text))
            return em_fail(CUDA_ERROR_OUT_OF_MEMORY, "kernel %s: out of host memory", kernel);
        snprintf(memory, sizeof memory, "; %s", text);
    }
    const enum em_diagnostic id = diagnostic_of(f->kind);
    em_report(id, code_of(f->kind), "kernel %s%s: %s%s", kernel, where, f->text, memory);
    if (em_ptx_check_on() && id != EM_DIAG_GENERAL)
        em_check_found();
    return code_of(f->kind);
}
