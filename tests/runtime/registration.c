// SPDX-License-Identifier: MIT
// The calls that compiled code makes: registration before main, launches, variables, and the end
// of a shared library. Made by hand, so that they are tested without a CUDA compiler.
#include "expect.h"
#include <pthread.h>
#include "program.h"

#define HEAD ".version 7.0\n.target sm_75\n.address_size 64\n"

static const char first_text[] =
    HEAD ".visible .global .align 4 .u32 number = 5;\n"
         ".visible .global .align 4 .b8 numbers[64];\n"
         ".visible .const .align 4 .u32 fixed = 77;\n"
         ".visible .global .attribute(.managed) .align 4 .u32 shared = 9;\n"
         ".visible .entry set(.param .u32 value)\n{\n.reg .b32 %r;\n"
         "ld.param.u32 %r, [value];\nst.global.u32 [number], %r;\nret;\n}\n"
         ".visible .entry add()\n{\n.reg .b32 %r<3>;\nld.global.u32 %r0, [number];\n"
         "ld.global.u32 %r1, [shared];\nadd.u32 %r0, %r0, %r1;\nst.global.u32 [number], %r0;\n"
         "add.u32 %r1, %r1, 1;\nst.global.u32 [shared], %r1;\nret;\n}\n"
         ".visible .entry count_up()\n{\nred.global.add.u32 [number], 1;\nret;\n}\n";

// The host functions and host copies of the program.
static void set(unsigned value);
static void add(void);
static void count_up(void);
static unsigned number, numbers[16], fixed;
static unsigned *shared;
static unsigned undefined_on_the_device;

static struct program_wrapper first_wrapper;
static void **first;

__attribute__((constructor)) static void register_first(void)
{
    first_wrapper = program_wrapper(first_text);
    first = __cudaRegisterFatBinary(&first_wrapper);
    program_function(first, set, "set");
    program_function(first, add, "add");
    program_function(first, count_up, "count_up");
    program_variable(first, &number, "number", sizeof number);
    program_variable(first, numbers, "numbers", sizeof numbers);
    program_variable(first, &fixed, "fixed", sizeof fixed);
    program_variable(first, &undefined_on_the_device, "undefined", 4);
    program_managed(first, (void **)&shared, "shared", sizeof *shared);
    __cudaRegisterFatBinaryEnd(first);
}

static void set(unsigned value)
{
    static cudaKernel_t kernel;
    (void)program_launch(&kernel, set, (void *[]){&value});
}

static void add(void)
{
    static cudaKernel_t kernel;
    (void)program_launch(&kernel, add, NULL);
}

static void count_up(void)
{
    static cudaKernel_t kernel;
    (void)program_launch(&kernel, count_up, NULL);
}

#define GRID1                                                                                      \
    (dim3)                                                                                         \
    {                                                                                              \
        1, 1, 1                                                                                    \
    }
#define LAUNCH(...) (__cudaPushCallConfiguration(GRID1, GRID1, 0, NULL) ? (void)0 : __VA_ARGS__)

static unsigned read_number(const void *symbol)
{
    unsigned value = 0xdead;
    RT_OK(cudaMemcpyFromSymbol(&value, symbol, sizeof value, 0, cudaMemcpyDeviceToHost));
    return value;
}

TEST(registration_starts_nothing)
{
    CUcontext context;
    EXPECT(first);
    EXPECT_ERROR(cuCtxGetCurrent(&context), CUDA_ERROR_NOT_INITIALIZED);
}

TEST(launch)
{
    LAUNCH(set(42));
    RT_OK(cudaGetLastError());
    EXPECT_EQ(read_number(&number), 42);
    unsigned value = 43;
    RT_OK(cudaLaunchKernel(set, GRID1, GRID1, (void *[]){&value}, 0, NULL));
    EXPECT_EQ(read_number(&number), 43);
    value = 44;
    RT_OK(cudaLaunchCooperativeKernel(set, GRID1, GRID1, (void *[]){&value}, 0, NULL));
    EXPECT_EQ(read_number(&number), 44);
    value = 45;
    const cudaLaunchConfig_t config = {.gridDim = GRID1, .blockDim = GRID1};
    RT_OK(cudaLaunchKernelExC(&config, set, (void *[]){&value}));
    EXPECT_EQ(read_number(&number), 45);
}

