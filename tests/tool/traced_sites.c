// SPDX-License-Identifier: MIT
// Makes drawn calls from more call sites than a recording remembers, in two threads, and prints the
// calls and commands as `cardless trace` should print them, each line after the thread's number.
#include <pthread.h>
#include <stdint.h>
#include <string.h>

#include "../check_call.h"

enum { CALLS = 4000, STREAMS = 2, SIZE_B = 1 << 16, PITCH_B = 256 };

struct thread {
    unsigned number;
    uint64_t state;
    CUstream streams[STREAMS];
    unsigned stream_numbers[STREAMS]; // of CUstream #n
    CUdeviceptr memory;
    unsigned char host[PITCH_B];
};

// Most draws are the same one, so that many calls repeat others.
static unsigned draw(struct thread *t, unsigned below)
{
    t->state = t->state * UINT64_C(6364136223846793005) + 1442695040888963407u;
    return t->state >> 62 ? 0 : (unsigned)(t->state >> 33) % below;
}

#define LINE(...)                                                                                  \
    do {                                                                                           \
        flockfile(stdout);                                                                         \
        printf("%u ", t->number);                                                                  \
        printf(__VA_ARGS__);                                                                       \
        putchar('\n');                                                                             \
        funlockfile(stdout);                                                                       \
    } while (0)

static void fill(struct thread *t,
                 CUresult (*call)(struct thread *, CUdeviceptr, unsigned, unsigned))
{
    const unsigned k = draw(t, STREAMS), n = 1 + draw(t, 300);
    const CUdeviceptr at = t->memory + draw(t, SIZE_B - 512);
    CHECK(call(t, at, n, k));
    LINE("cuMemsetD8Async(dstDevice=%#llx, uc=%u, N=%u, hStream=CUstream #%u) = CUDA_SUCCESS",
         (unsigned long long)at, n % 7, n, t->stream_numbers[k]);
    LINE("CUstream #%u: memset: writes %#llx+%u", t->stream_numbers[k], (unsigned long long)at, n);
}

static void copy(struct thread *t)
{
    const unsigned k = draw(t, STREAMS), n = 1 + draw(t, PITCH_B), back = draw(t, 2);
    const CUdeviceptr at = t->memory + draw(t, SIZE_B - PITCH_B);
    const unsigned long long device = at, host = (uintptr_t)t->host;
    const unsigned stream = t->stream_numbers[k];
    if (back) {
        CHECK(cuMemcpyDtoHAsync(t->host, at, n, t->streams[k]));
        LINE("cuMemcpyDtoHAsync_v2(dstHost=%#llx, srcDevice=%#llx, ByteCount=%u, hStream=CUstream "
             "#%u) = CUDA_SUCCESS",
             host, device, n, stream);
    } else {
        CHECK(cuMemcpyHtoDAsync(at, t->host, n, t->streams[k]));
        LINE("cuMemcpyHtoDAsync_v2(dstDevice=%#llx, srcHost=%#llx, ByteCount=%u, hStream=CUstream "
             "#%u) = CUDA_SUCCESS",
             device, host, n, stream);
    }
    LINE("CUstream #%u: memcpy: reads %#llx+%u, writes %#llx+%u", stream, back ? device : host, n,
         back ? host : device, n);
}

// Outputs that are numbers: on the stack, and elsewhere.
static void ask(struct thread *t)
{
    static _Thread_local CUdeviceptr base;
    size_t size_B;
    const CUdeviceptr at = t->memory + draw(t, SIZE_B);
    CHECK(cuMemGetAddressRange(&base, &size_B, at));
    LINE("cuMemGetAddressRange_v2(pbase=%p, psize=%p, dptr=%#llx) = CUDA_SUCCESS; *pbase=%#llx, "
         "*psize=%zu",
         (void *)&base, (void *)&size_B, (unsigned long long)at, (unsigned long long)base, size_B);
}

#define FILL(n)                                                                                    \
    static __attribute__((noinline))                                                               \
    CUresult fill_##n(struct thread *t, CUdeviceptr at, unsigned count, unsigned stream)           \
    {                                                                                              \
        const CUresult r =                                                                         \
            cuMemsetD8Async(at, (unsigned char)(count % 7), count, t->streams[stream]);            \
        __asm__ volatile("" ::"i"(n)); /* no other of these functions is the same */               \
        return r;                                                                                  \
    }
#define TEN(define, n)                                                                             \
    define(n##0) define(n##1) define(n##2) define(n##3) define(n##4) define(n##5) define(n##6)     \
        define(n##7) define(n##8) define(n##9)
#define ALL(define)                                                                                \
    TEN(define, 1)                                                                                 \
    TEN(define, 2)                                                                                 \
    TEN(define, 3)                                                                                 \
    TEN(define, 4)                                                                                 \
    TEN(define, 5)                                                                                 \
    TEN(define, 6)                                                                                 \
    TEN(define, 7)                                                                                 \
    TEN(define, 8)                                                                                 \
    TEN(define, 9)                                                                                 \
    TEN(define, 10)                                                                                \
    TEN(define, 11)                                                                                \
    TEN(define, 12)                                                                                \
    TEN(define, 13)                                                                                \
    TEN(define, 14)                                                                                \
    TEN(define, 15)
ALL(FILL)
#define ADDRESS(n) fill_##n,
static CUresult (*const fills[])(struct thread *, CUdeviceptr, unsigned, unsigned) = {ALL(ADDRESS)};
enum { FILLS = sizeof fills / sizeof *fills };

static void *run(void *argument)
{
    struct thread *t = argument;
    CUcontext context;
    CHECK(cuDevicePrimaryCtxRetain(&context, 0));
    CHECK(cuCtxSetCurrent(context));
    for (unsigned i = 0; i < CALLS; i++) {
        const unsigned kind = draw(t, 8);
        if (kind < 4)
            fill(t, fills[draw(t, kind < 2 ? 8 : FILLS)]);
        else if (kind < 7)
            copy(t);
        else
            ask(t);
    }
    return NULL;
}

int main(void)
{
    static struct thread threads[2];
    pthread_t second;
    CUcontext context;
    CHECK(cuInit(0));
    CHECK(cuDevicePrimaryCtxRetain(&context, 0));
    CHECK(cuCtxSetCurrent(context));
    for (unsigned i = 0; i < 2; i++) {
        threads[i].number = i + 1;
        threads[i].state = i;
        for (unsigned k = 0; k < STREAMS; k++) {
            CHECK(cuStreamCreate(&threads[i].streams[k], CU_STREAM_NON_BLOCKING));
            threads[i].stream_numbers[k] = 1 + i * STREAMS + k;
        }
        CHECK(cuMemAlloc(&threads[i].memory, SIZE_B));
    }
    if (pthread_create(&second, NULL, run, &threads[1]))
        return 1;
    run(&threads[0]);
    pthread_join(second, NULL);
    return fflush(stdout) ? 1 : 0;
}
