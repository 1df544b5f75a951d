// SPDX-License-Identifier: MIT
// The value of each pointer attribute for each kind of memory. The rules come from the recordings
// ptrattr (x_memory) and attributes (x_extmem, x_vmm).
#include "pointer.h"

#include <stdbool.h>
#include <string.h>

#include "call.h"
#include "command.h"
#include "lock.h"
#include "memory.h"
#include "object.h"
#include "pointer_check.h"

enum { NO_DEVICE = -2 }; // the ordinal of memory that belongs to no device

// The number of bytes of an attribute's value, or 0 if it does not exist or has tokens as its
// value.
static size_t attribute_B(CUpointer_attribute attribute)
{
    switch (attribute) {
    case CU_POINTER_ATTRIBUTE_CONTEXT:
    case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
    case CU_POINTER_ATTRIBUTE_HOST_POINTER:
    case CU_POINTER_ATTRIBUTE_BUFFER_ID:
    case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
    case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
    case CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES:
    case CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE:
    case CU_POINTER_ATTRIBUTE_MAPPING_SIZE:
    case CU_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR:
    case CU_POINTER_ATTRIBUTE_MEMORY_BLOCK_ID:
        return sizeof(uint64_t);
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
    case CU_POINTER_ATTRIBUTE_SYNC_MEMOPS:
    case CU_POINTER_ATTRIBUTE_IS_MANAGED:
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
    case CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE:
    case CU_POINTER_ATTRIBUTE_MAPPED:
    case CU_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE:
    case CU_POINTER_ATTRIBUTE_ACCESS_FLAGS:
    case CU_POINTER_ATTRIBUTE_IS_HW_DECOMPRESS_CAPABLE:
        return sizeof(int);
    default:
        return 0;
    }
}

static void put_int(void *data, int value)
{
    memcpy(data, &value, sizeof value);
}

static void put_word(void *data, uint64_t value)
{
    memcpy(data, &value, sizeof value);
}

// "CU_POINTER_ATTRIBUTE_MEMORY_TYPE: … CU_MEMORYTYPE_HOST if the memory resides in the host's";
// managed memory counts as the device's.
static CUmemorytype memory_type(const struct em_allocation *a)
{
    return a->host && !em_memory_is_managed(a) ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE;
}

static void put_tokens(void *data)
{
    // "Deprecated": tokens for a kernel module, which a software card does not have.
    CUDA_POINTER_ATTRIBUTE_P2P_TOKENS tokens = {0};
    memcpy(data, &tokens, sizeof tokens.p2pToken + sizeof tokens.vaSpaceToken);
}

static uint64_t range_start(const struct em_allocation *a, uint64_t *size)
{
    uint64_t base = a->base;
    *size = a->size;
    // "the size of the memory range": for virtual memory this is the reservation, whether or not
    // all of it is mapped.
    if (a->kind == EM_MEMORY_VIRTUAL)
        em_reservation_find(a->base, &base, size);
    return base;
}

// Writes an attribute that is a property of the memory: its type, device, access and abilities.
// Returns false if the attribute does not exist. Inline, like its caller, because the calls took a
// fifth of the time of cuPointerGetAttribute.
static inline __attribute__((always_inline)) bool
known_property(CUpointer_attribute attribute, const struct em_allocation *a, void *data)
{
    switch (attribute) {
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
        put_int(data, memory_type(a));
        return true;
    case CU_POINTER_ATTRIBUTE_SYNC_MEMOPS:
        put_int(data, a->sync_memops);
        return true;
    case CU_POINTER_ATTRIBUTE_IS_MANAGED:
        put_int(data, em_memory_is_managed(a));
        return true;
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
        put_int(data, a->device);
        return true;
    case CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE:
        put_int(data, a->kind == EM_MEMORY_DEVICE);
        return true;
    case CU_POINTER_ATTRIBUTE_MAPPED:
        put_int(data, 1);
        return true;
    case CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES:
        put_word(data, a->handle_types);
        return true;
    case CU_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE:
        put_int(data, a->rdma_capable);
        return true;
    case CU_POINTER_ATTRIBUTE_ACCESS_FLAGS:
        put_int(data, (int)a->access);
        return true;
    case CU_POINTER_ATTRIBUTE_IS_HW_DECOMPRESS_CAPABLE:
        put_int(data, a->kind == EM_MEMORY_DEVICE);
        return true;
    default:
        return false;
    }
}