TEST(launch_errors)
{
    const cudaLaunchConfig_t config = {.gridDim = GRID1, .blockDim = GRID1};
    RT_ERROR(cudaLaunchKernel(NULL, GRID1, GRID1, NULL, 0, NULL), cudaErrorInvalidDeviceFunction);
    RT_ERROR(cudaLaunchKernelExC(NULL, add, NULL), cudaErrorInvalidValue);
    RT_ERROR(cudaLaunchKernelExC(&config, NULL, NULL), cudaErrorInvalidDeviceFunction);
    RT_ERROR(cudaLaunchKernel(add, (dim3){0, 1, 1}, GRID1, NULL, 0, NULL), cudaErrorInvalidValue);
    RT_ERROR(cudaLaunchKernel(read_number, GRID1, GRID1, NULL, 0, NULL),
             cudaErrorInvalidResourceHandle);
    RT_ERROR(cudaLaunchKernel(&number, GRID1, GRID1, NULL, 0, NULL),
             cudaErrorInvalidResourceHandle);
    RT_ERROR(cudaGetLastError(), cudaErrorInvalidResourceHandle);
    // A launch through the host function tells its error only through the last error.
    (void)__cudaPushCallConfiguration(GRID1, (dim3){2000, 1, 1}, 0, NULL);
    add();
    RT_ERROR(cudaGetLastError(), cudaErrorInvalidValue);
}

TEST(configurations_are_a_stack)
{
    dim3 grid, block;
    size_t bytes;
    cudaStream_t stream;
    for (unsigned i = 0; i < 40; i++)
        RT_OK(__cudaPushCallConfiguration((dim3){i, i + 1, i + 2}, (dim3){i + 3, 1, 1}, i,
                                          (cudaStream_t)(uintptr_t)i)
                  ? cudaGetLastError()
                  : cudaSuccess);
    for (unsigned i = 40; i-- > 0;) {
        RT_OK(__cudaPopCallConfiguration(&grid, &block, &bytes, &stream));
        EXPECT_EQ(grid.x, i);
        EXPECT_EQ(grid.z, i + 2);
        EXPECT_EQ(block.x, i + 3);
        EXPECT_EQ(bytes, i);
        EXPECT_EQ((uintptr_t)stream, i);
    }
    RT_ERROR(__cudaPopCallConfiguration(&grid, &block, &bytes, &stream),
             cudaErrorMissingConfiguration);
    RT_ERROR(cudaGetLastError(), cudaErrorMissingConfiguration);
}

TEST(variables)
{
    void *address;
    size_t size = 0;
    RT_OK(cudaGetSymbolAddress(&address, numbers));
    RT_OK(cudaGetSymbolSize(&size, numbers));
    EXPECT_EQ(size, sizeof numbers);
    EXPECT_EQ(read_number(&fixed), 77);
    const unsigned two[] = {11, 12};
    RT_OK(cudaMemcpyToSymbol(numbers, two, sizeof two, 8, cudaMemcpyHostToDevice));
    unsigned back[3] = {0};
    RT_OK(cudaMemcpyFromSymbolAsync(back, numbers, sizeof back, 4, cudaMemcpyDefault,
                                    cudaStreamPerThread));
    EXPECT_OK(cuStreamSynchronize(CU_STREAM_PER_THREAD));
    EXPECT_EQ(back[0], 0);
    EXPECT_EQ(back[1], 11);
    EXPECT_EQ(back[2], 12);
    RT_OK(cudaMemcpyFromSymbol_ptds(back, numbers, 4, 12, cudaMemcpyDefault));
    EXPECT_EQ(back[0], 12);
}

