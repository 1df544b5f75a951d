// SPDX-License-Identifier: MIT
// Options of calls that load images. The values of most are for a compiler; they are checked only
// as far as the driver itself does it.
#include "jit_options.h"

#include <string.h>
#include <time.h>

#include "pointer_check.h"
#include "record_content.h"

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

// "Options to be applied only for this input": those of the compiler of a text (recorded on an
// H200).
static CUresult check_input(CUjit_option option)
{
    switch ((int)option) {
    case CU_JIT_MAX_REGISTERS:
    case CU_JIT_THREADS_PER_BLOCK:
    case CU_JIT_OPTIMIZATION_LEVEL:
    case CU_JIT_GENERATE_DEBUG_INFO:
    case CU_JIT_LOG_VERBOSE:
    case CU_JIT_GENERATE_LINE_INFO:
    case CU_JIT_CACHE_MODE:
    case CU_JIT_NEW_SM3X_OPT:
    case CU_JIT_FAST_COMPILE:
    case CU_JIT_POSITION_INDEPENDENT_CODE:
    case CU_JIT_MIN_CTA_PER_SM:
    case CU_JIT_MAX_THREADS_PER_BLOCK:
    case CU_JIT_OVERRIDE_DIRECTIVE_VALUES:
    case CU_JIT_SPLIT_COMPILE:
        return CUDA_SUCCESS;
    default:
        return em_fail(CUDA_ERROR_INVALID_VALUE,
                       "option %d is for the whole linker; pass it to cuLinkCreate", (int)option);
    }
}

// (recorded: jit_options/options-from-…)
static CUresult check_value(enum api_jit_use use, CUjit_option option, void *value)
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
    case CU_JIT_FALLBACK_STRATEGY: // "This option cannot be used with cuLink* APIs"
        return use == API_JIT_LOAD ? CUDA_SUCCESS
                                   : refuse("CU_JIT_FALLBACK_STRATEGY", "cannot be used to link");
    default:
        return CUDA_SUCCESS;
    }
}

// The card's compiler raises small limits, and ignores those that limit nothing (as ptxas 13.0
// says for sm_75 to sm_121).
static unsigned most_registers(const void *value)
{
    enum { LEAST = 24, MOST = 255 };
    const unsigned number = (unsigned)(uintptr_t)value;
    return number > MOST ? 0 : number < LEAST ? LEAST : number;
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

// "CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES: … Log messages will be capped at this size". Each half of the
// pair is refused without the other one (recorded: jit_options/log-size-without-buffer).
static CUresult check_log(struct api_jit_log *log, const char *name)
{
    if (!log->buffer && !log->size_B)
        return CUDA_SUCCESS;
    if (!log->buffer || !log->size_B)
        return em_fail(CUDA_ERROR_INVALID_VALUE,
                       "options: CU_JIT_%s_LOG_BUFFER and CU_JIT_%s_LOG_BUFFER_SIZE_BYTES must be "
                       "given together",
                       name, name);
    log->capacity_B = (unsigned)(uintptr_t)*log->size_B;
    if (em_recording_contents)
        em_record_range(RF_RANGE, *log->buffer, log->capacity_B);
    return em_writable("log buffer", *log->buffer, log->capacity_B);
}

// "CU_JIT_THREADS_PER_BLOCK: … Cannot be combined with CU_JIT_TARGET."
static CUresult check_together(struct api_jit *jit, bool target, bool threads)
{
    CUresult r = check_log(&jit->info, "INFO");
    if (!r)
        r = check_log(&jit->error, "ERROR");
    if (!r && target && threads)
        r = refuse("CU_JIT_TARGET", "cannot be combined with CU_JIT_THREADS_PER_BLOCK");
    return r;
}

CUresult api_jit_begin(enum api_jit_use use, const CUjit_option *options, void **values,
                       unsigned count, struct api_jit *out)
{
    bool threads = false;
    memset(out, 0, sizeof *out);
    if (count && (!options || !values))
        return em_fail(CUDA_ERROR_INVALID_VALUE, "%s is NULL, but there are %u options",
                       options ? "the list of values" : "the list of options", count);
    for (unsigned i = 0; i < count; i++) {
        if ((unsigned)options[i] >= OPTIONS)
            return em_fail(CUDA_ERROR_INVALID_VALUE, "options[%u] (%d) is not a CUjit_option", i,
                           (int)options[i]);
        CUresult r = use == API_JIT_INPUT ? check_input(options[i]) : CUDA_SUCCESS;
        if (!r)
            r = check_value(use, options[i], values[i]);
        if (r)
            return r;
        void ***output = output_of(out, options[i]);
        if (output)
            *output = &values[i];
        if (options[i] == CU_JIT_TARGET) {
            out->has_target = true;
            out->target = (unsigned)(uintptr_t)values[i] & ~(unsigned)TARGET_VARIANTS;
        }
        if (options[i] == CU_JIT_MAX_REGISTERS)
            out->registers.most = most_registers(values[i]);
        if (options[i] == CU_JIT_OVERRIDE_DIRECTIVE_VALUES)
            out->registers.overrides = values[i] != NULL;
        out->sm_3x |= options[i] == CU_JIT_NEW_SM3X_OPT && use != API_JIT_INPUT;
        out->verbose |= options[i] == CU_JIT_LOG_VERBOSE && values[i];
        threads |= options[i] == CU_JIT_THREADS_PER_BLOCK;
    }
    CUresult r = check_together(out, out->has_target, threads);
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
    const size_t size_B = log->capacity_B;
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
    em_message_end(&jit->message);
    if (!jit->again || jit->summary)
        write_log(&jit->info, jit->summary ? jit->summary : "");
    if (!jit->again || result)
        write_log(&jit->error, result ? jit->message.text : "");
    // "CU_JIT_WALL_TIME: Overwrites the option value with the total wall clock time, in
    // milliseconds".
    if (jit->wall_time) {
        const float ms = (float)(now_ns() - jit->began_ns) / 1e6f;
        memcpy(jit->wall_time, &ms, sizeof ms);
    }
    return result;
}

// (recorded: jit_options/options-from-15)
CUresult api_jit_compiles(const struct api_jit *jit)
{
    return jit->sm_3x ? em_fail(CUDA_ERROR_INVALID_PTX,
                                "CU_JIT_NEW_SM3X_OPT is for sm_3x, which no driver compiles for "
                                "any more; leave it out")
                      : CUDA_SUCCESS;
}

struct api_jit_outputs api_jit_keep(const struct api_jit *jit)
{
    em_message_end(&jit->message);
    return (struct api_jit_outputs){jit->info, jit->error, jit->wall_time, jit->verbose,
                                    jit->sm_3x};
}

void api_jit_again(const struct api_jit_outputs *outputs, struct api_jit *out)
{
    memset(out, 0, sizeof *out);
    out->info = outputs->info;
    out->error = outputs->error;
    out->wall_time = outputs->wall_time;
    out->verbose = outputs->verbose;
    out->sm_3x = outputs->sm_3x;
    out->again = true;
    out->began_ns = now_ns();
    em_message_begin(&out->message);
}
