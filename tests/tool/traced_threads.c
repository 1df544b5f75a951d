// SPDX-License-Identifier: MIT
// Threads whose recorded order matters.
//
//     traced_threads order   they write to the same words in one stream; prints who was last
//     traced_threads lives   they allocate and free memory, and get each other's addresses
#include <pthread.h>
#include <stdbool.h>
#include <string.h>

#include "../check_call.h"

enum { THREADS = 3, ROUNDS = 2000, LIVES = 400, SIZE_B = 256 };

static CUcontext context;
static CUstream stream;
static CUdeviceptr words;
static pthread_barrier_t barrier;

static void *write_words(void *argument)
{
    const unsigned number = *(const unsigned *)argument;
    CHECK(cuCtxSetCurrent(context));
    for (unsigned i = 0; i < ROUNDS; i++) {
        pthread_barrier_wait(&barrier);
        CHECK(cuMemsetD32Async(words + 4 * i, number, 1, stream));
    }
    return NULL;
}

static void *use_memory(void *argument)
{
    const unsigned number = *(const unsigned *)argument;
    unsigned char back[SIZE_B];
    CHECK(cuCtxSetCurrent(context));
    for (unsigned i = 0; i < LIVES; i++) {
        CUdeviceptr memory;
        CHECK(cuMemAlloc(&memory, SIZE_B));
        CHECK(cuMemsetD8(memory, (unsigned char)(number + i), SIZE_B));
        CHECK(cuMemcpyDtoH(back, memory, SIZE_B));
        CHECK(cuMemFree(memory));
        if (back[SIZE_B - 1] != (unsigned char)(number + i))
            exit(2);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    const bool order = argc > 1 && !strcmp(argv[1], "order");
    static unsigned numbers[THREADS], last[ROUNDS];
    pthread_t threads[THREADS];
    CHECK(cuInit(0));
    CHECK(cuDevicePrimaryCtxRetain(&context, 0));
    CHECK(cuCtxSetCurrent(context));
    CHECK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    CHECK(cuMemAlloc(&words, sizeof last));
    pthread_barrier_init(&barrier, NULL, THREADS);
    for (unsigned i = 0; i < THREADS; i++) {
        numbers[i] = 100 + i;
        if (pthread_create(&threads[i], NULL, order ? write_words : use_memory, &numbers[i]))
            return 1;
    }
    for (unsigned i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    CHECK(cuMemcpyDtoH(last, words, sizeof last));
    for (unsigned i = 0; order && i < ROUNDS; i++)
        printf("%#llx %u\n", (unsigned long long)words + 4 * i, last[i]);
    return 0;
}
