// SPDX-License-Identifier: MIT
// Memory that graphs allocate: pools of their own, and who uses it.
#include "graph_memory.h"

#include "alloc.h"
#include "device.h"
#include "error.h"
#include "hash_table.h"
#include "lock.h"
#include "memory.h"
#include "pointer_check.h"
#include "pool.h"

struct em_graph_memory {
    uint64_t address; // the key of the table
    uint32_t references;
    bool allocated;     // by a launch; counts as a reference
    bool freed_by_node; // a node frees it
    bool instantiated;
    struct em_graph_memory *first; // of the launch that has allocated it; counts as a reference
    uint64_t launched_B;           // allocated memory whose `first` this is
    CUDA_MEM_ALLOC_NODE_PARAMS_v2 params;
    UT_hash_handle hh;
};

static struct em_graph_memory *memories; // by address

// ---- pools ----

enum { POOLS = 64 };
static struct em_pool *pools[POOLS]; // by device; NULL before the first allocation

static CUresult pool_of(CUdevice ordinal, CUresult unknown, struct em_pool **out)
{
    struct em_device *device;
    if (ordinal < 0 || ordinal >= em_device_count || ordinal >= POOLS)
        return em_fail(unknown, "there is no device %d", ordinal);
    CUresult r = em_device_get(ordinal, &device);
    if (r)
        return r;
    *out = pools[ordinal];
    if (*out)
        return CUDA_SUCCESS;
    const CUmemLocation location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = ordinal};
    r = em_pool_new(device, location, false, out);
    if (r)
        return r;
    r = em_pool_start(*out);
    if (r) {
        em_pool_drop(*out);
        return r;
    }
    (*out)->standard = true; // the program cannot destroy it
    pools[ordinal] = *out;
    return CUDA_SUCCESS;
}

// ---- blocks ----

// The values of the attributes. On a card (recorded on an H200), the address of a node has no
// memory before a launch or an upload, which maps whole blocks of EM_POOL_BLOCK: those that are
// idle, and new ones. The memory that a launch allocates shares blocks, but not with that of other
// launches. Blocks stay until a trim finds them idle. All of them count as used, and as reserved.
static struct {
    uint64_t busy_B; // of memory that is allocated
    uint64_t held_B; // busy or idle
    uint64_t used_high_B, reserved_high_B;
} blocks[POOLS]; // by device

static uint64_t in_blocks(uint64_t size_B)
{
    return (size_B + EM_POOL_BLOCK - 1) / EM_POOL_BLOCK * EM_POOL_BLOCK;
}

static void hold_blocks(CUdevice device, uint64_t size_B)
{
    if (blocks[device].held_B < size_B)
        blocks[device].held_B = size_B;
    if (blocks[device].used_high_B < size_B)
        blocks[device].used_high_B = size_B;
    if (blocks[device].reserved_high_B < size_B)
        blocks[device].reserved_high_B = size_B;
}

CUresult em_graph_memory_trim(CUdevice device)
{
    em_assert_unlocked();
    struct em_pool *p;
    em_lock();
    CUresult r = pool_of(device, CUDA_ERROR_INVALID_DEVICE, &p);
    if (!r) {
        em_pool_trim(p, 0);
        blocks[device].held_B = blocks[device].busy_B;
    }
    em_unlock();
    return r;
}

// The field of an attribute, or NULL.
static uint64_t *field_of(CUdevice device, CUgraphMem_attribute attribute)
{
    switch (attribute) {
    case CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT:
    case CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT:
        return &blocks[device].held_B;
    case CU_GRAPH_MEM_ATTR_USED_MEM_HIGH:
        return &blocks[device].used_high_B;
    case CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH:
        return &blocks[device].reserved_high_B;
    default:
        return NULL;
    }
}

static CUresult unknown_attribute(CUgraphMem_attribute attribute)
{
    return em_fail(CUDA_ERROR_INVALID_VALUE, "attr (%d) is not a CUgraphMem_attribute",
                   (int)attribute);
}

CUresult em_graph_memory_get(CUdevice device, CUgraphMem_attribute attribute, cuuint64_t *out)
{
    em_assert_unlocked();
    struct em_pool *p;
    em_lock();
    CUresult r = pool_of(device, CUDA_ERROR_INVALID_DEVICE, &p);
    const uint64_t *field = r ? NULL : field_of(device, attribute);
    if (!r && !field)
        r = unknown_attribute(attribute);
    if (!r)
        *out = *field;
    em_unlock();
    return r;
}

