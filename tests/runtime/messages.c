// SPDX-License-Identifier: MIT
// Messages name the call of the program and its own arguments, and each error has one.
#include "expect.h"
#include "program.h"

#define RT_MESSAGE(call, code, text) EXPECT_MESSAGE((CUresult)(call), (CUresult)(code), text)

static char host[64];

static unsigned lines(void)
{
    char code[64];
    return test_said(code);
}

TEST(found_by_the_runtime)
{
    char *memory;
    int value;
    struct cudaChannelFormatDesc channel;
    RT_MUST(cudaMalloc((void **)&memory, 16));
    RT_MESSAGE(cudaMalloc(NULL, 4), cudaErrorInvalidValue, "\"entry\":\"cudaMalloc\"");
    RT_MESSAGE(cudaMalloc(NULL, 4), cudaErrorInvalidValue, "\"text\":\"argument devPtr is NULL\"");
    RT_MESSAGE(cudaMalloc(NULL, 4), cudaErrorInvalidValue, "\"result\":\"cudaErrorInvalidValue\"");
    RT_MESSAGE(cudaMemcpy(memory, host, 4, (enum cudaMemcpyKind)9), cudaErrorInvalidMemcpyDirection,
               "kind (9) is not a cudaMemcpyKind");
    RT_MESSAGE(cudaMemcpyToSymbol(host, host, 4, 0, cudaMemcpyHostToDevice), cudaErrorInvalidSymbol,
               "is not a variable of the device");
    RT_MESSAGE(cudaMemcpyToSymbol(host, host, 4, 0, cudaMemcpyDeviceToHost),
               cudaErrorInvalidMemcpyDirection, "contradicts the copy");
    RT_MESSAGE(cudaFreeAsync(memory + 64, NULL), cudaErrorInvalidValue, "cudaFreeAsync");
    RT_MESSAGE(cudaMemcpy2D(memory, 1, host, 4, 4, 4, cudaMemcpyHostToDevice),
               cudaErrorInvalidPitchValue, "dpitch (1) and spitch (4) must be at least width (4)");
    RT_MESSAGE(cudaLaunchKernel(NULL, (dim3){1, 1, 1}, (dim3){1, 1, 1}, NULL, 0, NULL),
               cudaErrorInvalidDeviceFunction, "the kernel is NULL");
    RT_MESSAGE(cudaGetChannelDesc(&channel, NULL), cudaErrorInvalidResourceHandle, "array is NULL");
    RT_MESSAGE(cudaDeviceGetAttribute(&value, (enum cudaDeviceAttr)9999, 0), cudaErrorInvalidValue,
               "attr (9999)");
}

TEST(found_by_the_driver)
{
    char *memory;
    struct cudaFuncAttributes attributes;
    RT_MUST(cudaMalloc((void **)&memory, 16));
    RT_MESSAGE(cudaMemset(memory, 0, 17), cudaErrorInvalidValue, "devPtr: the range of 17 bytes");
    RT_MESSAGE(cudaMemset(memory, 0, 17), cudaErrorInvalidValue, "by 1 byte;");
    RT_MESSAGE(cudaFree(host), cudaErrorInvalidValue, "devPtr: ");
    RT_MESSAGE(cudaHostRegister(NULL, 1, 0), cudaErrorInvalidValue, "argument ptr is NULL");
    RT_MESSAGE(cudaFuncGetAttributes(&attributes, host), cudaErrorInvalidResourceHandle, "func (");
    RT_MESSAGE(cudaMemcpyPeer(memory, 7, memory, 0, 4), cudaErrorInvalidDevice, "dstDevice (7)");
    RT_MESSAGE(cudaMemPrefetchAsync(host, 4, (struct cudaMemLocation){cudaMemLocationTypeDevice, 0},
                                    0, NULL),
               cudaErrorInvalidValue, "devPtr: ");
}

// The sentences that explain a mistake of the catalogue, and its advice.
TEST(names_of_the_catalogue)
{
    const struct cudaChannelFormatDesc channel =
        cudaCreateChannelDesc(8, 0, 0, 0, cudaChannelFormatKindUnsigned);
    cudaArray_t array;
    RT_MESSAGE(cudaMallocArray(&array, &channel, 8, 8, cudaArrayCubemap), cudaErrorInvalidValue,
               "set cudaArrayCubemap, make");
    EXPECT(!test_was_reported("CUDA_ARRAY3D"));
    static const _Alignas(4096) char constant[4096] = "read-only";
    RT_MESSAGE(cudaHostRegister((void *)(uintptr_t)constant, sizeof constant, 0),
               cudaErrorInvalidValue, "pass cudaHostRegisterReadOnly");
}

// The ordering checker reports in the name of the call that submitted the newer access.
TEST(names_of_the_order_checker)
{
    cudaStream_t one, two;
    cudaMemPool_t pool;
    void *memory;
    test_setting("CARDLESS_CHECK", "order");
    RT_MUST(cudaStreamCreateWithFlags(&one, cudaStreamNonBlocking));
    RT_MUST(cudaStreamCreateWithFlags(&two, cudaStreamNonBlocking));
    RT_MUST(cudaDeviceGetDefaultMemPool(&pool, 0));
    RT_OK(cudaMallocFromPoolAsync(&memory, 4096, pool, one));
    RT_OK(cudaMemsetAsync(memory, 1, 4096, two));
    RT_OK(cudaDeviceSynchronize());
    EXPECT(test_was_reported("\"entry\":\"cudaMemsetAsync\""));
    EXPECT(test_was_reported("cudaMallocAsync"));
    EXPECT(!test_was_reported("cuMemAllocAsync"));
}

