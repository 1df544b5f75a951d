// SPDX-License-Identifier: MIT
// The semaphores of cardless.h: created, exported, signalled and awaited by the host.
#include "virtual_semaphore.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "alloc.h"
#include "clock.h"
#include "error.h"
#include "import.h"
#include "lock.h"
#include "object.h"
#include "order.h"
#include "record_content.h"
#include "semaphore_payload.h"

struct em_virtual_semaphore {
    struct em_object object; // type EM_VIRTUAL_SEMAPHORE
    struct em_payload *payload;
    struct dm_fd_identity file; // of which exports are duplicates
};

static CUresult get(cardlessSemaphore handle, struct em_virtual_semaphore **out)
{
    em_assert_locked();
    return em_object_get(EM_VIRTUAL_SEMAPHORE, handle, CUDA_ERROR_INVALID_HANDLE, out);
}

static void semaphore_finish(struct em_object *object)
{
    struct em_virtual_semaphore *s = (struct em_virtual_semaphore *)object;
    em_payload_unref(s->payload);
    dm_fd_close(&s->file);
    dm_free(s);
}

static CUresult no_resources(int error)
{
    return em_fail(CUDA_ERROR_OUT_OF_MEMORY,
                   "out of host memory or file descriptors for a semaphore: %s", strerror(-error));
}

// Makes the object of a semaphore and of its file, which both belong to it, also on failure.
static CUresult new_object(struct dm_semaphore *semaphore, int fd, cardlessSemaphore *out)
{
    em_assert_locked();
    struct em_payload *payload;
    struct em_virtual_semaphore *s = NULL;
    CUresult r = em_payload_create(semaphore, &payload);
    if (r)
        goto close_file;
    s = dm_calloc(1, sizeof *s);
    if (!s)
        r = em_fail(CUDA_ERROR_OUT_OF_MEMORY, "out of host memory for a semaphore");
    else if (dm_fd_remember(fd, &s->file))
        r = no_resources(-errno);
    else
        r = em_object_start(&s->object, EM_VIRTUAL_SEMAPHORE, NULL, semaphore_finish);
    if (r)
        goto drop_payload;
    s->payload = payload;
    *out = (cardlessSemaphore)(uintptr_t)s->object.handle;
    return CUDA_SUCCESS;
drop_payload:
    em_payload_unref(payload);
close_file:
    dm_free(s);
    close(fd);
    return r;
}

CUresult em_virtual_semaphore_create(cardlessSemaphoreKind kind, uint64_t value,
                                     cardlessSemaphore *out)
{
    struct dm_semaphore semaphore;
    int made, fd;
    if (kind != CARDLESS_SEMAPHORE_BINARY && kind != CARDLESS_SEMAPHORE_TIMELINE)
        return em_fail(CUDA_ERROR_INVALID_VALUE,
                       "kind (%d) is not CARDLESS_SEMAPHORE_BINARY (1) or "
                       "CARDLESS_SEMAPHORE_TIMELINE (2)",
                       (int)kind);
    int status = dm_semaphore_create(kind == CARDLESS_SEMAPHORE_BINARY ? DM_SEMAPHORE_BINARY
                                                                       : DM_SEMAPHORE_TIMELINE,
                                     value, &semaphore, &made);
    if (status)
        return no_resources(status);
    // Programs that close all descriptors they do not know begin with the low numbers.
    fd = dm_fd_duplicate_high(made);
    if (fd < 0)
        fd = made;
    else
        close(made);
    em_lock();
    CUresult r = new_object(&semaphore, fd, out);
    em_unlock();
    return r;
}

