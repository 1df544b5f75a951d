// SPDX-License-Identifier: MIT
// What recording costs: a program that mostly makes calls runs with and without it, in turns, and
// prints the medians and their ratio. Should be run
// by hand on an idle machine.
//
//     record FILE
//
// A round is what a frame of an interop program does: uploads of 64 KiB and of a few bytes, kernels
// as functions of the host, fills, events between two streams, an allocation in stream order, a
// download, and some queries. `small` is the worst case: calls that do nothing else.
#include <cuda.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../check_call.h"

enum { SIZE_B = 64 << 10, FRAMES = 1500, WARM_UP = 200, RUNS = 41, SMALL = 50000 };

static double now_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static const char kernel_text[] = ".version 7.8\n"
                                  ".target sm_90\n"
                                  ".address_size 64\n"
                                  ".visible .entry add(.param .u64 data, .param .u32 value)\n"
                                  "{\n"
                                  "    .reg .b32 %r<6>;\n"
                                  "    .reg .b64 %rd<4>;\n"
                                  "    ld.param.u64 %rd1, [data];\n"
                                  "    ld.param.u32 %r1, [value];\n"
                                  "    mov.u32 %r2, %tid.x;\n"
                                  "    mov.u32 %r4, %ctaid.x;\n"
                                  "    mad.lo.u32 %r2, %r4, 256, %r2;\n"
                                  "    mul.wide.u32 %rd2, %r2, 4;\n"
                                  "    add.s64 %rd3, %rd1, %rd2;\n"
                                  "    ld.global.u32 %r3, [%rd3];\n"
                                  "    add.s32 %r3, %r3, %r1;\n"
                                  "    st.global.u32 [%rd3], %r3;\n"
                                  "    ret;\n"
                                  "}\n";

struct program {
    CUstream first, second;
    CUevent event;
    CUdeviceptr memory;
    CUfunction add;
    unsigned char *host;
};

static void frame(struct program *p, unsigned i)
{
    CUdeviceptr scratch;
    void *arguments[] = {&p->memory, &i};
    CHECK(cuMemcpyHtoDAsync(p->memory, p->host, SIZE_B, p->first));
    CHECK(cuMemcpyHtoDAsync(p->memory, &i, sizeof i, p->first));
    CHECK(cuMemAllocAsync(&scratch, SIZE_B, p->first));
    CHECK(cuMemsetD32Async(scratch, i, SIZE_B / 4, p->first));
    CHECK(cuLaunchKernel(p->add, 4, 1, 1, 256, 1, 1, 0, p->first, arguments, NULL));
    CHECK(cuMemcpyDtoDAsync(scratch, p->memory, SIZE_B, p->first));
    CHECK(cuEventRecord(p->event, p->first));
    CHECK(cuStreamWaitEvent(p->second, p->event, 0));
    CHECK(cuMemcpyDtoHAsync(p->host, scratch, SIZE_B, p->second));
    CHECK(cuStreamSynchronize(p->second));
    CHECK(cuMemFreeAsync(scratch, p->first));
    CHECK(cuStreamSynchronize(p->first));
    if (cuStreamQuery(p->first) || cuEventQuery(p->event))
        exit(1);
}

static void run_frames(struct program *p, double *ns_a_frame)
{
    for (unsigned i = 0; i < WARM_UP; i++)
        frame(p, i);
    const double start = now_s();
    for (unsigned i = 0; i < FRAMES; i++)
        frame(p, i);
    *ns_a_frame = (now_s() - start) * 1e9 / FRAMES;
}

static void run_small(struct program *p, double *ns_a_call)
{
    unsigned word = 0;
    const double start = now_s();
    for (unsigned i = 0; i < SMALL; i++)
        CHECK(cuMemcpyHtoDAsync(p->memory, &word, sizeof word, p->first));
    *ns_a_call = (now_s() - start) * 1e9 / SMALL;
}

// In a process of its own: the setting is read once.
static void measure(const char *record, double out[2])
{
    int ends[2];
    if (pipe(ends))
        exit(1);
    const pid_t child = fork();
    if (!child) {
        struct program p;
        CUdevice device;
        CUcontext context;
        CUmodule module;
        double result[2];
        if (record) {
            unlink(record);
            setenv("CARDLESS_RECORD", record, 1);
        }
        CHECK(cuInit(0));
        CHECK(cuDeviceGet(&device, 0));
        CHECK(cuDevicePrimaryCtxRetain(&context, device));
        CHECK(cuCtxSetCurrent(context));
        CHECK(cuStreamCreate(&p.first, CU_STREAM_NON_BLOCKING));
        CHECK(cuStreamCreate(&p.second, CU_STREAM_NON_BLOCKING));
        CHECK(cuEventCreate(&p.event, CU_EVENT_DISABLE_TIMING));
        CHECK(cuMemAlloc(&p.memory, SIZE_B));
        CHECK(cuMemHostAlloc((void **)&p.host, SIZE_B, 0));
        memset(p.host, 1, SIZE_B);
        CHECK(cuModuleLoadData(&module, kernel_text));
        CHECK(cuModuleGetFunction(&p.add, module, "add"));
        run_frames(&p, &result[0]);
        run_small(&p, &result[1]);
        if (write(ends[1], result, sizeof result) != sizeof result)
            _exit(1);
        _exit(0);
    }
    close(ends[1]);
    int status;
    const ssize_t got = read(ends[0], out, 2 * sizeof *out);
    close(ends[0]);
    waitpid(child, &status, 0);
    if (got != 2 * (ssize_t)sizeof *out || status)
        exit(1);
}

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static double median(double *values)
{
    qsort(values, RUNS, sizeof *values, compare);
    return values[RUNS / 2];
}

int main(int argc, char **argv)
{
    double plain[2][RUNS], recorded[2][RUNS], out[2];
    if (argc != 2) {
        fprintf(stderr, "usage: record FILE\n");
        return 2;
    }
    for (unsigned i = 0; i < RUNS; i++) {
        measure(NULL, out);
        plain[0][i] = out[0];
        plain[1][i] = out[1];
        measure(argv[1], out);
        recorded[0][i] = out[0];
        recorded[1][i] = out[1];
    }
    unlink(argv[1]);
    static const char *const names[] = {"a frame of 14 calls", "a copy of 4 bytes"};
    printf("%-24s %12s %12s %8s\n", "", "plain (ns)", "recorded", "ratio");
    for (unsigned k = 0; k < 2; k++) {
        const double p = median(plain[k]), r = median(recorded[k]);
        printf("%-24s %12.0f %12.0f %8.3f\n", names[k], p, r, r / p);
    }
    return 0;
}