TEST(variable_errors)
{
    void *address = &number;
    RT_ERROR(cudaGetSymbolAddress(&address, NULL), cudaErrorInvalidSymbol);
    RT_ERROR(cudaGetSymbolAddress(&address, &first), cudaErrorInvalidSymbol);
    RT_ERROR(cudaGetSymbolAddress(&address, &numbers[1]), cudaErrorInvalidSymbol);
    RT_ERROR(cudaGetSymbolAddress(&address, set), cudaErrorInvalidSymbol);
    RT_ERROR(cudaGetSymbolAddress(&address, &undefined_on_the_device), cudaErrorInvalidSymbol);
    EXPECT(address == &number);
    RT_ERROR(cudaGetSymbolAddress(NULL, numbers), cudaErrorInvalidValue);
    RT_ERROR(cudaGetSymbolSize(NULL, numbers), cudaErrorInvalidValue);
    const char bytes[80] = {0};
    RT_ERROR(cudaMemcpyToSymbol(numbers, bytes, 65, 0, cudaMemcpyDefault), cudaErrorInvalidValue);
    RT_ERROR(cudaMemcpyToSymbol(numbers, bytes, 2, SIZE_MAX, cudaMemcpyDefault),
             cudaErrorInvalidValue);
    RT_ERROR(cudaMemcpyToSymbol(numbers, bytes, 4, 0, cudaMemcpyDeviceToHost),
             cudaErrorInvalidMemcpyDirection);
    RT_ERROR(cudaMemcpyFromSymbol((void *)bytes, numbers, 4, 0, cudaMemcpyHostToDevice),
             cudaErrorInvalidMemcpyDirection);
    RT_ERROR(cudaMemcpyToSymbol(&first, bytes, 4, 0, cudaMemcpyDefault), cudaErrorInvalidSymbol);
    RT_OK(cudaMemcpyToSymbol(&first, bytes, 0, 0, cudaMemcpyDefault)); // nothing to copy
}

TEST(managed)
{
    EXPECT(!shared);
    EXPECT_EQ(__cudaInitModule(first), 1);
    EXPECT_EQ(*shared, 9);
    *shared = 20;
    LAUNCH(add());
    EXPECT_EQ(read_number(&number), 25);
    EXPECT_EQ(*shared, 21);
    // Code in C++ names the variable by its memory.
    void *address, *same;
    RT_OK(cudaGetSymbolAddress(&address, &shared));
    RT_OK(cudaGetSymbolAddress(&same, shared));
    EXPECT(address == shared && same == shared);
    EXPECT_EQ(__cudaInitModule(first), 1);
    EXPECT_EQ(__cudaInitModule((void **)&number), 0);
}

TEST(handles)
{
    cudaKernel_t kernel = NULL, again = NULL;
    cudaFunction_t function = NULL;
    const char *name = NULL;
    CUcontext context = NULL;
    RT_OK(cudaGetKernel(&kernel, add));
    RT_OK(cudaFuncGetName(&name, add));
    EXPECT_STR(name, "add");
    EXPECT_OK(cuCtxGetCurrent(&context));
    EXPECT(!context); // neither needs one
    RT_OK(__cudaGetKernel(&again, add));
    EXPECT(kernel == again);
    RT_OK(cudaGetFuncBySymbol(&function, add));
    EXPECT((void *)function != (void *)kernel);
    RT_OK(cudaLaunchKernel(kernel, GRID1, GRID1, NULL, 0, NULL));
    RT_OK(cudaLaunchKernel(function, GRID1, GRID1, NULL, 0, NULL));
    struct cudaFuncAttributes a, b;
    RT_OK(cudaFuncGetAttributes(&a, kernel));
    RT_OK(cudaFuncGetAttributes(&b, function));
    EXPECT_EQ(a.maxThreadsPerBlock, b.maxThreadsPerBlock);
    RT_ERROR(cudaGetKernel(&kernel, read_number), cudaErrorInvalidDeviceFunction);
    RT_ERROR(cudaGetKernel(&kernel, &number), cudaErrorInvalidDeviceFunction);
    RT_ERROR(cudaGetKernel(NULL, add), cudaErrorInvalidValue);
    RT_ERROR(cudaFuncGetAttributes(&a, NULL), cudaErrorInvalidDeviceFunction);
    RT_ERROR(cudaFuncGetAttributes(NULL, add), cudaErrorInvalidValue);
}

static cudaKernel_t kept; // as compiled code keeps it

static void launch_in_host_function(void *result)
{
    if (!kept)
        *(cudaError_t *)result = __cudaGetKernel(&kept, count_up);
}

