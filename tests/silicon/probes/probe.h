// SPDX-License-Identifier: MIT
// Probe harness: a program of named cases, each printing one line `group/case | outcome`, the same
// on every run of one driver. A case that crashes is recorded as such and the group goes on behind
// it in a fresh process.
//
//   GROUP(streams) { CUcontext c = probe_ctx(); CASE("query-null") { OUT("%s",
//   R(cuStreamQuery(0))); } ... } int main(int argc, char **argv) { RUN(streams); ... return 0; }
//
// Code in a GROUP outside its CASEs is set-up: it runs again after a crash, so it must not depend
// on a CASE. Never print an address, a handle, a time or a process id: print differences,
// alignments, equalities.
#ifndef PROBE_H
#define PROBE_H
#define _GNU_SOURCE
#include <cuda.h>
#include <fnmatch.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
struct probe_state {
    int index, resume, open;
    char name[160];
    char line[4000];
};
static struct probe_state *probe_st;
static int (*probe_retry)(int status); // if set, asked after a crash: run the same case again?
static const char *probe_group_name;
static int probe_i;
static const char *probe_only;
static void probe_flush(void)
{
    if (probe_st->open) {
        printf("%s/%s | %s\n", probe_group_name, probe_st->name, probe_st->line);
        fflush(stdout);
        probe_st->open = 0;
    }
}
// RECORD_CASES=PATTERN runs only the cases whose names (group/case) match.
static int probe_wants(const char *name)
{
    const char *pattern = getenv("RECORD_CASES");
    char path[256];
    snprintf(path, sizeof path, "%s/%s", probe_group_name, name);
    return !pattern || !fnmatch(pattern, path, 0);
}
static int probe_begin(const char *fmt, ...)
{
    probe_flush();
    int i = probe_i++;
    if (i < probe_st->resume)
        return 0;
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(probe_st->name, sizeof probe_st->name, fmt, ap);
    va_end(ap);
    if (!probe_wants(probe_st->name))
        return 0;
    probe_st->line[0] = 0;
    probe_st->index = i;
    probe_st->open = 1;
    alarm(30);
    return 1;
}
static void OUT(const char *fmt, ...)
{
    size_t n = strlen(probe_st->line);
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(probe_st->line + n, sizeof probe_st->line - n, fmt, ap);
    va_end(ap);
}
#define CASE(...) if (probe_begin(__VA_ARGS__))
#define GROUP(n) static void group_##n(void)
static void probe_run(const char *name, void (*fn)(void))
{
    if (probe_only && strcmp(probe_only, name))
        return;
    if (!probe_st)
        probe_st =
            mmap(0, sizeof *probe_st, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    memset(probe_st, 0, sizeof *probe_st);
    probe_group_name = name;
    for (int tries = 0; tries < 400; tries++) {
        probe_i = 0;
        fflush(stdout);
        pid_t p = fork();
        if (!p) {
            alarm(120);
            fn();
            probe_flush();
            fflush(stdout);
            _exit(0);
        }
        int st;
        waitpid(p, &st, 0);
        if (WIFEXITED(st) && WEXITSTATUS(st) == 0)
            return;
        if (WIFEXITED(st) && WEXITSTATUS(st) == 88)
            continue; // probe_fresh
        if (probe_st->open && probe_retry && probe_retry(st)) {
            probe_st->resume = probe_st->index;
            probe_st->open = 0;
        } else if (probe_st->open) {
            printf("%s/%s | %s CRASH %d\n", name, probe_st->name, probe_st->line,
                   WIFSIGNALED(st) ? WTERMSIG(st) : 1000 + WEXITSTATUS(st));
            fflush(stdout);
            probe_st->open = 0;
            probe_st->resume = probe_st->index + 1;
        } else {
            printf("%s/(set-up) | CRASH %d\n", name,
                   WIFSIGNALED(st) ? WTERMSIG(st) : 1000 + WEXITSTATUS(st));
            fflush(stdout);
            return;
        }
    }
}
#define RUN(n) probe_run(#n, group_##n)
// ends the case well, and goes on behind it in a fresh process: for errors that stay
__attribute__((unused)) static void probe_fresh(void)
{
    probe_flush();
    probe_st->resume = probe_st->index + 1;
    fflush(stdout);
    _exit(88);
}
// the result's name without its CUDA_ prefix: SUCCESS, ERROR_INVALID_VALUE
static const char *R(CUresult r)
{
    static __thread char b[4][64];
    static __thread int k;
    const char *s = 0;
    k = (k + 1) & 3;
    if (cuGetErrorName(r, &s) == CUDA_SUCCESS && s)
        snprintf(b[k], 64, "%s", strncmp(s, "CUDA_", 5) ? s : s + 5);
    else
        snprintf(b[k], 64, "code-%d", (int)r);
    return b[k];
}
#define MUST(x)                                                                                    \
    do {                                                                                           \
        CUresult r_ = (x);                                                                         \
        if (r_) {                                                                                  \
            fprintf(stderr, "set-up failed: %s -> %d\n", #x, r_);                                  \
            fflush(stdout);                                                                        \
            _exit(9);                                                                              \
        }                                                                                          \
    } while (0)
__attribute__((unused)) static CUcontext probe_ctx(void)
{
    CUdevice d;
    CUcontext c;
    MUST(cuInit(0));
    MUST(cuDeviceGet(&d, 0));
    MUST(cuDevicePrimaryCtxRetain(&c, d));
    MUST(cuCtxSetCurrent(c));
    return c;
}
// device memory of the driver's own, exported as a POSIX fd that cuImportExternalMemory takes as
// OPAQUE_FD
__attribute__((unused)) static int probe_vmm_fd(size_t size)
{
    CUmemAllocationProp p;
    memset(&p, 0, sizeof p);
    p.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    p.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    p.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    CUmemGenericAllocationHandle h;
    int fd = -1;
    MUST(cuMemCreate(&h, size, &p, 0));
    MUST(cuMemExportToShareableHandle(&fd, h, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
    return fd;
}
__attribute__((unused)) static CUexternalMemory probe_extmem(size_t size)
{
    CUDA_EXTERNAL_MEMORY_HANDLE_DESC d;
    memset(&d, 0, sizeof d);
    d.type = CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD;
    d.handle.fd = probe_vmm_fd(size);
    d.size = size;
    CUexternalMemory m;
    MUST(cuImportExternalMemory(&m, &d));
    return m;
}
#endif