// Programs that read findings, such as `cardless run --report`, get the same names.
TEST(names_in_findings)
{
    char path[] = "/tmp/cardless-test-XXXXXX", text[8192] = "";
    cudaArray_t array;
    const int fd = mkstemp(path);
    EXPECT(fd >= 0);
    test_setting("CARDLESS_FINDINGS", path);
    const struct cudaChannelFormatDesc channel =
        cudaCreateChannelDesc(8, 0, 0, 0, cudaChannelFormatKindUnsigned);
    RT_ERROR(cudaMallocArray(&array, &channel, 8, 8, cudaArrayCubemap), cudaErrorInvalidValue);
    EXPECT(read(fd, text, sizeof text - 1) > 0);
    EXPECT(strstr(text, "set cudaArrayCubemap, make"));
    EXPECT(!strstr(text, "CUDA_ARRAY3D"));
    close(fd);
    unlink(path);
}

// Pointers to outputs, wherever they lead. wrong_calls.c tests them in every call.
TEST(outputs)
{
    const size_t page_B = (size_t)sysconf(_SC_PAGESIZE);
    void *p, *pinned, **managed, **heap = malloc(sizeof *heap);
    char *pages =
        mmap(NULL, 3 * page_B, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    EXPECT(heap && pages != MAP_FAILED);
    RT_MUST(cudaMallocHost(&pinned, 16));
    RT_MUST(cudaMallocManaged((void **)&managed, 16, cudaMemAttachGlobal));
    EXPECT_EQ(mprotect(pages + page_B, page_B, PROT_READ), 0);
    EXPECT_EQ(munmap(pages + 2 * page_B, page_B), 0);
    void **const read_only = (void **)(void *)(pages + page_B),
                 **const straddles = (void **)(void *)(pages + page_B - 4),
                 **const past_the_end = (void **)(void *)(pages + 2 * page_B - 4),
                 **const last = (void **)(void *)(pages + page_B - sizeof(void *));
    RT_MESSAGE(cudaMalloc((void **)8, 16), cudaErrorInvalidValue,
               "\"text\":\"devPtr: 0x8 (8 bytes) cannot be written");
    RT_MESSAGE(cudaMalloc(read_only, 16), cudaErrorInvalidValue, "(8 bytes) cannot be written");
    RT_MESSAGE(cudaMalloc(straddles, 16), cudaErrorInvalidValue, "(8 bytes) cannot be written");
    RT_MESSAGE(cudaMalloc(past_the_end, 16), cudaErrorInvalidValue, "(8 bytes) cannot be written");
    RT_MESSAGE(cudaMalloc((void **)UINTPTR_MAX, 16), cudaErrorInvalidValue, "cannot be written");
    RT_MESSAGE(cudaGetDevice((int *)(uintptr_t)0xf123456789abcdef), cudaErrorInvalidValue,
               "\"entry\":\"cudaGetDevice\"");
    void **const valid[] = {&p, heap, last, pinned, managed};
    for (unsigned i = 0; i < sizeof valid / sizeof *valid; i++) {
        *valid[i] = host;
        RT_ERROR(cudaGetSymbolAddress(valid[i], host), cudaErrorInvalidSymbol);
        EXPECT_EQ((uintptr_t)*valid[i], (uintptr_t)host); // nothing has changed
        RT_OK(cudaMalloc(valid[i], 16));
        RT_OK(cudaFree(*valid[i]));
    }
    RT_OK(cudaFreeHost(pinned));
    RT_OK(cudaFree(managed));
    free(heap);
}

// Attempts that the program did not ask for say nothing.
TEST(one_message_each)
{
    struct cudaFuncAttributes attributes;
    struct cudaPointerAttributes pointer;
    const char *name;
    unsigned before;
    RT_MUST(cudaFree(NULL));
    before = lines();
    RT_ERROR(cudaFuncGetAttributes(&attributes, host), cudaErrorInvalidResourceHandle);
    EXPECT_EQ(lines() - before, 1);
    RT_OK(cudaPointerGetAttributes(&pointer, host));
    EXPECT_EQ(lines() - before, 1);
    RT_ERROR(cudaFuncGetName(&name, host), cudaErrorInvalidResourceHandle);
    EXPECT_EQ(lines() - before, 2);
}

// A kernel has failed. The first call that finds this and the reset say so once each.
TEST(after_a_fault)
{
    static char kernel;
    struct program_wrapper wrapper = program_wrapper(
        ".version 7.0\n.target sm_75\n.address_size 64\n.visible .entry k() { trap; }\n");
    void **binary = __cudaRegisterFatBinary(&wrapper);
    void *memory;
    program_function(binary, &kernel, "k");
    __cudaRegisterFatBinaryEnd(binary);
    RT_MUST(cudaFree(NULL));
    RT_OK(cudaLaunchKernel(&kernel, (dim3){1, 1, 1}, (dim3){1, 1, 1}, NULL, 0, NULL));
    RT_ERROR(cudaDeviceSynchronize(), cudaErrorLaunchFailure);
    const unsigned before = lines();
    RT_OK(cudaDeviceReset());
    RT_ERROR(cudaMalloc(&memory, 4), cudaErrorDevicesUnavailable);
    EXPECT_EQ(lines() - before, 1);
    program_finish(&wrapper);
}

TESTS(CASE(found_by_the_runtime), CASE(found_by_the_driver), CASE(names_of_the_catalogue),
      CASE(names_of_the_order_checker), CASE(names_in_findings), CASE(outputs),
      CASE(one_message_each), CASE(after_a_fault))
