// SPDX-License-Identifier: MIT
// Options of calls that load images. The values of most are for a compiler; they are checked only
// as far as the driver itself does it.
#include "jit_options.h"

#include <string.h>
#include <time.h>

#include "pointer_check.h"

enum {
    OPTIONS = CU_JIT_SPLIT_COMPILE + 1,
    CACHE_MODES = 3,
    TARGET_MOST = 121,
    TARGET_VARIANTS = 0x30000 // bits for targets with the suffixes a and f
};

static uint64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static CUresult refuse(const char *option, const char *why)
{
    return em_fail(CUDA_ERROR_INVALID_VALUE, "option %s %s", option, why);
}

// (recorded: jit_options/options-from-…)
static CUresult check_value(CUjit_option option, void *value)
{
    const unsigned number = (unsigned)(uintptr_t)value;
    switch ((int)option) {
    case CU_JIT_MAX_REGISTERS:
        return number ? CUDA_SUCCESS : refuse("CU_JIT_MAX_REGISTERS", "is 0; use at least 1");
    case CU_JIT_THREADS_PER_BLOCK: // (the card's driver divides by 0)
        return number ? CUDA_SUCCESS : refuse("CU_JIT_THREADS_PER_BLOCK", "is 0; use at least 1");
    case CU_JIT_TARGET:
        return (number & ~(unsigned)TARGET_VARIANTS) <= TARGET_MOST
                   ? CUDA_SUCCESS
                   : refuse("CU_JIT_TARGET", "is not a CUjit_target");
    case CU_JIT_CACHE_MODE:
        return number < CACHE_MODES ? CUDA_SUCCESS
                                    : refuse("CU_JIT_CACHE_MODE", "is not a CUjit_cacheMode");
    // "Applies to: dynamic linker only". Loads refuse them with any value (recorded: jit_options/
    // option-17, global-symbol-addresses).
    case CU_JIT_GLOBAL_SYMBOL_NAMES:
    case CU_JIT_GLOBAL_SYMBOL_ADDRESSES:
    case CU_JIT_GLOBAL_SYMBOL_COUNT:
        return refuse("CU_JIT_GLOBAL_SYMBOL_*", "applies to the linker only");
    case CU_JIT_REFERENCED_KERNEL_NAMES:
    case CU_JIT_REFERENCED_VARIABLE_NAMES:
        return value ? CUDA_SUCCESS : refuse("CU_JIT_REFERENCED_*_NAMES", "is NULL");
    default:
        return CUDA_SUCCESS;
    }
}

// The place of an output in the struct, or NULL.
static void ***output_of(struct api_jit *jit, CUjit_option option)
{
    switch ((int)option) {
    case CU_JIT_WALL_TIME:
        return &jit->wall_time;
    case CU_JIT_INFO_LOG_BUFFER:
        return &jit->info.buffer;
    case CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES:
        return &jit->info.size_B;
    case CU_JIT_ERROR_LOG_BUFFER:
        return &jit->error.buffer;
    case CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES:
        return &jit->error.size_B;
    default:
        return NULL;
    }
}

static size_t size_of(const struct api_jit_log *log)
{
    return (unsigned)(uintptr_t)*log->size_B;
}

// "CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES: … Log messages will be capped at this size". Each half of the
// pair is refused without the other one (recorded: jit_options/log-size-without-buffer).
static CUresult check_log(const struct api_jit_log *log, const char *name)
{
    if (!log->buffer && !log->size_B)
        return CUDA_SUCCESS;
    if (!log->buffer || !log->size_B)
        return em_fail(CUDA_ERROR_INVALID_VALUE,
                       "options: CU_JIT_%s_LOG_BUFFER and CU_JIT_%s_LOG_BUFFER_SIZE_BYTES must be "
                       "given together",
                       name, name);
    return size_of(log) ? em_writable("log buffer", *log->buffer, size_of(log)) : CUDA_SUCCESS;
}

// "CU_JIT_THREADS_PER_BLOCK: … Cannot be combined with CU_JIT_TARGET."
static CUresult check_together(const struct api_jit *jit, bool target, bool threads)
{
    CUresult r = check_log(&jit->info, "INFO");
    if (!r)
        r = check_log(&jit->error, "ERROR");
    if (!r && target && threads)
        r = refuse("CU_JIT_TARGET", "cannot be combined with CU_JIT_THREADS_PER_BLOCK");
    return r;
}

CUresult api_jit_begin(const CUjit_option *options, void **values, unsigned count,
                       struct api_jit *out)
{
    bool target = false, threads = false;
    memset(out, 0, sizeof *out);
    if (count && (!options || !values))
        return em_fail(CUDA_ERROR_INVALID_VALUE, "%s is NULL, but there are %u options",
                       options ? "the list of values" : "the list of options", count);
    for (unsigned i = 0; i < count; i++) {
        if ((unsigned)options[i] >= OPTIONS)
            return em_fail(CUDA_ERROR_INVALID_VALUE, "options[%u] (%d) is not a CUjit_option", i,
                           (int)options[i]);
        CUresult r = check_value(options[i], values[i]);
        if (r)
            return r;
        void ***output = output_of(out, options[i]);
        if (output)
            *output = &values[i];
        target |= options[i] == CU_JIT_TARGET;
        threads |= options[i] == CU_JIT_THREADS_PER_BLOCK;
    }
    CUresult r = check_together(out, target, threads);
    if (r)
        return r;
    out->began_ns = now_ns();
    em_message_begin(&out->message);
    return CUDA_SUCCESS;
}

// The size that goes back is the length of the text (recorded: jit_options/logs-good, logs-bad,
// logs-bad-1-byte).
static void write_log(const struct api_jit_log *log, const char *text)
{
    if (!log->buffer)
        return;
    size_t length = strlen(text);
    const size_t size_B = size_of(log);
    if (size_B) {
        if (length >= size_B)
            length = size_B - 1;
        memcpy(*log->buffer, text, length);
        ((char *)*log->buffer)[length] = 0;
    } else {
        length = 0;
    }
    *log->size_B = (void *)(uintptr_t)length;
}

CUresult api_jit_end(struct api_jit *jit, CUresult result)
{
    em_message_end();
    write_log(&jit->info, "");
    write_log(&jit->error, result ? jit->message.text : "");
    // "CU_JIT_WALL_TIME: Overwrites the option value with the total wall clock time, in
    // milliseconds".
    if (jit->wall_time) {
        const float ms = (float)(now_ns() - jit->began_ns) / 1e6f;
        memcpy(jit->wall_time, &ms, sizeof ms);
    }
    return result;
}
