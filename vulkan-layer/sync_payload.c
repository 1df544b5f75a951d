// SPDX-License-Identifier: MIT
// Creates, imports, exports and counts payloads.
#include "sync_payload.h"

#include <errno.h>
#include <unistd.h>

#include "alloc.h"

static VkResult result_of(int status)
{
    switch (status) {
    case 0:
        return VK_SUCCESS;
    case -EBADF:
    case -ENOTSUP:
    case -EBADMSG:
        return VK_ERROR_INVALID_EXTERNAL_HANDLE;
    case -EMFILE:
    case -ENFILE:
        return VK_ERROR_TOO_MANY_OBJECTS;
    default:
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
}

// Keeps a descriptor of the file at a number that programs seldom touch. Closes `fd` on success.
static int payload_keep(struct vl_payload *p, int fd)
{
    int high = dm_fd_duplicate_high(fd);
    if (high < 0)
        return -EMFILE;
    int status = dm_fd_remember(high, &p->file);
    if (status)
        close(high);
    else
        close(fd);
    return status;
}

VkResult vl_payload_create(enum dm_semaphore_kind kind, uint64_t value, struct vl_payload **out)
{
    struct vl_payload *p = dm_calloc(1, sizeof *p);
    int fd, status = p ? dm_semaphore_create(kind, value, &p->semaphore, &fd) : -ENOMEM;
    if (status) {
        dm_free(p);
        return result_of(status);
    }
    status = payload_keep(p, fd);
    if (status) {
        close(fd);
        dm_semaphore_close(&p->semaphore);
        dm_free(p);
        return result_of(status);
    }
    p->references = 1;
    *out = p;
    return VK_SUCCESS;
}

VkResult vl_payload_import(int fd, enum dm_semaphore_kind kind, struct vl_payload **out)
{
    struct vl_payload *p = dm_calloc(1, sizeof *p);
    int status = p ? dm_semaphore_open(fd, &p->semaphore) : -ENOMEM;
    if (!status && p->semaphore.kind != kind)
        status = -EBADMSG;
    if (!status)
        status = payload_keep(p, fd);
    if (status) {
        if (p)
            dm_semaphore_close(&p->semaphore);
        dm_free(p);
        return result_of(status);
    }
    p->references = 1;
    *out = p;
    return VK_SUCCESS;
}

VkResult vl_payload_export(const struct vl_payload *payload, int *fd)
{
    // A program that closes all descriptors may have opened another file under this number.
    if (!dm_fd_still_ours(&payload->file))
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    return result_of(dm_sys_dup(payload->file.fd, fd));
}

struct vl_payload *vl_payload_take(struct vl_payload *payload)
{
    if (payload)
        __atomic_fetch_add(&payload->references, 1, __ATOMIC_RELAXED);
    return payload;
}

void vl_payload_drop(struct vl_payload *payload)
{
    if (!payload || __atomic_sub_fetch(&payload->references, 1, __ATOMIC_ACQ_REL))
        return;
    dm_fd_close(&payload->file);
    dm_semaphore_close(&payload->semaphore);
    dm_free(payload);
}
