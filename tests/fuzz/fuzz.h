// SPDX-License-Identifier: MIT
// Shared by the fuzz targets: reads typed values from the fuzzer's bytes, and stops if an
// expectation fails.
//
// A target turns its input into calls and predicts each result from the manual's rules, without
// asking the library. Every input gets a context of its own, because an error may end the context.
#pragma once
#include <cuda.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerInitialize(int *argc, char ***argv);

#define FUZZ_COUNT(list) (sizeof(list) / sizeof *(list))

// Stops with both sides of a comparison. The fuzzer keeps the input.
#define FUZZ_CHECK(condition, ...)                                                                 \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "%s:%d: %s: ", __FILE__, __LINE__, #condition);                        \
            fprintf(stderr, __VA_ARGS__);                                                          \
            fputc('\n', stderr);                                                                   \
            abort();                                                                               \
        }                                                                                          \
    } while (0)

#define FUZZ_OK(call)                                                                              \
    do {                                                                                           \
        CUresult result_ = (call);                                                                 \
        FUZZ_CHECK(!result_, "%s returned %d", #call, (int)result_);                               \
    } while (0)

struct fuzz_input {
    const uint8_t *at, *end;
};

// The next bytes of the input; zeros after its end.
static inline uint64_t fuzz_take(struct fuzz_input *in, unsigned bytes)
{
    uint64_t value = 0;
    for (unsigned i = 0; i < bytes; i++)
        value = value << 8 | (in->at < in->end ? *in->at++ : 0);
    return value;
}

static inline unsigned fuzz_below(struct fuzz_input *in, unsigned limit)
{
    return (unsigned)(fuzz_take(in, limit > 256 ? 2 : 1) % limit);
}

static inline bool fuzz_chance(struct fuzz_input *in, unsigned one_in)
{
    return fuzz_below(in, one_in) == one_in - 1;
}

static inline bool fuzz_more(const struct fuzz_input *in)
{
    return in->at < in->end;
}

// Returns a size or offset: mostly close to one of the important values, and sometimes a random
// one.
static inline uint64_t fuzz_size(struct fuzz_input *in, uint64_t whole)
{
    static const uint64_t edges[] = {
        0,    1,     UINT64_C(1) << 31, UINT64_C(1) << 32, UINT64_C(1) << 63, UINT64_MAX,
        4096, 65536, UINT64_C(2) << 20, UINT64_C(1) << 47,
    };
    switch (fuzz_below(in, 8)) {
    case 0:
        return edges[fuzz_below(in, FUZZ_COUNT(edges))];
    case 1:
        return whole + fuzz_below(in, 5) - 2;
    case 2:
        return fuzz_take(in, 8);
    case 3:
        return whole / 2;
    default:
        return fuzz_take(in, 4) % (whole < UINT32_MAX ? whole + 1 : UINT32_MAX);
    }
}

// For LLVMFuzzerInitialize. Diagnostics are off unless the environment enables them, but their
// sentences are still composed. AFL++ forks afterwards, and a forked process cannot use a driver
// that its parent has initialised, so the first input initialises it.
static inline void fuzz_start(void)
{
    setenv("CARDLESS_DIAGNOSTICS", "off", 0);
}

static inline CUcontext fuzz_context(void)
{
    CUcontext context;
    FUZZ_OK(cuInit(0));
    FUZZ_OK(cuCtxCreate(&context, NULL, 0, 0));
    return context;
}

// Whether the driver answers as a card does where the manual says otherwise.
static inline bool fuzz_is_driver_580(void)
{
    const char *personality = getenv("CARDLESS_PERSONALITY");
    return personality && !strcmp(personality, "driver-580");
}

// An error that ends the context; calls after it return the same.
static inline bool fuzz_is_sticky(CUresult r)
{
    return r == CUDA_ERROR_ILLEGAL_ADDRESS || r == CUDA_ERROR_LAUNCH_FAILED;
}
