// SPDX-License-Identifier: MIT
// Makes dma-bufs of device memory. Device memory is a sealed memfd here, and the kernel's udmabuf
// device makes a dma-buf from pages of a sealed memfd.
#include "range_handle.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/udmabuf.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "alloc.h"
#include "arithmetic.h"
#include "call.h"
#include "lock.h"
#include "memory.h"
#include "physical.h"
#include "virtual_memory.h"

// The kernel's limit for a list, unless udmabuf's parameter list_limit changes it.
enum { MOST_PIECES = 1024 };

// Checks that memory of this kind can be shared with other devices; *end is the end of its block.
static CUresult check_memory(const struct em_allocation *a, uint64_t *end)
{
    bool device = a->kind == EM_MEMORY_DEVICE ||
                  ((a->kind == EM_MEMORY_POOLED || a->kind == EM_MEMORY_VIRTUAL) && !a->host);
    if (!device || !a->physical)
        return em_fail(CUDA_ERROR_INVALID_VALUE,
                       "dptr %#llx is %s, but a dma-buf needs device memory of this process",
                       (unsigned long long)a->base, em_memory_kind_text(a->kind));
    // The range may include the rest of the block that contains the allocation.
    *end = a->mapping_base + a->mapping_size;
    return CUDA_SUCCESS;
}

// Lists the pieces of files that hold [address, address + size), in order of address.
// Precondition: em_lock held.
static CUresult collect(uint64_t address, uint64_t size, struct udmabuf_create_list *list)
{
    em_assert_locked();
    uint64_t end, block_end = 0, compressed = 0;
    if (!dm_add(address, size, &end))
        return em_fail(CUDA_ERROR_INVALID_VALUE,
                       "dptr (%#llx) + size (%llu) exceeds the address space",
                       (unsigned long long)address, (unsigned long long)size);
    for (uint64_t at = address; at < end; at = block_end) {
        struct em_allocation *a = em_memory_overlapping(at, end - at);
        char text[256];
        if (!a || a->mapping_base > at)
            return em_fail(CUDA_ERROR_INVALID_VALUE,
                           "the range [%#llx, %#llx) is not all device memory: %s",
                           (unsigned long long)address, (unsigned long long)end,
                           em_memory_text(at, text, sizeof text));
        CUresult r = check_memory(a, &block_end);
        if (r)
            return r;
        if (a->kind == EM_MEMORY_VIRTUAL && em_mapped_object(a)->prop.allocFlags.compressionType)
            compressed = a->base;
        // Adjacent allocations count as one range only if cuMemMap made them.
        if (end > block_end && a->kind != EM_MEMORY_VIRTUAL)
            return em_fail(CUDA_ERROR_INVALID_VALUE,
                           "the range [%#llx, %#llx) extends beyond its allocation: %s",
                           (unsigned long long)address, (unsigned long long)end,
                           em_memory_text(address, text, sizeof text));
        if (list->count == MOST_PIECES)
            return em_fail(CUDA_ERROR_NOT_SUPPORTED,
                           "the range [%#llx, %#llx) consists of more than %d mappings",
                           (unsigned long long)address, (unsigned long long)end, MOST_PIECES);
        int memfd = dm_physical_fd(a->physical);
        if (memfd < 0)
            return em_fail(
                CUDA_ERROR_UNKNOWN,
                "the program has closed the driver's file descriptor of the memory at %#llx",
                (unsigned long long)at);
        a->physical->shared = true;
        struct udmabuf_create_item *item = &list->list[list->count++];
        item->memfd = (uint32_t)memfd;
        item->offset = a->physical->payload + a->physical_offset +
                       (at - a->base); // wraps around if `at` is below `base`
        item->size = (end < block_end ? end : block_end) - at;
    }
    if (compressed)
        return em_fail(
            CUDA_ERROR_UNKNOWN,
            "the memory mapped at %#llx is compressed, so other devices cannot read it; create "
            "it with CU_MEM_ALLOCATION_COMP_NONE",
            (unsigned long long)compressed);
    return CUDA_SUCCESS;
}

// From now on others may write there unseen.
static void note_written(uint64_t address, uint64_t size_B)
{
    for (uint64_t at = address; at < address + size_B;) {
        const struct em_allocation *a = em_memory_overlapping(at, address + size_B - at);
        if (!a)
            return;
        em_written_note(a, a->base, a->size);
        at = a->base + a->size;
    }
}

CUresult em_range_dma_buf(uint64_t address, uint64_t size, int *fd)
{
    int maker = -1;
    *fd = -1;
    struct udmabuf_create_list *list =
        dm_calloc(1, sizeof *list + MOST_PIECES * sizeof list->list[0]);
    if (!list)
        return em_fail(CUDA_ERROR_OUT_OF_MEMORY,
                       "out of host memory while listing the pieces of the dma-buf");
    list->flags = UDMABUF_FLAGS_CLOEXEC;
    em_lock(); // until the kernel holds the pages, because another thread could free them
    CUresult r = collect(address, size, list);
    if (r)
        goto unlock;
    note_written(address, size);
    maker = open("/dev/udmabuf", O_RDWR | O_CLOEXEC);
    if (maker < 0) {
        r = em_fail(CUDA_ERROR_NOT_SUPPORTED,
                    "/dev/udmabuf, which makes dma-bufs, cannot be opened on this host: %s",
                    strerror(errno));
        goto unlock;
    }
    int made = ioctl(maker, UDMABUF_CREATE_LIST, list);
    if (made < 0)
        r = em_fail(errno == ENOMEM ? CUDA_ERROR_OUT_OF_MEMORY : CUDA_ERROR_NOT_SUPPORTED,
                    "/dev/udmabuf rejected %llu bytes in %u pieces: %s", (unsigned long long)size,
                    list->count, strerror(errno));
    else
        *fd = made;
    close(maker);
unlock:
    em_unlock();
    dm_free(list);
    return r;
}