// A kernel whose first launch is refused can be launched later.
TEST(first_launch_refused)
{
    cudaError_t error = cudaSuccess;
    RT_OK(cudaLaunchHostFunc(NULL, launch_in_host_function, &error));
    RT_OK(cudaDeviceSynchronize());
    EXPECT_EQ(error, cudaErrorNotPermitted);
    const int before = read_number(&number);
    RT_OK(__cudaLaunchKernel(kept, GRID1, GRID1, NULL, 0, NULL));
    EXPECT_EQ(read_number(&number), before + 1);
}

// The same address in two binaries, as a template that two object files instantiate.
TEST(same_function_twice)
{
    struct program_wrapper w = program_wrapper(HEAD ".visible .entry other() { ret; }\n");
    void **second = __cudaRegisterFatBinary(&w), **third = __cudaRegisterFatBinary(&w);
    static char host;
    const char *name = NULL;
    program_function(second, &host, "other");
    program_function(third, &host, "other");
    RT_OK(cudaLaunchKernel(&host, GRID1, GRID1, NULL, 0, NULL));
    __cudaUnregisterFatBinary(second);
    RT_OK(cudaLaunchKernel(&host, GRID1, GRID1, NULL, 0, NULL));
    RT_OK(cudaFuncGetName(&name, &host));
    EXPECT_STR(name, "other");
    __cudaUnregisterFatBinary(third);
    RT_ERROR(cudaGetKernel(&(cudaKernel_t){NULL}, &host), cudaErrorInvalidDeviceFunction);
    RT_ERROR(cudaLaunchKernel(&host, GRID1, GRID1, NULL, 0, NULL), cudaErrorInvalidResourceHandle);
    program_finish(&w);
}

TEST(unregister)
{
    __cudaUnregisterFatBinary(first); // before it was ever used
    __cudaUnregisterFatBinary(first);
    __cudaUnregisterFatBinary(NULL);
    void *address;
    RT_ERROR(cudaGetSymbolAddress(&address, &number), cudaErrorInvalidSymbol);
    first = __cudaRegisterFatBinary(&first_wrapper);
    program_variable(first, &number, "number", 4);
    EXPECT_EQ(read_number(&number), 5);
    const unsigned value = 6;
    RT_OK(cudaMemcpyToSymbol(&number, &value, 4, 0, cudaMemcpyHostToDevice));
    __cudaUnregisterFatBinary(first);
    first = __cudaRegisterFatBinary(&first_wrapper);
    program_variable(first, &number, "number", 4);
    EXPECT_EQ(read_number(&number), 5); // a fresh copy
}

static const struct {
    uint32_t magic;
    uint16_t version, head_B;
    uint64_t rest_B;
} empty = {0xba55ed50, 1, 16, 0};

TEST(relocatable)
{
    void *parts[] = {
        program_container(HEAD ".extern .global .align 4 .u32 value;\n"
                               ".extern .func (.param .b32 r) twice(.param .b32 v);\n"
                               ".visible .entry calls()\n{\n.reg .b32 %r;\n"
                               "ld.global.u32 %r, [value];\n{\n.param .b32 a;\n.param .b32 b;\n"
                               "st.param.b32 [a], %r;\ncall (b), twice, (a);\n"
                               "ld.param.b32 %r, [b];\n}\nst.global.u32 [value], %r;\nret;\n}\n"),
        program_container(HEAD ".visible .global .align 4 .u32 value = 13;\n"
                               ".visible .func (.param .b32 r) twice(.param .b32 v)\n{\n"
                               ".reg .b32 %r;\nld.param.b32 %r, [v];\nadd.u32 %r, %r, %r;\n"
                               "st.param.b32 [r], %r;\nret;\n}\n"),
        NULL,
    };
    // A driver that has machine code for another device in `data` must link the parts.
    struct program_wrapper w = {0x466243b1, 2, &empty, parts};
    static char calls, value;
    void **handle = __cudaRegisterFatBinary(&w);
    program_function(handle, &calls, "calls");
    program_variable(handle, &value, "value", 4);
    RT_OK(cudaLaunchKernel(&calls, GRID1, GRID1, NULL, 0, NULL));
    EXPECT_EQ(read_number(&value), 26);
    __cudaUnregisterFatBinary(handle);
    free(parts[0]);
    free(parts[1]);
}