CUresult em_virtual_semaphore_open(int fd, cardlessSemaphore *out)
{
    struct dm_semaphore semaphore;
    struct dm_import_info info;
    if (em_recording_contents)
        em_record_fd(fd, true);
    int status = dm_semaphore_open(fd, &semaphore);
    if (status == -EBADF || status == -ENOTSUP || status == -EBADMSG) {
        dm_import_recognise(fd, &info);
        return em_fail(CUDA_ERROR_INVALID_VALUE,
                       "fd (%d) is %s; pass a descriptor of cardlessSemaphoreExport, intact and "
                       "open for reading and writing",
                       fd, info.what);
    }
    if (status)
        return no_resources(status);
    int own = dm_fd_duplicate_high(fd);
    if (own < 0) {
        dm_semaphore_close(&semaphore);
        return no_resources(-errno);
    }
    em_lock();
    CUresult r = new_object(&semaphore, own, out);
    em_unlock();
    return r;
}

CUresult em_virtual_semaphore_destroy(cardlessSemaphore handle)
{
    struct em_virtual_semaphore *s;
    em_lock();
    CUresult r = get(handle, &s);
    if (!r)
        em_object_retire(&s->object);
    em_unlock();
    return r;
}

CUresult em_virtual_semaphore_export(cardlessSemaphore handle, int *out)
{
    struct em_virtual_semaphore *s;
    int fd;
    em_lock();
    CUresult r = get(handle, &s);
    if (!r && !dm_fd_still_ours(&s->file))
        r = em_fail(CUDA_ERROR_INVALID_VALUE,
                    "the program has closed file descriptor %d, which belongs to the semaphore",
                    s->file.fd);
    if (!r) {
        int status = dm_sys_dup(s->file.fd, &fd);
        if (status)
            r = no_resources(status);
        else
            *out = fd;
    }
    if (!r && em_recording_contents)
        em_record_fd(fd, false);
    em_unlock();
    return r;
}

CUresult em_virtual_semaphore_signal(cardlessSemaphore handle, uint64_t value)
{
    struct em_virtual_semaphore *s;
    em_lock();
    CUresult r = get(handle, &s);
    if (!r) {
        uint64_t mark = 0;
        em_object_ref(&s->object);
        if (__builtin_expect(em_order_on, 0))
            mark = em_payload_order_signal(s->payload, NULL, value);
        em_unlock();
        em_payload_signal(s->payload, value, mark, &s->object);
        em_lock();
        em_object_unref(&s->object);
        em_payload_progress();
    }
    em_unlock();
    return r;
}

// A thread that waits for a semaphore.
struct host_wait {
    struct em_payload *payload;
    uint64_t value, mark;
};

static bool host_wait_over(void *argument)
{
    struct host_wait *w = argument;
    return dm_semaphore_acquire_mark(&w->payload->semaphore, w->value, &w->mark);
}

// The end of a time limit that begins now; 0: no limit.
static uint64_t deadline_of(uint64_t timeout_ns)
{
    uint64_t deadline;
    return __builtin_add_overflow(dm_now_ns(), timeout_ns, &deadline) ? 0 : deadline;
}

CUresult em_virtual_semaphore_wait(cardlessSemaphore handle, uint64_t value, uint64_t timeout_ns)
{
    struct em_virtual_semaphore *s;
    uint64_t deadline_ns = deadline_of(timeout_ns);
    em_lock();
    CUresult r = get(handle, &s);
    if (!r) {
        struct host_wait wait = {s->payload, value, 0};
        em_payload_ref(wait.payload); // another thread may destroy the semaphore
        // A time limit that has passed is an answer, not an error, and has no message.
        if (!em_source_wait_until(&wait.payload->source, host_wait_over, &wait, deadline_ns))
            r = CUDA_ERROR_TIMEOUT;
        else if (__builtin_expect(em_order_on, 0))
            em_payload_order_wait(wait.payload, NULL, value, wait.mark);
        em_payload_unref(wait.payload);
    }
    em_unlock();
    return r;
}

CUresult em_virtual_semaphore_value(cardlessSemaphore handle, uint64_t *out)
{
    struct em_virtual_semaphore *s;
    em_lock();
    CUresult r = get(handle, &s);
    if (!r)
        *out = dm_semaphore_value(&s->payload->semaphore);
    em_unlock();
    return r;
}