// Writes an attribute of memory that the driver knows. Returns false if the attribute does not
// exist. If it does not apply to this memory, *applies is false and the value written is 0.
static inline __attribute__((always_inline)) bool known_attribute(CUpointer_attribute attribute,
                                                                  const struct em_allocation *a,
                                                                  uint64_t address, void *data,
                                                                  bool *applies)
{
    uint64_t size;
    *applies = true;
    switch (attribute) {
    case CU_POINTER_ATTRIBUTE_CONTEXT:
        put_word(data, a->context ? a->context->base.object.handle : 0);
        return true;
    case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
        *applies = a->access != CU_MEM_ACCESS_FLAGS_PROT_NONE;
        put_word(data, *applies ? address : 0);
        return true;
    case CU_POINTER_ATTRIBUTE_HOST_POINTER:
        *applies = a->host != 0;
        put_word(data, *applies ? a->host + (address - a->base) : 0);
        return true;
    case CU_POINTER_ATTRIBUTE_P2P_TOKENS:
        *applies = memory_type(a) == CU_MEMORYTYPE_DEVICE;
        put_tokens(data);
        return true;
    case CU_POINTER_ATTRIBUTE_BUFFER_ID:
        put_word(data, a->id);
        return true;
    case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
        put_word(data, range_start(a, &size));
        return true;
    case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
        range_start(a, &size);
        put_word(data, size);
        return true;
    case CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE:
        put_word(data, a->pool ? a->pool->handle : 0);
        return true;
    case CU_POINTER_ATTRIBUTE_MAPPING_SIZE:
        put_word(data, a->mapping_size);
        return true;
    case CU_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR:
        put_word(data, a->mapping_base);
        return true;
    case CU_POINTER_ATTRIBUTE_MEMORY_BLOCK_ID:
        put_word(data, a->block_id);
        return true;
    default:
        return known_property(attribute, a, data);
    }
}

// Writes an attribute of memory that the driver does not know. It is the program's own memory, and
// the host uses the same address for it. Returns false if the attribute does not exist.
static bool unknown_attribute(CUpointer_attribute attribute, uint64_t address, void *data)
{
    uint64_t base, size;
    bool reserved = em_reservation_find(address, &base, &size);
    switch (attribute) {
    case CU_POINTER_ATTRIBUTE_HOST_POINTER:
        put_word(data, reserved ? 0 : address);
        return true;
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
        put_int(data, NO_DEVICE);
        return true;
    case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
        if (reserved)
            put_word(data, base);
        return true;
    case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
        if (reserved)
            put_word(data, size);
        return true;
    default:
        if (attribute_B(attribute) == sizeof(int))
            put_int(data, 0);
        else if (attribute_B(attribute))
            put_word(data, 0);
        return attribute_B(attribute) != 0;
    }
}

static CUresult fail_attribute(CUpointer_attribute attribute)
{
    return em_fail(CUDA_ERROR_INVALID_VALUE,
                   "pointer attribute %d does not exist or cannot be read by this call",
                   (int)attribute);
}

// An attribute as the bytes that the program gets.
union value {
    int number;
    uint64_t word;
};

static void put_value(CUpointer_attribute attribute, const union value *value, void *data)
{
    if (attribute_B(attribute) == sizeof(int))
        put_int(data, value->number);
    else
        put_word(data, value->word);
}

// Reads an attribute of memory that the driver knows in a shared call, which must not access the
// program's memory. Returns false if the call has to take em_lock. Precondition: em_lock held or
// shared.
static bool read_shared(CUpointer_attribute attribute, const struct em_allocation *a,
                        uint64_t address, union value *value)
{
    em_assert_readable();
    bool applies;
    return attribute != CU_POINTER_ATTRIBUTE_P2P_TOKENS &&
           known_attribute(attribute, a, address, value, &applies) && applies;
}

// Leaves `share`. Returns false if the call has to take em_lock.
static bool attribute_shared(struct em_share *share, CUpointer_attribute attribute,
                             uint64_t address, void *data)
{
    union value value;
    const struct em_allocation *a =
        em_self.current ? em_memory_find_shared(address, 0) : NULL; // else some attributes fail
    bool known = a && read_shared(attribute, a, address, &value);
    em_share_leave(share);
    if (known)
        put_value(attribute, &value, data);
    return known;
}