// The toolkit's cooperative groups write the operation of an atomic instruction before its order.
TEST(operation_before_order)
{
    struct program_wrapper w = program_wrapper(
        ".version 7.0\n.target sm_75\n.address_size 64\n"
        ".visible .global .align 4 .u32 old = 40;\n.visible .global .align 4 .u32 sum = 1;\n"
        ".visible .entry count()\n{\n.reg .b32 %r;\n.reg .b64 %a;\n"
        "mov.u64 %a, sum;\natom.add.release.gpu.u32 %r, [%a], 4;\nst.global.u32 [old], %r;\n"
        "red.add.release.gpu.u32 [%a], 10;\natom.or.acq_rel.cta.b32 %r, [%a], 64;\nret;\n}\n");
    static char count, old, sum;
    void **handle = __cudaRegisterFatBinary(&w);
    program_function(handle, &count, "count");
    program_variable(handle, &old, "old", 4);
    program_variable(handle, &sum, "sum", 4);
    RT_OK(cudaLaunchKernel(&count, GRID1, GRID1, NULL, 0, NULL));
    EXPECT_EQ(read_number(&old), 1);
    EXPECT_EQ(read_number(&sum), 79);
    __cudaUnregisterFatBinary(handle);
    program_finish(&w);
}

// CUDA_MODULE_LOADING=EAGER loads everything with the first context, so the image may change then.
static unsigned launched_after_change(const char *mode)
{
    test_setting("CUDA_MODULE_LOADING", mode);
    struct program_wrapper w = program_wrapper(HEAD ".visible .entry other() { ret; }\n");
    static char host;
    void **handle = __cudaRegisterFatBinary(&w);
    program_function(handle, &host, "other");
    RT_OK(cudaDeviceSynchronize());
    ((struct program_container *)(uintptr_t)w.data)->entry.kind = 0;
    const bool launched = cudaLaunchKernel(&host, GRID1, GRID1, NULL, 0, NULL) == cudaSuccess;
    __cudaUnregisterFatBinary(handle);
    program_finish(&w);
    return launched;
}

TEST(eager)
{
    EXPECT_EQ(launched_after_change("EAGER"), 1);
}

TEST(lazy)
{
    EXPECT_EQ(launched_after_change("LAZY"), 0);
}

// No part can be linked. The launch makes the first context, which loads the same image.
TEST(eager_without_ptx)
{
    test_setting("CUDA_MODULE_LOADING", "EAGER");
    void *parts[] = {(void *)(uintptr_t)&empty, NULL};
    struct program_wrapper w = {0x466243b1, 2, &empty, parts};
    static char host;
    void **handle = __cudaRegisterFatBinary(&w);
    program_function(handle, &host, "other");
    // Compiled code launches NULL after such a failure.
    cudaKernel_t kernel = NULL;
    RT_ERROR(__cudaGetKernel(&kernel, &host), cudaErrorNoKernelImageForDevice);
    RT_ERROR(__cudaLaunchKernel(kernel, GRID1, GRID1, NULL, 0, NULL),
             cudaErrorNoKernelImageForDevice);
    RT_ERROR(__cudaLaunchKernel(NULL, GRID1, GRID1, NULL, 0, NULL), cudaErrorInvalidDeviceFunction);
    __cudaUnregisterFatBinary(handle);
}