// "CU_GRAPH_MEM_ATTR_USED_MEM_HIGH: … can only be set to zero", and so can RESERVED_MEM_HIGH.
CUresult em_graph_memory_set(CUdevice device, CUgraphMem_attribute attribute, cuuint64_t value)
{
    em_assert_unlocked();
    struct em_pool *p;
    bool high = attribute == CU_GRAPH_MEM_ATTR_USED_MEM_HIGH ||
                attribute == CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH;
    em_lock();
    CUresult r = pool_of(device, CUDA_ERROR_INVALID_DEVICE, &p);
    uint64_t *field = r ? NULL : field_of(device, attribute);
    if (!r && !field)
        r = unknown_attribute(attribute);
    else if (!r && (!high || value))
        r = em_fail(CUDA_ERROR_INVALID_VALUE,
                    "attribute %d cannot be set to %llu; only the two high watermarks can be set, "
                    "to 0",
                    (int)attribute, (unsigned long long)value);
    if (!r) // the watermark begins again at the present value
        *field = blocks[device].held_B;
    em_unlock();
    return r;
}

// ---- allocations ----

static CUresult free_at(struct em_allocation *a, uint64_t address)
{
    struct em_graph_memory *m;
    em_assert_locked();
    CUresult r = em_graph_memory_find(a->base, &m);
    if (!r && (address != m->address || !m->allocated))
        r = em_fail(CUDA_ERROR_INVALID_VALUE,
                    address != m->address
                        ? "dptr must be the address that the allocation node returned"
                        : "the memory of the graph is not allocated: no launch has allocated it "
                          "since it was freed");
    if (!r)
        em_graph_memory_free(m);
    return r;
}

static CUresult check_params(const CUDA_MEM_ALLOC_NODE_PARAMS_v2 *p)
{
    const CUmemPoolProps *q = &p->poolProps;
    if (q->allocType != CU_MEM_ALLOCATION_TYPE_PINNED)
        return em_fail(CUDA_ERROR_INVALID_VALUE,
                       "poolProps.allocType (%d) must be CU_MEM_ALLOCATION_TYPE_PINNED",
                       (int)q->allocType);
    if (q->location.type != CU_MEM_LOCATION_TYPE_DEVICE)
        return em_fail(CUDA_ERROR_INVALID_VALUE,
                       "poolProps.location.type (%d) must be CU_MEM_LOCATION_TYPE_DEVICE",
                       (int)q->location.type);
    if (!p->bytesize)
        return em_fail(CUDA_ERROR_INVALID_VALUE, "bytesize is 0");
    // "poolProps: … IPC … is not supported".
    if (q->handleTypes)
        return em_fail(CUDA_ERROR_NOT_SUPPORTED,
                       "poolProps.handleTypes (%#x): memory of graphs cannot be exported",
                       (unsigned)q->handleTypes);
    if (p->accessDescCount && !p->accessDescs)
        return em_fail(CUDA_ERROR_INVALID_VALUE, "accessDescs is NULL, but accessDescCount is %zu",
                       p->accessDescCount);
    CUresult r =
        em_readable("accessDescs", p->accessDescs, p->accessDescCount, sizeof *p->accessDescs);
    if (r)
        return r;
    for (size_t i = 0; i < p->accessDescCount; i++)
        if (p->accessDescs[i].location.id != q->location.id)
            return em_fail(CUDA_ERROR_NOT_SUPPORTED,
                           "accessDescs[%zu]: memory of graphs is not supported on other devices "
                           "than its own",
                           i);
    return CUDA_SUCCESS;
}

CUresult em_graph_memory_new(const CUDA_MEM_ALLOC_NODE_PARAMS_v2 *params,
                             struct em_graph_memory **out)
{
    em_assert_locked();
    struct em_pool *p;
    CUresult r = check_params(params);
    if (!r)
        r = pool_of(params->poolProps.location.id, CUDA_ERROR_INVALID_VALUE, &p);
    if (r)
        return r;
    struct em_graph_memory *m = dm_calloc(1, sizeof *m);
    if (!m)
        return em_fail(CUDA_ERROR_OUT_OF_MEMORY, "out of host memory for memory of a graph");
    r = em_pool_alloc(p, params->bytesize, &m->address);
    if (!r && DM_TABLE_ADD(memories, address, m)) {
        r = em_fail(CUDA_ERROR_OUT_OF_MEMORY, "out of host memory for memory of a graph");
        em_memory_remove(em_memory_find(m->address, 0));
    }
    if (r) {
        dm_free(m);
        return r;
    }
    m->references = 1;
    m->params = *params;
    m->params.dptr = m->address;
    m->params.accessDescs = NULL; // they grant the device what it has
    m->params.accessDescCount = 0;
    em_memory_find(m->address, 0)->free_at = free_at;
    *out = m;
    return CUDA_SUCCESS;
}

