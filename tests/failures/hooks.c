// SPDX-License-Identifier: MIT
// The hooks of the failure tests: countdown, and ending everything that a stopped test has left.
#include "hooks.h"

#include <cardless.h>
#include <cuda.h>
#include <dirent.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "alloc.h"
#include "call.h"
#include "context.h"
#include "device.h"
#include "lock.h"
#include "memory_device.h"
#include "object.h"
#include "scheduler.h"
#include "thread.h"
#include "virtual_memory.h"

enum { PATIENCE_MS = 1000, ANSWER_TRIES = 1000 };

static void sleep_us(long us)
{
    struct timespec t = {.tv_nsec = us * 1000};
    nanosleep(&t, NULL);
}

static bool any_pending(void)
{
    em_lock();
    bool pending = em_context_with_work(UINT64_MAX) != NULL;
    em_unlock();
    return pending;
}

// ---- other threads of the program ----
//
// They must not make calls while this thread ends everything and then counts what is left. A signal
// asks each of them whether it is in a call. A thread that is not in a call is marked as inside a
// host function, so that its further calls return CUDA_ERROR_NOT_PERMITTED. The driver's own
// threads, and those of Mesa, block all signals.

static atomic_long answer; // the number of the thread, negative if it is in a call

static void ask(int signal)
{
    (void)signal;
    long thread = syscall(SYS_gettid);
    bool in_call = em_self.entry != NULL;
    if (!in_call)
        em_self.in_host_function = true;
    atomic_store(&answer, in_call ? -thread : thread);
}

static bool takes_signals(long thread)
{
    char path[64], line[256];
    unsigned long long blocked = ~0ULL;
    snprintf(path, sizeof path, "/proc/self/task/%ld/status", thread);
    FILE *f = fopen(path, "r");
    while (f && fgets(line, sizeof line, f))
        if (sscanf(line, "SigBlk: %llx", &blocked) == 1)
            break;
    if (f)
        fclose(f);
    return !(blocked >> (SIGRTMAX - 1) & 1);
}

static bool is_outside(long thread)
{
    long process = getpid(), got;
    atomic_store(&answer, 0);
    if (syscall(SYS_tgkill, process, thread, (long)SIGRTMAX))
        return true; // it has ended
    // ThreadSanitizer holds signals back for as long as a thread waits, so no answer is one too.
    for (int tries = 0; got = atomic_load(&answer), labs(got) != thread; tries++) {
        if (syscall(SYS_tgkill, process, thread, 0L))
            return true;
        if (tries >= ANSWER_TRIES)
            return false;
        sleep_us(20);
    }
    return got > 0;
}

// False if a thread is in a call. The threads that are not can make no more calls.
static bool other_threads_are_outside(void)
{
    DIR *tasks = opendir("/proc/self/task");
    bool outside = tasks != NULL;
    for (struct dirent *entry; tasks && (entry = readdir(tasks));) {
        long thread = strtol(entry->d_name, NULL, 10);
        if (thread > 0 && thread != syscall(SYS_gettid) && takes_signals(thread))
            outside &= is_outside(thread);
    }
    if (tasks)
        closedir(tasks);
    return outside;
}

// Waits until no work is pending and no other thread is in a call. False if that does not come to
// pass: work waits for a semaphore word that nobody will write, or for a host function's lock.
static bool all_work_ends(void)
{
    struct sigaction action = {.sa_handler = ask, .sa_flags = SA_RESTART};
    sigaction(SIGRTMAX, &action, NULL);
    for (int waited = 0; !other_threads_are_outside() || any_pending(); waited++) {
        if (waited >= PATIENCE_MS)
            return false;
        sleep_us(1000);
    }
    return true;
}

// ---- ends ----

static void end_contexts(void)
{
    for (;;) {
        em_lock();
        struct em_context *c = em_context_next(NULL);
        bool primary = c && c->base.primary;
        int device = c ? c->device->ordinal : 0;
        CUcontext handle = em_context_handle(c);
        em_unlock();
        if (!c || (primary ? cuDevicePrimaryCtxReset(device) : cuCtxDestroy(handle)))
            return;
    }
}

// Some memory of the device.
struct some_memory {
    bool exists, mapped;
    uint64_t base, size;
};

static struct some_memory find_memory(void)
{
    em_lock();
    const struct em_allocation *a = em_memory_overlapping(0, UINT64_MAX);
    const struct some_memory some = {a, a && a->kind == EM_MEMORY_VIRTUAL, a ? a->base : 0,
                                     a ? a->size : 0};
    em_unlock();
    return some;
}

// Memory of pools and mappings belong to no context, but freeing them takes one. A device that is
// lost has no context any more.
static void end_mappings(void)
{
    CUcontext context;
    const bool lost = cuDevicePrimaryCtxRetain(&context, 0) || cuCtxSetCurrent(context);
    struct some_memory some = find_memory();
    while (some.exists && (lost          ? some.mapped && !em_virtual_unmap(some.base, some.size)
                           : some.mapped ? !cuMemUnmap(some.base, some.size)
                                         : !cuMemFree(some.base)))
        some = find_memory();
    if (!lost)
        cuDevicePrimaryCtxReset(0);
}