// Wrong images are refused when they are used, and harm nothing else.
TEST(wrong_images)
{
    struct program_wrapper bad_text = program_wrapper("this is no PTX");
    struct program_wrapper wrappers[] = {bad_text, bad_text, {0x466243b1, 1, NULL, NULL}};
    wrappers[1].magic = 1;
    const cudaError_t errors[] = {cudaErrorInvalidPtx, cudaErrorInvalidKernelImage,
                                  cudaErrorInvalidKernelImage};
    static char hosts[4];
    for (unsigned i = 0; i < 4; i++) {
        void **handle = __cudaRegisterFatBinary(i < 3 ? &wrappers[i] : NULL);
        EXPECT(handle);
        program_function(handle, &hosts[i], "k");
        RT_ERROR(cudaLaunchKernel(&hosts[i], GRID1, GRID1, NULL, 0, NULL),
                 i < 3 ? errors[i] : cudaErrorInvalidKernelImage);
        __cudaUnregisterFatBinary(handle);
    }
    // Symbols of handles that do not exist are ignored.
    program_function(NULL, &hosts[0], "k");
    program_function((void **)&bad_text, &hosts[0], "k");
    RT_ERROR(cudaGetKernel(&(cudaKernel_t){NULL}, &hosts[0]), cudaErrorInvalidDeviceFunction);
    // A kernel that its binary lacks.
    program_function(first, &hosts[1], "missing");
    RT_ERROR(cudaLaunchKernel(&hosts[1], GRID1, GRID1, NULL, 0, NULL),
             cudaErrorInvalidDeviceFunction);
    EXPECT_EQ(read_number(&fixed), 77);
    program_finish(&bad_text);
}

// The first launch in a stream that is captured loads the kernel's code.
TEST(first_launch_in_a_capture)
{
    CUstream stream;
    CUcontext context;
    CUgraph graph;
    MUST(cuInit(0));
    MUST(cuDevicePrimaryCtxRetain(&context, 0));
    MUST(cuCtxSetCurrent(context));
    MUST(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    MUST(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    RT_OK(cudaLaunchKernel(add, GRID1, GRID1, NULL, 0, stream));
    EXPECT_OK(cuStreamEndCapture(stream, &graph));
    EXPECT_OK(cuGraphDestroy(graph));
}

// Each context has its own variables.
TEST(two_contexts)
{
    CUcontext context;
    void *one, *other;
    RT_OK(cudaGetSymbolAddress(&one, &number));
    LAUNCH(set(1));
    MUST(cuCtxCreate(&context, NULL, 0, 0));
    RT_OK(cudaGetSymbolAddress(&other, &number));
    EXPECT(one != other);
    EXPECT_EQ(read_number(&number), 5);
    LAUNCH(set(2));
    EXPECT_EQ(read_number(&number), 2);
    MUST(cuCtxPopCurrent(NULL));
    EXPECT_EQ(read_number(&number), 1);
}

enum { THREADS = 8, ROUNDS = 50 };

// Libraries come and go while other threads launch.
static void *thread_registers(void *nothing)
{
    static const char text[] = HEAD ".visible .entry other() { ret; }\n";
    (void)nothing;
    for (int i = 0; i < ROUNDS; i++) {
        char host;
        struct program_wrapper w = program_wrapper(text);
        void **handle = __cudaRegisterFatBinary(&w);
        program_function(handle, &host, "other");
        RT_OK(cudaLaunchKernel(&host, GRID1, GRID1, NULL, 0, cudaStreamPerThread));
        EXPECT_OK(cuStreamSynchronize(CU_STREAM_PER_THREAD));
        __cudaUnregisterFatBinary(handle);
        program_finish(&w);
    }
    return NULL;
}

static void *thread_launches(void *nothing)
{
    (void)nothing;
    for (int i = 0; i < ROUNDS; i++)
        RT_OK(cudaLaunchKernel(count_up, GRID1, GRID1, NULL, 0, cudaStreamPerThread));
    EXPECT_OK(cuStreamSynchronize(CU_STREAM_PER_THREAD));
    return NULL;
}

TEST(threads)
{
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, i % 2 ? thread_registers : thread_launches, NULL);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    EXPECT_EQ(read_number(&number), 5 + THREADS / 2 * ROUNDS);
}

TESTS(CASE(registration_starts_nothing), CASE(launch), CASE(launch_errors),
      CASE(configurations_are_a_stack), CASE(variables), CASE(variable_errors), CASE(managed),
      CASE(handles), CASE(first_launch_refused), CASE(same_function_twice), CASE(unregister),
      CASE(relocatable), CASE(eager), CASE(eager_without_ptx), CASE(lazy),
      CASE(operation_before_order), CASE(wrong_images), CASE(first_launch_in_a_capture),
      CASE(two_contexts), CASE(threads))
