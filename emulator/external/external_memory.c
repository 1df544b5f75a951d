// SPDX-License-Identifier: MIT
// External memory objects: checks the descriptors of imports, imports and destroys.
#include "external_memory.h"

#include "alloc.h"
#include "call.h"
#include "external_object.h"
#include "external_watch.h"
#include "journal.h"
#include "lock.h"
#include "record.h"
#include "record_content.h"
#include "exporter.h"
#include "quirk.h"
#include "vulkan_layer.h"

// The members of the union that a handle type uses, and the manual's rule about dedicated memory.
static const struct handle_rule {
    const char *name;
    enum { BY_FD, BY_HANDLE_OR_NAME, BY_HANDLE, BY_OBJECT } by;
    enum { DEDICATED_MAY, DEDICATED_MUST, DEDICATED_NEVER } dedicated;
} rules[] = {
    [CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD] = {"OPAQUE_FD", BY_FD, DEDICATED_MAY},
    [CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_WIN32] = {"OPAQUE_WIN32", BY_HANDLE_OR_NAME,
                                                     DEDICATED_MAY},
    [CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_WIN32_KMT] = {"OPAQUE_WIN32_KMT", BY_HANDLE,
                                                         DEDICATED_MAY},
    [CU_EXTERNAL_MEMORY_HANDLE_TYPE_D3D12_HEAP] = {"D3D12_HEAP", BY_HANDLE_OR_NAME, DEDICATED_MAY},
    [CU_EXTERNAL_MEMORY_HANDLE_TYPE_D3D12_RESOURCE] = {"D3D12_RESOURCE", BY_HANDLE_OR_NAME,
                                                       DEDICATED_MUST},
    [CU_EXTERNAL_MEMORY_HANDLE_TYPE_D3D11_RESOURCE] = {"D3D11_RESOURCE", BY_HANDLE_OR_NAME,
                                                       DEDICATED_MUST},
    [CU_EXTERNAL_MEMORY_HANDLE_TYPE_D3D11_RESOURCE_KMT] = {"D3D11_RESOURCE_KMT", BY_HANDLE,
                                                           DEDICATED_MUST},
    [CU_EXTERNAL_MEMORY_HANDLE_TYPE_NVSCIBUF] = {"NVSCIBUF", BY_OBJECT, DEDICATED_NEVER},
    [CU_EXTERNAL_MEMORY_HANDLE_TYPE_DMABUF_FD] = {"DMABUF_FD", BY_FD, DEDICATED_NEVER},
};

// The name of a number that is not a CUexternalMemoryHandleType but means something like it in
// another enumeration: Vulkan's handle-type bits, or CUDA's semaphore handle types.
static const char *other_enumeration(int type)
{
    switch (type) {
    case 0x10:
        return "VK_EXTERNAL_MEMORY_HANDLE_TYPE_D3D11_TEXTURE_KMT_BIT";
    case 0x20:
        return "VK_EXTERNAL_MEMORY_HANDLE_TYPE_D3D12_HEAP_BIT";
    case 0x40:
        return "VK_EXTERNAL_MEMORY_HANDLE_TYPE_D3D12_RESOURCE_BIT";
    case 0x200:
        return "VK_EXTERNAL_MEMORY_HANDLE_TYPE_DMA_BUF_BIT_EXT";
    case CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_TIMELINE_SEMAPHORE_WIN32:
        return "CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_TIMELINE_SEMAPHORE_WIN32";
    default:
        return NULL;
    }
}

static CUresult check_type(const CUDA_EXTERNAL_MEMORY_HANDLE_DESC *desc)
{
    int type = (int)desc->type;
    if (type > 0 && (size_t)type < sizeof rules / sizeof *rules)
        return CUDA_SUCCESS;
    const char *other = other_enumeration(type);
    if (other)
        return em_mistake(M09, CUDA_ERROR_INVALID_VALUE,
                          "type = %#x is %s, not a CUexternalMemoryHandleType", (unsigned)type,
                          other);
    return em_mistake(M08, CUDA_ERROR_INVALID_VALUE,
                      "type = %d is not a CUexternalMemoryHandleType", type);
}

