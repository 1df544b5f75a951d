// SPDX-License-Identifier: MIT
// Fuzzes the import layer with cardless_fuzz.h. The first two bytes of an input choose a failure,
// and the rest is a message of the renderer.
//
//     clang -fsanitize=fuzzer layer.c fuzz_layer.c -lcuda            libFuzzer
//     afl-clang-fast layer.c fuzz_layer.c -lcuda                     AFL++, in persistent mode
//     cc -DSTANDALONE layer.c fuzz_layer.c -lcuda; ./a.out FILE…     repeats inputs
#include <cardless_fuzz.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "layer.h"

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { ALLOCATION_B = 2 << 20 };

static int renderer; // the descriptor of the renderer's allocation

static void must(CUresult r, const char *what)
{
    if (!r)
        return;
    fprintf(stderr, "%s: CUresult %d\n", what, (int)r);
    exit(1);
}

// Stands for vkGetMemoryFdKHR in the renderer's process.
static int export_allocation(void)
{
    CUmemAllocationProp prop = {.type = CU_MEM_ALLOCATION_TYPE_PINNED,
                                .requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR,
                                .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE}};
    CUmemGenericAllocationHandle memory;
    int fd = -1;
    must(cuMemCreate(&memory, ALLOCATION_B, &prop, 0), "cuMemCreate");
    must(cuMemExportToShareableHandle(&fd, memory, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0),
         "cuMemExportToShareableHandle");
    must(cuMemRelease(memory), "cuMemRelease");
    return fd;
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc, (void)argv;
    setenv("CARDLESS_DIAGNOSTICS", "off", 0); // the last sentence is printed nevertheless
    must(cuInit(0), "cuInit");
    renderer = export_allocation();
    // The layer checks messages before it calls CUDA, so each error is a mistake, too.
    must(cardlessFuzzAbort(CARDLESS_FUZZ_ABORT_MISTAKES | CARDLESS_FUZZ_ABORT_ERRORS |
                           CARDLESS_FUZZ_ABORT_LEAKS),
         "cardlessFuzzAbort");
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const cardlessFuzzFailure failures[] = {CARDLESS_FUZZ_ALLOCATION, CARDLESS_FUZZ_IMPORT,
                                                   CARDLESS_FUZZ_DEVICE};
    struct layer layer;
    CUcontext context;
    if (size < 2)
        return 0;
    must(cuDevicePrimaryCtxRetain(&context, 0), "cuDevicePrimaryCtxRetain");
    must(cuCtxSetCurrent(context), "cuCtxSetCurrent");
    must(cardlessFuzzFail(failures[data[0] % 3], data[1]), "cardlessFuzzFail"); // 0: nothing fails
    int fd = fcntl(renderer, F_DUPFD_CLOEXEC, 0);
    if (layer_receive(&layer, fd, ALLOCATION_B, data + 2, size - 2))
        layer_close(&layer);
    must(cardlessFuzzReset(), "cardlessFuzzReset");
    return 0;
}

// ---- without libFuzzer ----

#ifdef __AFL_FUZZ_TESTCASE_LEN
__AFL_FUZZ_INIT();

int main(int argc, char **argv)
{
    LLVMFuzzerInitialize(&argc, &argv);
    const unsigned char *input = __AFL_FUZZ_TESTCASE_BUF;
    while (__AFL_LOOP(100000))
        LLVMFuzzerTestOneInput(input, (size_t)__AFL_FUZZ_TESTCASE_LEN);
    return 0;
}
#elif defined STANDALONE
int main(int argc, char **argv)
{
    static uint8_t input[1 << 16];
    LLVMFuzzerInitialize(&argc, &argv);
    for (int i = 1; i < argc; i++) {
        FILE *file = fopen(argv[i], "rb");
        if (!file) {
            perror(argv[i]);
            return 1;
        }
        size_t size = fread(input, 1, sizeof input, file);
        fclose(file);
        LLVMFuzzerTestOneInput(input, size);
    }
    return 0;
}
#endif
