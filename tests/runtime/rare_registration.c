// SPDX-License-Identifier: MIT
// Calls of compiled code that few programs make: variables of the host, the functions whose
// arguments are not public, and registration while another thread forks.
#include "expect.h"
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>
#include "program.h"

#define HEAD ".version 7.0\n.target sm_75\n.address_size 64\n"
#define GRID1 ((dim3){1, 1, 1})

#define KERNELS                                                                                    \
    ".visible .global .align 4 .u32 result = 1;\n"                                                 \
    ".visible .entry reads()\n{\n.reg .b32 %r;\nld.global.u32 %r, [of_host];\n"                    \
    "st.global.u32 [result], %r;\nret;\n}\n.visible .entry other() { ret; }\n"

static const char declared[] = HEAD ".extern .global .align 4 .u32 of_host;\n" KERNELS;
static const char defined[] = HEAD ".visible .global .align 4 .u32 of_host = 77;\n" KERNELS;

static unsigned of_host = 4711, result;
static char reads, other;

static void **begin(struct program_wrapper *w, const char *text)
{
    *w = program_wrapper(text);
    void **handle = __cudaRegisterFatBinary(w);
    program_function(handle, &reads, "reads");
    program_function(handle, &other, "other");
    program_variable(handle, &result, "result", sizeof result);
    return handle;
}

static void end(struct program_wrapper *w, void **handle)
{
    __cudaRegisterFatBinaryEnd(handle);
    __cudaUnregisterFatBinary(handle);
    program_finish(w);
}

static cudaError_t run(const void *host)
{
    const cudaError_t error = cudaLaunchKernel(host, GRID1, GRID1, NULL, 0, NULL);
    return error == cudaSuccess ? cudaDeviceSynchronize() : error;
}

// A card without access to pageable memory refuses all kernels of the binary (recorded on an H200).
static void expect_refused(const char *text)
{
    struct program_wrapper w;
    void *address = &w;
    cudaKernel_t kernel = NULL;
    void **handle = begin(&w, text);
    __cudaRegisterHostVar(handle, "of_host", (char *)&of_host, sizeof of_host);
    RT_ERROR(cudaGetSymbolAddress(&address, &of_host), cudaErrorInvalidSymbol);
    EXPECT(address == &w);
    RT_ERROR(run(&reads), cudaErrorInvalidValue);
    RT_ERROR(run(&other), cudaErrorInvalidValue); // and again
    RT_ERROR(cudaGetKernel(&kernel, &other), cudaErrorInvalidValue);
    RT_ERROR(cudaGetSymbolAddress(&address, &result), cudaErrorInvalidValue);
    RT_ERROR(cudaGetLastError(), cudaErrorInvalidValue);
    end(&w, handle);
}

TEST(host_variable)
{
    expect_refused(declared);
    expect_refused(defined);
    EXPECT_EQ(of_host, 4711);
}

// Names that the image does not have are ignored, and so are registrations without a name or for an
// unknown binary (recorded). An external variable that is not registered is memory of its own.
TEST(host_variable_without_effect)
{
    struct program_wrapper w;
    unsigned value = 5;
    void **handle = begin(&w, declared);
    __cudaRegisterHostVar(handle, "nothing", (char *)&of_host, sizeof of_host);
    __cudaRegisterHostVar(handle, NULL, (char *)&of_host, sizeof of_host);
    __cudaRegisterHostVar(handle, "nothing", NULL, 0);
    __cudaRegisterHostVar((void **)&w, "of_host", (char *)&of_host, sizeof of_host);
    __cudaRegisterHostVar(NULL, "of_host", (char *)&of_host, sizeof of_host);
    RT_OK(run(&reads));
    RT_OK(cudaMemcpyFromSymbol(&value, &result, sizeof value, 0, cudaMemcpyDefault));
    EXPECT_EQ(value, 0);
    end(&w, handle);
}

// The driver is not started by them, because they run before main.
TEST(starts_nothing)
{
    CUcontext context;
    struct program_wrapper w;
    void **handle = begin(&w, declared);
    __cudaRegisterHostVar(handle, "of_host", (char *)&of_host, sizeof of_host);
    end(&w, handle);
    EXPECT(!__cudaGetProcAddress());
    EXPECT_ERROR(cuCtxGetCurrent(&context), CUDA_ERROR_NOT_INITIALIZED);
}

enum { FORKS = 200, CHILD_SECONDS = 20 };

static void register_once(void)
{
    struct program_wrapper w;
    void **handle = begin(&w, declared);
    end(&w, handle);
}

static void *register_always(void *stop)
{
    while (!__atomic_load_n((bool *)stop, __ATOMIC_RELAXED))
        register_once();
    return NULL;
}

// The child's only thread could else wait for a lock that another thread held when it forked.
TEST(forks)
{
    pthread_t thread;
    bool stop = false;
    unsigned ended = 0;
    if (SANITIZED)
        SKIP("the child may find the lock of the sanitizer's own allocator locked");
    pthread_create(&thread, NULL, register_always, &stop);
    for (int i = 0; i < FORKS; i++) {
        int status = 1;
        const pid_t child = fork();
        if (!child) {
            alarm(CHILD_SECONDS);
            register_once();
            _exit(0);
        }
        waitpid(child, &status, 0);
        ended += status == 0;
        if (status)
            break;
    }
    __atomic_store_n(&stop, true, __ATOMIC_RELAXED);
    pthread_join(thread, NULL);
    EXPECT_EQ(ended, FORKS);
}

TESTS(CASE(starts_nothing), CASE(host_variable), CASE(host_variable_without_effect), CASE(forks))