static CUresult check_handle(const CUDA_EXTERNAL_MEMORY_HANDLE_DESC *desc,
                             const struct handle_rule *rule)
{
    const void *handle = desc->handle.win32.handle, *name = desc->handle.win32.name;
    switch (rule->by) {
    case BY_FD:
        if (desc->handle.fd < 0 && desc->type == CU_EXTERNAL_MEMORY_HANDLE_TYPE_DMABUF_FD)
            return em_mistake(M12, CUDA_ERROR_INVALID_VALUE,
                              "handle.fd = %d is not a file descriptor", desc->handle.fd);
        return CUDA_SUCCESS;
    case BY_HANDLE_OR_NAME:
        // "exactly one of win32.handle and win32.name must be non-NULL"
        if (!handle == !name)
            return em_mistake(
                M04, CUDA_ERROR_INVALID_VALUE,
                "win32.handle and win32.name are both %s; type %s takes exactly one of "
                "them",
                handle ? "set" : "NULL", rule->name);
        return CUDA_SUCCESS;
    case BY_HANDLE:
        // "win32.handle must not be NULL and win32.name must be NULL"
        if (!handle || name)
            return em_mistake(M04, CUDA_ERROR_INVALID_VALUE, "%s; type %s takes win32.handle alone",
                              name ? "win32.name is set" : "win32.handle is NULL", rule->name);
        return CUDA_SUCCESS;
    case BY_OBJECT:
        if (!desc->handle.nvSciBufObject)
            return em_mistake(M08, CUDA_ERROR_INVALID_VALUE, "nvSciBufObject is NULL");
        return CUDA_SUCCESS;
    }
    return CUDA_SUCCESS;
}

static CUresult check_dedicated(const CUDA_EXTERNAL_MEMORY_HANDLE_DESC *desc,
                                const struct handle_rule *rule)
{
    bool dedicated = desc->flags & CUDA_EXTERNAL_MEMORY_DEDICATED;
    // "this flag must be set when importing" Direct3D 12 and 11 resources
    if (rule->dedicated == DEDICATED_MUST && !dedicated)
        return em_mistake(M05, CUDA_ERROR_INVALID_VALUE,
                          "flags = %#x lack CUDA_EXTERNAL_MEMORY_DEDICATED, which type %s requires",
                          desc->flags, rule->name);
    if (rule->dedicated == DEDICATED_NEVER && dedicated)
        return em_fail(
            CUDA_ERROR_INVALID_VALUE,
            "flags = %#x have CUDA_EXTERNAL_MEMORY_DEDICATED, which type %s does not allow",
            desc->flags, rule->name);
    return CUDA_SUCCESS;
}

static CUresult check_import(const CUDA_EXTERNAL_MEMORY_HANDLE_DESC *desc)
{
    CUresult r = check_type(desc);
    if (r)
        return r;
    const struct handle_rule *rule = &rules[desc->type];
    if (desc->flags & ~CUDA_EXTERNAL_MEMORY_DEDICATED)
        return em_mistake(M08, CUDA_ERROR_INVALID_VALUE,
                          "unknown flags %#x; the only valid flag is "
                          "CUDA_EXTERNAL_MEMORY_DEDICATED (0x1)",
                          desc->flags);
    if (!desc->size)
        return em_mistake(M08, CUDA_ERROR_INVALID_VALUE, "size (0) must be greater than 0");
    if (!em_all_zero(desc->reserved, sizeof desc->reserved / sizeof *desc->reserved))
        return em_mistake(M08, CUDA_ERROR_INVALID_VALUE,
                          "reserved is not all zero; clear the descriptor before you fill it in");
    r = check_dedicated(desc, rule);
    if (!r)
        r = check_handle(desc, rule);
    if (r)
        return r;
    if (rule->by == BY_FD && em_recording_contents)
        em_record_fd(desc->handle.fd, true);
    if (rule->by != BY_FD)
        return em_mistake(M10, CUDA_ERROR_NOT_SUPPORTED, "type %s is not supported on Linux",
                          rule->name);
    return CUDA_SUCCESS;
}

