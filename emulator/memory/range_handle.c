// SPDX-License-Identifier: MIT
// Makes dma-bufs of device memory: the kernel's udmabuf device turns pages of a sealed memfd, which
// device memory is here, into one.
#include "range_handle.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/udmabuf.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "alloc.h"
#include "call.h"
#include "lock.h"
#include "memory.h"
#include "memory_device.h"
#include "physical.h"
#include "virtual_memory.h"

// The kernel takes no longer list unless told otherwise (udmabuf's parameter list_limit).
enum { MOST_PIECES = 1024 };

// Whether memory of this kind can be shared with other devices, and where its block ends.
static CUresult check_memory(const struct em_allocation *a, uint64_t *end)
{
    bool device = a->kind == EM_MEMORY_DEVICE ||
                  ((a->kind == EM_MEMORY_POOLED || a->kind == EM_MEMORY_VIRTUAL) && !a->host);
    if (!device || !a->physical)
        return em_fail(CUDA_ERROR_INVALID_VALUE,
                       "%#llx is %s: a dma-buf is made of device memory of this process",
                       (unsigned long long)a->base, em_memory_kind_text(a->kind));
    // The rest of the block that the allocation was cut from may go along.
    *end = a->mapping_base + a->mapping_size;
    return CUDA_SUCCESS;
}

// Where the bytes of [address, address + size) lie, in order. Precondition: em_lock held.
static CUresult collect(uint64_t address, uint64_t size, struct udmabuf_create_list *list)
{
    uint64_t end, block_end = 0, compressed = 0;
    if (!em_add(address, size, &end))
        return em_fail(CUDA_ERROR_INVALID_VALUE, "%#llx + %#llx is no range",
                       (unsigned long long)address, (unsigned long long)size);
    for (uint64_t at = address; at < end; at = block_end) {
        struct em_allocation *a = em_memory_touches(at, end - at);
        char text[256];
        if (!a || a->mapping_base > at)
            return em_fail(CUDA_ERROR_INVALID_VALUE,
                           "[%#llx, %#llx) is not device memory throughout: %s",
                           (unsigned long long)address, (unsigned long long)end,
                           em_memory_text(at, text, sizeof text));
        CUresult r = check_memory(a, &block_end);
        if (r)
            return r;
        if (a->kind == EM_MEMORY_VIRTUAL && em_mapped_object(a)->prop.allocFlags.compressionType)
            compressed = a->base;
        // Only mappings made by cuMemMap count as one where they lie side by side.
        if (end > block_end && a->kind != EM_MEMORY_VIRTUAL)
            return em_fail(CUDA_ERROR_INVALID_VALUE, "[%#llx, %#llx) leaves its allocation: %s",
                           (unsigned long long)address, (unsigned long long)end,
                           em_memory_text(address, text, sizeof text));
        if (list->count == MOST_PIECES)
            return em_fail(CUDA_ERROR_NOT_SUPPORTED, "the range is made of more than %d mappings",
                           MOST_PIECES);
        int memfd = dm_physical_fd(a->physical);
        if (memfd < 0)
            return em_fail(
                CUDA_ERROR_UNKNOWN,
                "the program has closed the driver's file descriptor of the memory at %#llx",
                (unsigned long long)at);
        struct udmabuf_create_item *item = &list->list[list->count++];
        item->memfd = (uint32_t)memfd;
        item->offset = a->physical->payload + a->physical_offset +
                       (at - a->base); // wraps back where `at` is before `base`
        item->size = (end < block_end ? end : block_end) - at;
    }
    if (compressed)
        return em_fail(CUDA_ERROR_UNKNOWN,
                       "the memory mapped at %#llx is compressed, which no other device can read",
                       (unsigned long long)compressed);
    return CUDA_SUCCESS;
}

CUresult em_range_dma_buf(uint64_t address, uint64_t size, int *fd)
{
    int maker = -1;
    *fd = -1;
    struct udmabuf_create_list *list =
        dm_calloc(1, sizeof *list + MOST_PIECES * sizeof list->list[0]);
    if (!list)
        return em_fail(CUDA_ERROR_OUT_OF_MEMORY, "no host memory for the list of pieces");
    list->flags = UDMABUF_FLAGS_CLOEXEC;
    em_lock(); // until the kernel holds the pages: they could be freed meanwhile
    CUresult r = collect(address, size, list);
    if (r)
        goto unlock;
    maker = open("/dev/udmabuf", O_RDWR | O_CLOEXEC);
    if (maker < 0) {
        r = em_fail(CUDA_ERROR_NOT_SUPPORTED,
                    "dma-bufs are made by /dev/udmabuf, which this host does not let us open: %s",
                    strerror(errno));
        goto unlock;
    }
    int made = ioctl(maker, UDMABUF_CREATE_LIST, list);
    if (made < 0)
        r = em_fail(errno == ENOMEM ? CUDA_ERROR_OUT_OF_MEMORY : CUDA_ERROR_NOT_SUPPORTED,
                    "/dev/udmabuf refuses %llu bytes in %u pieces: %s", (unsigned long long)size,
                    list->count, strerror(errno));
    else
        *fd = made;
    close(maker);
unlock:
    em_unlock();
    dm_free(list);
    return r;
}
