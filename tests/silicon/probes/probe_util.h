// SPDX-License-Identifier: MIT
// Shared by the silicon probes: prints one stable line for each driver call.
#ifndef PROBE_UTIL_H
#define PROBE_UTIL_H
#define _GNU_SOURCE
#include <cuda.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <stdint.h>
#include <unistd.h>
#include <sys/wait.h>
#include <signal.h>
static const char *rs(CUresult r)
{
    const char *s = NULL;
    if (cuGetErrorName(r, &s) != CUDA_SUCCESS || !s) {
        static char b[32];
        snprintf(b, 32, "CUresult(%d)", r);
        return b;
    }
    return s;
}
// run body in a forked child that re-inits nothing: used BEFORE cuInit in parent
#define CHECK(x)                                                                                   \
    do {                                                                                           \
        CUresult _r = (x);                                                                         \
        if (_r) {                                                                                  \
            printf("FATAL %s -> %s\n", #x, rs(_r));                                                \
            fflush(stdout);                                                                        \
            exit(3);                                                                               \
        }                                                                                          \
    } while (0)
#define LINE(...)                                                                                  \
    do {                                                                                           \
        printf(__VA_ARGS__);                                                                       \
        printf("\n");                                                                              \
        fflush(stdout);                                                                            \
    } while (0)
// each case in its own process, so that a crash is one line
static int in_child(const char *name, int (*fn)(void *), void *arg)
{
    fflush(stdout);
    pid_t p = fork();
    if (p == 0) {
        alarm(60);
        int rc = fn(arg);
        fflush(stdout);
        _exit(rc);
    }
    int st;
    waitpid(p, &st, 0);
    if (WIFSIGNALED(st)) {
        LINE("%s: CRASH signal %d", name, WTERMSIG(st));
        return -1;
    }
    return WEXITSTATUS(st);
}
static CUcontext mkctx(void)
{
    CUdevice d;
    CUcontext c;
    CHECK(cuInit(0));
    CHECK(cuDeviceGet(&d, 0));
    CHECK(cuDevicePrimaryCtxRetain(&c, d));
    CHECK(cuCtxSetCurrent(c));
    return c;
}
#endif
