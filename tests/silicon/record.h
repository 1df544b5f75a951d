// SPDX-License-Identifier: MIT
// Building blocks for recorded programs. A program consists of groups of named cases. Each case
// prints one line, `group/case | outcome`, which must be the same in every run of one driver. If a
// case crashes, its line says so, and the group continues after it in a fresh process.
//
//     GROUP(streams)
//     {
//         record_context();
//         if (CASE("query-%d", 1))
//             SAY("%s", record_name(cuStreamQuery(NULL)));
//     }
//
// Code of a group outside its cases runs again after a crash. No output may depend on addresses,
// handles or time. RECORD_CASES=PATTERN runs only the cases whose names (group/case) match.
#pragma once
#include <cuda.h>
#include <fnmatch.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    RECORD_CASE_SECONDS = 120,
    RECORD_GROUP_SECONDS = 900,
    RECORD_MOST_CRASHES = 400,
    RECORD_CRASHED = 1000
};

// Shared with the child process that runs the group.
struct record_state {
    int index;  // of the current case
    int resume; // cases with a smaller index have already run
    bool open;
    char name[160], line[4000]; // longer lines are truncated
};

static struct record_state *record;
static const char *record_group;
static int record_next;

static void record_flush(void)
{
    if (record->open)
        printf("%s/%s | %s\n", record_group, record->name, record->line);
    fflush(stdout);
    record->open = false;
}

static inline bool record_wants(const char *group, const char *name)
{
    const char *pattern = getenv("RECORD_CASES");
    char path[256];
    snprintf(path, sizeof path, "%s/%s", group, name);
    return !pattern || !fnmatch(pattern, path, 0);
}

// Ends the previous case and starts the next one. Returns false if an earlier process, which has
// crashed since, already ran it, or if it is not wanted.
__attribute__((format(printf, 1, 2))) static inline bool record_begin(const char *format, ...)
{
    record_flush();
    int index = record_next++;
    if (index < record->resume)
        return false;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(record->name, sizeof record->name, format, arguments);
    va_end(arguments);
    if (!record_wants(record_group, record->name))
        return false;
    record->line[0] = 0;
    record->index = index;
    record->open = true;
    alarm(RECORD_CASE_SECONDS);
    return true;
}

__attribute__((format(printf, 1, 2))) static inline void SAY(const char *format, ...)
{
    size_t length = strlen(record->line);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(record->line + length, sizeof record->line - length, format, arguments);
    va_end(arguments);
}

#define CASE(...) record_begin(__VA_ARGS__)
#define GROUP(name) static void group_##name(void)

static void record_crash(const char *name, int status)
{
    printf("%s/%s | %s CRASH %d\n", record_group, name, record->line,
           WIFSIGNALED(status) ? WTERMSIG(status) : RECORD_CRASHED + WEXITSTATUS(status));
    fflush(stdout);
}

static inline void record_run(const char *name, void (*group)(void))
{
    if (!record)
        record =
            mmap(NULL, sizeof *record, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    memset(record, 0, sizeof *record);
    record_group = name;
    for (int crashes = 0; crashes < RECORD_MOST_CRASHES; crashes++) {
        int status;
        record_next = 0;
        fflush(stdout);
        pid_t child = fork();
        if (!child) {
            alarm(RECORD_GROUP_SECONDS);
            group();
            record_flush();
            _exit(0);
        }
        waitpid(child, &status, 0);
        if (WIFEXITED(status) && !WEXITSTATUS(status))
            return;
        bool in_case = record->open;
        record_crash(in_case ? record->name : "(set-up)", status);
        if (!in_case)
            return;
        record->open = false;
        record->resume = record->index + 1;
    }
}

// Runs a group if the arguments name it, or if there are no arguments.
#define RUN(name)                                                                                  \
    do {                                                                                           \
        bool wanted_ = argc < 2;                                                                   \
        for (int i_ = 1; i_ < argc; i_++)                                                          \
            wanted_ |= !strcmp(argv[i_], #name);                                                   \
        if (wanted_)                                                                               \
            record_run(#name, group_##name);                                                       \
    } while (0)

// For calls that a case depends on: the group ends if the call fails.
#define NEED(call)                                                                                 \
    do {                                                                                           \
        CUresult result_ = (call);                                                                 \
        if (result_) {                                                                             \
            fprintf(stderr, "set-up failed: %s -> %d\n", #call, (int)result_);                     \
            _exit(9);                                                                              \
        }                                                                                          \
    } while (0)

// Returns the code's name without CUDA_, such as SUCCESS or ERROR_INVALID_VALUE.
__attribute__((unused)) static const char *record_name(CUresult code)
{
    const char *name = NULL;
    if (cuGetErrorName(code, &name) || !name)
        return "no-name";
    return strncmp(name, "CUDA_", 5) ? name : name + 5;
}

// Like record_name, but returns ok for SUCCESS.
__attribute__((unused)) static const char *record_ok(CUresult code)
{
    return code ? record_name(code) : "ok";
}

// Like record_ok, but also without ERROR_, such as INVALID_VALUE.
__attribute__((unused)) static const char *record_brief(CUresult code)
{
    const char *name = record_name(code);
    return !strcmp(name, "SUCCESS") ? "ok" : !strncmp(name, "ERROR_", 6) ? name + 6 : name;
}

// Makes the primary context of device 0 current and returns it.
__attribute__((unused)) static CUcontext record_context(void)
{
    CUdevice device;
    CUcontext context;
    NEED(cuInit(0));
    NEED(cuDeviceGet(&device, 0));
    NEED(cuDevicePrimaryCtxRetain(&context, device));
    NEED(cuCtxSetCurrent(context));
    return context;
}

// Exports `size` bytes of device memory as a descriptor and imports it again as `claim` bytes.
__attribute__((unused)) static CUresult record_import(CUexternalMemory *imported, size_t size,
                                                      size_t claim, unsigned flags)
{
    CUmemAllocationProp how = {.type = CU_MEM_ALLOCATION_TYPE_PINNED,
                               .requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR,
                               .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE}};
    CUmemGenericAllocationHandle memory;
    int fd = -1;
    NEED(cuMemCreate(&memory, size, &how, 0));
    NEED(cuMemExportToShareableHandle(&fd, memory, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
    CUDA_EXTERNAL_MEMORY_HANDLE_DESC desc = {.type = CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD,
                                             .handle.fd = fd,
                                             .size = claim,
                                             .flags = flags};
    return cuImportExternalMemory(imported, &desc);
}

__attribute__((unused)) static CUexternalMemory record_external_memory(size_t size)
{
    CUexternalMemory imported;
    NEED(record_import(&imported, size, size, 0));
    return imported;
}