CUresult em_graph_memory_find(uint64_t address, struct em_graph_memory **out)
{
    em_assert_locked();
    *out = DM_TABLE_FIND(memories, &address);
    return *out ? CUDA_SUCCESS
                : em_fail(CUDA_ERROR_INVALID_VALUE,
                          "dptr (%#llx) is not the address of a memory allocation node",
                          (unsigned long long)address);
}

void em_graph_memory_ref(struct em_graph_memory *m)
{
    em_assert_locked();
    m->references++;
}

void em_graph_memory_unref(struct em_graph_memory *m)
{
    em_assert_locked();
    if (--m->references)
        return;
    DM_TABLE_REMOVE(memories, m);
    struct em_allocation *a = em_memory_find(m->address, 0);
    if (a)
        em_memory_remove(a);
    dm_free(m);
}

const CUDA_MEM_ALLOC_NODE_PARAMS_v2 *em_graph_memory_params(const struct em_graph_memory *m)
{
    return &m->params;
}

// ---- nodes and launches ----

CUresult em_graph_memory_add_free(struct em_graph_memory *m)
{
    em_assert_locked();
    if (m->freed_by_node)
        return em_fail(CUDA_ERROR_INVALID_VALUE, "another node frees dptr (%#llx) already",
                       (unsigned long long)m->address);
    m->freed_by_node = true;
    return CUDA_SUCCESS;
}

void em_graph_memory_remove_free(struct em_graph_memory *m)
{
    em_assert_locked();
    m->freed_by_node = false;
}

CUresult em_graph_memory_instantiate(struct em_graph_memory *m)
{
    em_assert_locked();
    if (m->instantiated)
        return em_fail(CUDA_ERROR_NOT_SUPPORTED,
                       "a graph that allocates memory has an instance already; destroy it first");
    m->instantiated = true;
    return CUDA_SUCCESS;
}

void em_graph_memory_end_instance(struct em_graph_memory *m)
{
    em_assert_locked();
    m->instantiated = false;
}

CUresult em_graph_memory_check_launch(const struct em_graph_memory *m, bool auto_free)
{
    em_assert_locked();
    if (m->allocated && !auto_free)
        return em_fail(CUDA_ERROR_INVALID_VALUE,
                       "the memory that an earlier launch allocated at %#llx is not free yet; free "
                       "it, or use CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH",
                       (unsigned long long)m->address);
    return CUDA_SUCCESS;
}

static CUdevice device_of(const struct em_graph_memory *m)
{
    return m->params.poolProps.location.id;
}

void em_graph_memory_upload(const struct em_graph_memory *m, const struct em_graph_memory **first,
                            uint64_t *needed_B)
{
    em_assert_locked();
    if (m->allocated)
        return;
    if (!*first || device_of(*first) != device_of(m)) {
        *first = m;
        *needed_B = 0;
    }
    *needed_B += m->params.bytesize;
    hold_blocks(device_of(m), blocks[device_of(m)].busy_B + in_blocks(*needed_B));
}

// Changes the size of the memory that the launch of `first` has allocated.
static void resize_launch(struct em_graph_memory *first, uint64_t size_B)
{
    const CUdevice device = device_of(first);
    blocks[device].busy_B += in_blocks(size_B) - in_blocks(first->launched_B);
    first->launched_B = size_B;
    hold_blocks(device, blocks[device].busy_B);
}

void em_graph_memory_launch(struct em_graph_memory *m, struct em_graph_memory **first)
{
    em_assert_locked();
    if (m->allocated)
        return;
    if (!*first || device_of(*first) != device_of(m))
        *first = m;
    m->first = *first;
    m->first->references++;
    m->references++;
    m->allocated = true;
    resize_launch(m->first, m->first->launched_B + m->params.bytesize);
}

void em_graph_memory_free(struct em_graph_memory *m)
{
    em_assert_locked();
    if (!m->allocated)
        return;
    struct em_graph_memory *first = m->first;
    m->first = NULL;
    m->allocated = false;
    resize_launch(first, first->launched_B - m->params.bytesize);
    em_graph_memory_unref(first);
    em_graph_memory_unref(m);
}