CUresult em_pointer_attribute(CUpointer_attribute attribute, CUdeviceptr address, void *data)
{
    struct em_allocation *a;
    bool applies = true;
    struct em_share *share = em_share_or_lock_briefly();
    if (em_unlikely(share)) {
        if (attribute_shared(share, attribute, address, data))
            return CUDA_SUCCESS;
        em_lock_briefly();
    }
    CUresult r = em_memory_get(address, 0, "ptr", CUDA_ERROR_INVALID_VALUE, &a);
    if (r) {
        em_unlock();
        return r;
    }
    // Recorded: x_extmem noctx/attributes.
    if (attribute == CU_POINTER_ATTRIBUTE_DEVICE_POINTER && !em_self.current) {
        em_unlock();
        return em_no_context();
    }
    bool exists = known_attribute(attribute, a, address, data, &applies);
    enum em_memory_kind kind = a->kind; // another thread may free `a` once the lock is released
    em_offer_sharing(NULL);
    em_unlock();
    if (!exists)
        return fail_attribute(attribute);
    if (!applies)
        return em_fail(CUDA_ERROR_INVALID_VALUE, "pointer attribute %d does not apply to %s",
                       (int)attribute, em_memory_kind_text(kind));
    return CUDA_SUCCESS;
}

enum { SHARED_MOST = 16 }; // attributes of a shared call

// Reads attributes in a shared call. Returns false if the call has to take em_lock.
static bool attributes_shared(unsigned count, const CUpointer_attribute *attributes, void **data,
                              uint64_t address, CUresult *result)
{
    CUpointer_attribute wanted[SHARED_MOST];
    union value values[SHARED_MOST];
    bool known = count <= SHARED_MOST;
    for (unsigned i = 0; i < count && known; i++) {
        wanted[i] = attributes[i];
        known = data[i];
    }
    struct em_share *share = known ? em_share_enter() : NULL;
    if (!share)
        return false;
    const struct em_allocation *a = em_memory_find_shared(address, 0);
    for (unsigned i = 0; i < count && known; i++)
        known = a && read_shared(wanted[i], a, address, &values[i]);
    em_share_leave(share);
    if (!known)
        return false;
    CUresult r = CUDA_SUCCESS;
    for (unsigned i = 0; i < count && !r; i++) {
        r = em_writable("data", data[i], attribute_B(wanted[i]));
        if (!r)
            put_value(wanted[i], &values[i], data[i]);
    }
    *result = r;
    return true;
}

// "Unlike cuPointerGetAttribute, this function will not return an error when the ptr encountered is
// not a valid CUDA pointer. Instead, the attributes are assigned default NULL values and
// CUDA_SUCCESS is returned."
CUresult em_pointer_attributes(unsigned count, const CUpointer_attribute *attributes, void **data,
                               CUdeviceptr address)
{
    CUresult r = CUDA_SUCCESS;
    bool applies;
    if (em_unlikely(em_is_sharing()) && attributes_shared(count, attributes, data, address, &r))
        return r;
    em_lock_briefly();
    struct em_allocation *a = em_memory_find(address, 0);
    for (unsigned i = 0; i < count && !r; i++) {
        // "P2P_TOKENS … cannot be used with cuPointerGetAttributes". The values before it in the
        // list have been written by then.
        if (attributes[i] == CU_POINTER_ATTRIBUTE_P2P_TOKENS)
            r = fail_attribute(attributes[i]);
        else if (!data[i])
            r = em_fail(CUDA_ERROR_INVALID_VALUE, "data[%u] is NULL", i);
        else
            r = em_writable("data", data[i], attribute_B(attributes[i]));
        if (!r && !(a ? known_attribute(attributes[i], a, address, data[i], &applies)
                      : unknown_attribute(attributes[i], address, data[i])))
            r = fail_attribute(attributes[i]);
    }
    em_offer_sharing(NULL);
    em_unlock();
    return r;
}

CUresult em_pointer_set_attribute(CUpointer_attribute attribute, CUdeviceptr address,
                                  const void *value)
{
    struct em_allocation *a;
    unsigned on;
    CUresult r = em_readable_object("value", value, sizeof on);
    if (r)
        return r;
    if (attribute != CU_POINTER_ATTRIBUTE_SYNC_MEMOPS)
        return em_fail(CUDA_ERROR_INVALID_VALUE,
                       "pointer attribute %d cannot be set; only CU_POINTER_ATTRIBUTE_SYNC_MEMOPS "
                       "(%d) can",
                       (int)attribute, (int)CU_POINTER_ATTRIBUTE_SYNC_MEMOPS);
    em_lock();
    r = em_memory_get(address, 0, "ptr", CUDA_ERROR_INVALID_VALUE, &a);
    if (!r && a->kind == EM_MEMORY_VIRTUAL)
        r = em_fail(CUDA_ERROR_NOT_SUPPORTED,
                    "ptr %#llx is in a mapping made by cuMemMap, whose "
                    "CU_POINTER_ATTRIBUTE_SYNC_MEMOPS cannot be set",
                    (unsigned long long)address);
    if (!r) {
        memcpy(&on, value, sizeof on);
        a->sync_memops = on != 0;
    }
    em_unlock();
    return r;
}
