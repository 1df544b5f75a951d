// SPDX-License-Identifier: MIT
// Managed memory: allocation, and the calls that take ranges of it.
#include "managed.h"

#include "advice.h"
#include "call.h"
#include "command.h"
#include "device.h"
#include "lock.h"
#include "memory.h"
#include "memory_host.h"
#include "stream.h"

CUresult em_managed_alloc(uint64_t size, unsigned flags, uint64_t *out)
{
    return em_host_new(EM_MEMORY_MANAGED, size, flags, out);
}

static CUresult not_managed(const char *name, uint64_t address, const struct em_allocation *a)
{
    return em_fail(CUDA_ERROR_INVALID_VALUE,
                   "%s %#llx is %s, not managed memory; allocate it with cuMemAllocManaged or from "
                   "a pool of managed "
                   "memory",
                   name, (unsigned long long)address, em_memory_kind_text(a->kind));
}

// Returns the managed allocation that contains a range. Precondition: em_lock held.
static CUresult managed(uint64_t address, uint64_t count, struct em_allocation **out)
{
    em_assert_locked();
    if (!address || !count)
        return em_fail(CUDA_ERROR_INVALID_VALUE,
                       "the address is %#llx and the size is %llu, but neither may be 0",
                       (unsigned long long)address, (unsigned long long)count);
    CUresult r = em_memory_get(address, count, "devPtr", CUDA_ERROR_INVALID_VALUE, out);
    if (!r && !em_memory_is_managed(*out))
        r = not_managed("devPtr", address, *out);
    return r;
}

// ---- advice and attributes

CUresult em_managed_advise(uint64_t address, uint64_t size, CUmem_advise advice,
                           CUmemLocation location, bool lenient)
{
    struct em_allocation *a;
    CUresult r = CUDA_SUCCESS;
    em_lock();
    if (!lenient)
        r = managed(address, size, &a);
    else
        a = size ? em_memory_find(address, size) : NULL;
    if (lenient && a && !em_memory_is_managed(a))
        a = NULL;
    if (!r && a)
        r = em_advice_set(a, address, size, advice, location);
    em_unlock();
    return r;
}

CUresult em_managed_attributes(uint64_t address, uint64_t size, size_t count,
                               const CUmem_range_attribute *attributes, void *const *data,
                               const size_t *sizes_B)
{
    struct em_allocation *a;
    em_lock();
    CUresult r = managed(address, size, &a);
    for (size_t i = 0; i < count && !r; i++)
        em_advice_attribute(a, address, size, attributes[i], data[i], sizes_B[i]);
    em_unlock();
    return r;
}

// ---- prefetches, discards and attachments: they move no bytes but take their turn in the stream

static CUresult run_nothing(struct em_command *command)
{
    (void)command;
    return CUDA_SUCCESS;
}
static const struct em_command_ops prefetch_ops = {.name = "prefetch", .run = run_nothing};
static const struct em_command_ops attach_ops = {.name = "attachment of managed memory",
                                                 .run = run_nothing};
static const struct em_command_ops discard_ops = {.name = "discard", .run = run_nothing};

// Precondition: em_lock held. May release it while it waits.
static CUresult issue(struct em_stream *stream, const struct em_command_ops *ops)
{
    em_assert_locked();
    struct em_command c = {.ops = ops, .size_B = sizeof c};
    return em_issue(stream, &c, EM_SUBMIT_ASYNC);
}

CUresult em_managed_prefetch(uint64_t address, uint64_t size, CUmemLocation location,
                             struct em_stream *stream)
{
    struct em_allocation *a;
    em_lock();
    CUresult r = managed(address, size, &a);
    if (!r)
        r = em_advice_prefetched(a, address, size, location);
    if (!r)
        r = issue(stream, &prefetch_ops);
    em_unlock();
    return r;
}

CUresult em_managed_run_batch(const struct em_managed_batch *b, struct em_stream *stream)
{
    struct em_allocation *a;
    CUresult r = CUDA_SUCCESS;
    em_lock();
    for (size_t i = 0; i < b->count && !r; i++)
        r = managed(b->dptrs[i], b->sizes[i], &a);
    for (size_t i = 0, l = 0; b->locations && i < b->count && !r; i++) {
        if (l + 1 < b->location_count && b->firsts[l + 1] == i)
            l++;
        r = managed(b->dptrs[i], b->sizes[i], &a);
        if (!r)
            r = em_advice_prefetched(a, b->dptrs[i], b->sizes[i], b->locations[l]);
    }
    if (!r)
        r = issue(stream, b->locations ? &prefetch_ops : &discard_ops);
    em_unlock();
    return r;
}

// Checks that this range of managed memory can be attached. Precondition: em_lock held.
static CUresult check_attach(uint64_t address, uint64_t size)
{
    em_assert_locked();
    struct em_allocation *a;
    CUresult r = em_memory_get(address, size ? size : 1, "dptr", CUDA_ERROR_INVALID_VALUE, &a);
    if (r)
        return r;
    if (!em_memory_is_managed(a))
        return not_managed("dptr", address, a);
    // "the supplied length must be zero or the entire allocation size".
    if (size && (address != a->base || size != a->size))
        return em_fail(
            CUDA_ERROR_INVALID_VALUE,
            "length is %llu, but must be 0 or the size of the whole allocation (%llu bytes), "
            "from its base on",
            (unsigned long long)size, (unsigned long long)a->size);
    return CUDA_SUCCESS;
}

// The host and all streams can access managed memory at all times here, which the manual allows.
// Attaching therefore only orders work.
CUresult em_managed_attach(uint64_t address, uint64_t size, unsigned flags,
                           struct em_stream *stream)
{
    em_lock();
    CUresult r = check_attach(address, size);
    // "It is an error to attach memory to the NULL stream". Only CU_MEM_ATTACH_SINGLE attaches
    // memory to a stream.
    if (!r && flags == CU_MEM_ATTACH_SINGLE && stream->kind == EM_STREAM_LEGACY)
        r = em_fail(CUDA_ERROR_INVALID_VALUE,
                    "flags is %#x (CU_MEM_ATTACH_SINGLE), but hStream is the NULL stream, to which "
                    "memory cannot be attached; pass another stream",
                    flags);
    if (!r)
        r = issue(stream, &attach_ops);
    em_unlock();
    return r;
}
