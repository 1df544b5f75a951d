// SPDX-License-Identifier: MIT
// Median nanoseconds of calls of the runtime API, each beside the driver calls that it makes, and
// the time from the start of a process to the first result of a kernel.
//
//     runtime
#include <cuda_runtime_api.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "calls.h"
#include "program.h"

enum { COUNT = 2000, ELEMENTS = 1024, STARTS = 31 };

static const char kernel_text[] =
    ".version 7.0\n.target sm_75\n.address_size 64\n.visible .entry k(.param .u64 p)\n{\n"
    ".reg .b64 %x;\nld.param.u64 %x, [p];\nst.global.u32 [%x], 42;\nret;\n}\n";
static char stub; // its address stands for the kernel, as that of a function in the host's code
static struct program_wrapper wrapper;

static void check(cudaError_t r, const char *what)
{
    if (r != cudaSuccess) {
        fprintf(stderr, "%s: cudaError %d\n", what, (int)r);
        exit(1);
    }
}
#define CHECK(call) check((call), #call)

static void register_kernel(void)
{
    wrapper = program_wrapper(kernel_text);
    void **binary = __cudaRegisterFatBinary(&wrapper);
    program_function(binary, &stub, "k");
    __cudaRegisterFatBinaryEnd(binary);
}

// What a compiler makes of kernel<<<1, 1, 0, stream>>>(…).
static void launch(cudaStream_t stream, void **arguments)
{
    static cudaKernel_t kernel;
    const struct dim3 one = {1, 1, 1};
    if (__cudaPushCallConfiguration(one, one, 0, stream) ||
        program_launch(&kernel, &stub, arguments))
        exit(1);
}

// ---- calls beside calls ----

// The two sides take turns, so that a change of the processor's speed meets both.
#define COMPARE(name, driver, runtime)                                                             \
    do {                                                                                           \
        double of_driver[RUNS], of_runtime[RUNS];                                                  \
        for (int run_ = 0; run_ < RUNS; run_++) {                                                  \
            const double t0_ = now_ns();                                                           \
            for (int i_ = 0; i_ < COUNT; i_++) {                                                   \
                driver;                                                                            \
            }                                                                                      \
            const double t1_ = now_ns();                                                           \
            for (int i_ = 0; i_ < COUNT; i_++) {                                                   \
                runtime;                                                                           \
            }                                                                                      \
            of_driver[run_] = (t1_ - t0_) / COUNT;                                                 \
            of_runtime[run_] = (now_ns() - t1_) / COUNT;                                           \
        }                                                                                          \
        compare(name, of_driver, of_runtime);                                                      \
    } while (0)

static void compare(const char *name, double *of_driver, double *of_runtime)
{
    qsort(of_driver, RUNS, sizeof *of_driver, by_value);
    qsort(of_runtime, RUNS, sizeof *of_runtime, by_value);
    const double driver = of_driver[RUNS / 2], runtime = of_runtime[RUNS / 2];
    printf("%-36s %12.0f %12.0f %12.0f\n", name, driver, runtime, runtime - driver);
    fflush(stdout);
}

static void calls(void)
{
    static int host[ELEMENTS];
    cudaStream_t stream;
    cudaEvent_t event;
    CUfunction f;
    int *memory;
    void *p;
    CUdeviceptr d;
    CHECK(cudaMalloc((void **)&memory, sizeof host));
    CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    CHECK(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
    CHECK(cudaGetFuncBySymbol((cudaFunction_t *)&f, &stub));
    const CUdeviceptr address = (uintptr_t)memory;
    void *arguments[] = {&memory};
    printf("%-36s %12s %12s %12s\n", "call", "driver (ns)", "runtime (ns)", "more (ns)");
    COMPARE("cudaMalloc + cudaFree, 4 KiB", cuMemAlloc(&d, 4096);
            cuMemFree(d), cudaMalloc(&p, 4096); cudaFree(p));
    COMPARE("cudaMemcpyAsync to the device, 4 B", cuMemcpyHtoDAsync(address, host, 4, stream),
            cudaMemcpyAsync(memory, host, 4, cudaMemcpyHostToDevice, stream));
    COMPARE("cudaMemcpyAsync, default, 4 B", cuMemcpyAsync(address, (uintptr_t)host, 4, stream),
            cudaMemcpyAsync(memory, host, 4, cudaMemcpyDefault, stream));
    COMPARE("cudaMemsetAsync, 4 B", cuMemsetD8Async(address, 0, 4, stream),
            cudaMemsetAsync(memory, 0, 4, stream));
    COMPARE("cudaEventRecord", cuEventRecord(event, stream), cudaEventRecord(event, stream));
    COMPARE("cudaStreamSynchronize", cuStreamSynchronize(stream), cudaStreamSynchronize(stream));
    COMPARE("<<<1, 1>>> + synchronize",
            cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, stream, arguments, NULL);
            cuStreamSynchronize(stream), launch(stream, arguments); cudaStreamSynchronize(stream));
    CHECK(cudaDeviceSynchronize());
}

// ---- the start of a process ----

static int first_result(void)
{
    int *memory, result = 0;
    register_kernel();
    CHECK(cudaMalloc((void **)&memory, sizeof *memory));
    launch(NULL, (void *[]){&memory});
    CHECK(cudaMemcpy(&result, memory, sizeof result, cudaMemcpyDeviceToHost));
    const double end = now_ns();
    return result == 42 && write(STDOUT_FILENO, &end, sizeof end) == sizeof end ? 0 : 1;
}

static void starts(char *program)
{
    extern char **environ;
    double times[STARTS];
    for (int i = 0; i < STARTS; i++) {
        int ends[2], status = 1;
        double end = 0;
        posix_spawn_file_actions_t actions;
        pid_t child;
        if (pipe(ends) || posix_spawn_file_actions_init(&actions) ||
            posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO))
            exit(1);
        char first[] = "first", *arguments[] = {program, first, NULL};
        const double start = now_ns();
        if (posix_spawn(&child, program, &actions, NULL, arguments, environ))
            exit(1);
        if (read(ends[0], &end, sizeof end) != sizeof end || waitpid(child, &status, 0) != child ||
            status) {
            fprintf(stderr, "the child's kernel failed\n");
            exit(1);
        }
        posix_spawn_file_actions_destroy(&actions);
        close(ends[0]);
        close(ends[1]);
        times[i] = end - start;
    }
    qsort(times, STARTS, sizeof *times, by_value);
    printf("%-36s %12s %12.0f\n", "process start to the first result", "-", times[STARTS / 2]);
}

int main(int argc, char **argv)
{
    if (argc > 1)
        return first_result();
    register_kernel();
    calls();
    starts(argv[0]);
    return 0;
}