static void external_finish(struct em_object *object)
{
    struct em_external *e = (struct em_external *)object;
    em_journal_end(e->journal);
    if (__builtin_expect(em_recording, 0))
        em_record_memory_end(object->handle);
    e->imported->destroyed = true;
    em_imported_unref(e->imported);
    dm_free(e);
}

CUresult em_external_import(const CUDA_EXTERNAL_MEMORY_HANDLE_DESC *desc, CUexternalMemory *out)
{
    CUresult r = check_import(desc);
    if (r)
        return r;
    em_vulkan_layer_find();
    em_lock();
    struct em_external *e = dm_calloc(1, sizeof *e);
    if (!e) {
        r = em_fail(CUDA_ERROR_OUT_OF_MEMORY, "out of host memory for an external memory object");
        goto unlock;
    }
    struct em_imported *imported;
    r = em_imported_open(em_self.current, desc, &imported);
    if (r)
        goto free_object;
    r = em_object_start(&e->object, EM_EXTERNAL_MEMORY, em_self.current, external_finish);
    if (r)
        goto drop_import;
    e->imported = imported;
    imported->number = e->object.number;
    em_owned_fd_take_known(
        &imported->owned,
        &(struct dm_fd_identity){desc->handle.fd, imported->info.dev, imported->info.ino},
        em_type_name(EM_EXTERNAL_MEMORY), e->object.number);
    e->journal = em_journal_begin(
        EM_JOURNAL_IMPORT, "CUexternalMemory #%u: %s, %llu bytes%s, payload at %#llx",
        e->object.number, imported->info.what, (unsigned long long)imported->info.size,
        imported->dedicated ? ", dedicated" : "", (unsigned long long)imported->info.payload);
    if (__builtin_expect(em_recording, 0))
        em_record_memory(
            &(struct em_record_memory){.id = e->object.handle,
                                       .kind = "imported external memory",
                                       .size_B = imported->size_B,
                                       .physical = em_record_physical(imported->physical)});
    *out = (CUexternalMemory)(uintptr_t)e->object.handle;
    goto unlock;
drop_import:
    em_imported_unref(imported);
free_object:
    dm_free(e);
unlock:
    em_unlock();
    return r;
}

CUresult em_external_get(CUexternalMemory handle, struct em_external **out)
{
    em_assert_locked();
    // A stale handle crashes the driver. If the driver survives the handle of another type, it
    // returns CUDA_ERROR_INVALID_VALUE.
    CUresult code = em_quirk(EXTERNAL_FOREIGN_CODE) && !em_handle_was((uint64_t)(uintptr_t)handle)
                        ? CUDA_ERROR_INVALID_VALUE
                        : CUDA_ERROR_INVALID_HANDLE;
    return em_object_get(EM_EXTERNAL_MEMORY, handle, code, out);
}

CUresult em_external_destroy(CUexternalMemory handle)
{
    struct em_external *e;
    em_lock();
    CUresult r = CUDA_SUCCESS;
    if (!em_object_peek(EM_EXTERNAL_MEMORY, (uint64_t)(uintptr_t)handle)) {
        char text[256];
        r = em_mistake(B08, CUDA_ERROR_INVALID_HANDLE, "extMem is not a CUexternalMemory: %s",
                       em_handle_text((uint64_t)(uintptr_t)handle, text, sizeof text));
    } else {
        r = em_external_get(handle, &e);
    }
    if (!r) {
        if (e->imported->references == 1) // no mapping is left
            em_owned_fd_check_end(&e->imported->owned);
        else
            em_owned_fd_check(&e->imported->owned);
        em_external_watch_destroyed(e->imported);
        em_object_retire(&e->object);
    }
    em_unlock();
    return r;
}