// Destroys all objects of a type; those that cannot be destroyed stay.
static void end_objects(enum em_type type, CUresult (*destroy)(uint64_t handle))
{
    for (uint32_t position = 0;;) {
        em_lock();
        struct em_object *object = em_object_next(type, &position);
        uint64_t handle = object ? object->handle : 0;
        em_unlock();
        if (!object)
            return;
        destroy(handle);
    }
}

static CUresult end_pool(uint64_t handle)
{
    CUmemoryPool pool = (CUmemoryPool)(uintptr_t)handle;
    return cuMemPoolDestroy(pool) ? cuMemPoolTrimTo(pool, 0) : CUDA_SUCCESS;
}

static CUresult end_physical(uint64_t handle)
{
    CUresult r;
    while (!(r = cuMemRelease(handle)))
        ; // as often as it was created, imported and retained
    return r;
}

static CUresult end_buffer(uint64_t handle)
{
    return cardlessBufferDestroy((cardlessBuffer)(uintptr_t)handle);
}

static CUresult end_texture(uint64_t handle)
{
    return cardlessTextureDestroy((cardlessTexture)(uintptr_t)handle);
}

// A graph that is embedded in another one ends with it.
static CUresult end_graph(uint64_t handle)
{
    return cuGraphDestroy((CUgraph)(uintptr_t)handle);
}

static CUresult end_exec(uint64_t handle)
{
    return cuGraphExecDestroy((CUgraphExec)(uintptr_t)handle);
}

static CUresult end_user_object(uint64_t handle)
{
    CUresult r;
    while (!(r = cuUserObjectRelease((CUuserObject)(uintptr_t)handle, 1)))
        ; // as often as it was retained
    return r;
}

static CUresult end_library(uint64_t handle)
{
    return cuLibraryUnload((CUlibrary)(uintptr_t)handle);
}

static bool is_ended(char *text, size_t capacity)
{
    static const enum em_type types[] = {
        EM_STREAM,
        EM_EVENT,
        EM_ARRAY,
        EM_MIPMAP,
        EM_EXTERNAL_MEMORY,
        EM_GRAPHICS,
        EM_TEXTURE,
        EM_SURFACE,
        EM_PHYSICAL,
        EM_TEXTURE_REFERENCE,
        EM_SURFACE_REFERENCE,
        EM_VIRTUAL_BUFFER,
        EM_VIRTUAL_TEXTURE,
        EM_GRAPH,
        EM_GRAPH_NODE,
        EM_GRAPH_EXEC,
        EM_GRAPH_CONDITIONAL,
        EM_USER_OBJECT,
        EM_MODULE,
        EM_FUNCTION,
        EM_LIBRARY,
        EM_KERNEL,
    };
    char what[160];
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        uint32_t position = 0;
        struct em_object *object = em_object_next(types[i], &position);
        if (object) {
            snprintf(text, capacity, "%s is still alive",
                     em_object_text(object, what, sizeof what));
            return false;
        }
    }
    struct em_allocation *a = em_memory_overlapping(0, UINT64_MAX);
    if (a) {
        snprintf(text, capacity, "%s", em_memory_text(a->base, what, sizeof what));
        return false;
    }
    for (int i = 0; i < em_device_count; i++) {
        struct em_device_memory *m;
        if (em_device_memory(&em_devices[i], &m))
            continue;
        uint64_t driver = em_driver_share(m->vram.total);
        if (m->vram.used != driver) {
            snprintf(text, capacity, "device %d has %llu bytes in use that nothing owns", i,
                     (unsigned long long)(m->vram.used - driver));
            return false;
        }
    }
    return true;
}

static bool end_everything(char *text, size_t capacity)
{
    bool ended = true;
    dm_alloc_fail_after(0);
    if (em_driver_state != EM_DRIVER_READY || !all_work_ends())
        return true;
    end_contexts();
    end_objects(EM_LIBRARY, end_library);
    end_mappings();
    end_objects(EM_GRAPH_EXEC, end_exec);
    end_objects(EM_GRAPH, end_graph);
    end_objects(EM_USER_OBJECT, end_user_object);
    end_objects(EM_POOL, end_pool);
    end_objects(EM_PHYSICAL, end_physical);
    end_objects(EM_VIRTUAL_BUFFER, end_buffer);
    end_objects(EM_VIRTUAL_TEXTURE, end_texture);
    cardlessFinish(); // commands hold the storage of objects that are destroyed
    em_lock();
    ended = is_ended(text, capacity);
    em_unlock();
    return ended;
}

static bool fails_now(void)
{
    void *p = dm_alloc(1);
    dm_free(p);
    return !p;
}

static const struct test_hooks hooks = {
    .fail_after = dm_alloc_fail_after,
    .countdown = dm_alloc_countdown,
    .fails_now = fails_now,
    .end_everything = end_everything,
};

__attribute__((visibility("default"))) const struct test_hooks *cardlessTestHooks(void)
{
    return &hooks;
}
