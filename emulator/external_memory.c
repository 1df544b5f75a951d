// SPDX-License-Identifier: MIT
// The manual's chapter "External Resource Interoperability", memory half.
#include "external_memory.h"

#include <string.h>

#include "alloc.h"
#include "array.h"
#include "call.h"
#include "device.h"
#include "external_shared.h"
#include "external_watch.h"
#include "imported.h"
#include "journal.h"
#include "lock.h"
#include "memory_device.h"
#include "producer.h"
#include "quirk.h"

struct em_external {
    struct em_object object; // type EM_EXTERNAL_MEMORY
    struct em_imported *imported;
    uint32_t journal;
};

static bool all_zero(const unsigned *words, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (words[i])
            return false;
    return true;
}

// ---- import

// Which of the union's members a handle type uses, and what else the manual says of it.
static const struct handle_rule {
    const char *name;
    enum { BY_FD, BY_HANDLE_OR_NAME, BY_HANDLE, BY_OBJECT } by;
    enum { DEDICATED_MAY, DEDICATED_MUST, DEDICATED_NEVER } dedicated;
} rules[] = {
    [CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD] = {"OPAQUE_FD", BY_FD, DEDICATED_MAY},
    [CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_WIN32] = {"OPAQUE_WIN32", BY_HANDLE_OR_NAME, DEDICATED_MAY},
    [CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_WIN32_KMT] = {"OPAQUE_WIN32_KMT", BY_HANDLE, DEDICATED_MAY},
    [CU_EXTERNAL_MEMORY_HANDLE_TYPE_D3D12_HEAP] = {"D3D12_HEAP", BY_HANDLE_OR_NAME, DEDICATED_MAY},
    [CU_EXTERNAL_MEMORY_HANDLE_TYPE_D3D12_RESOURCE] = {"D3D12_RESOURCE", BY_HANDLE_OR_NAME, DEDICATED_MUST},
    [CU_EXTERNAL_MEMORY_HANDLE_TYPE_D3D11_RESOURCE] = {"D3D11_RESOURCE", BY_HANDLE_OR_NAME, DEDICATED_MUST},
    [CU_EXTERNAL_MEMORY_HANDLE_TYPE_D3D11_RESOURCE_KMT] = {"D3D11_RESOURCE_KMT", BY_HANDLE, DEDICATED_MUST},
    [CU_EXTERNAL_MEMORY_HANDLE_TYPE_NVSCIBUF] = {"NVSCIBUF", BY_OBJECT, DEDICATED_NEVER},
    [CU_EXTERNAL_MEMORY_HANDLE_TYPE_DMABUF_FD] = {"DMABUF_FD", BY_FD, DEDICATED_NEVER},
};

// A number that another enumeration gives the same meaning: Vulkan's handle-type bits, and CUDA's semaphore handle types.
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
        return em_mistake(M09, CUDA_ERROR_INVALID_VALUE, "type = %#x is %s, not a CUexternalMemoryHandleType", (unsigned)type, other);
    return em_mistake(M08, CUDA_ERROR_INVALID_VALUE, "type = %d is not a CUexternalMemoryHandleType", type);
}

static CUresult check_handle(const CUDA_EXTERNAL_MEMORY_HANDLE_DESC *desc, const struct handle_rule *rule)
{
    const void *handle = desc->handle.win32.handle, *name = desc->handle.win32.name;
    switch (rule->by) {
    case BY_FD:
        if (desc->handle.fd < 0 && desc->type == CU_EXTERNAL_MEMORY_HANDLE_TYPE_DMABUF_FD)
            return em_mistake(M12, CUDA_ERROR_INVALID_VALUE, "handle.fd = %d is no file descriptor", desc->handle.fd);
        return CUDA_SUCCESS;
    case BY_HANDLE_OR_NAME:
        // "exactly one of win32.handle and win32.name must be non-NULL"
        if (!handle == !name)
            return em_mistake(M04, CUDA_ERROR_INVALID_VALUE, "type %s takes either win32.handle or win32.name, and %s", rule->name,
                              handle ? "both are set" : "neither is set");
        return CUDA_SUCCESS;
    case BY_HANDLE:
        // "win32.handle must not be NULL and win32.name must be NULL"
        if (!handle || name)
            return em_mistake(M04, CUDA_ERROR_INVALID_VALUE, "type %s takes win32.handle alone, and %s", rule->name,
                              name ? "win32.name is set" : "it is NULL");
        return CUDA_SUCCESS;
    case BY_OBJECT:
        if (!desc->handle.nvSciBufObject)
            return em_mistake(M08, CUDA_ERROR_INVALID_VALUE, "nvSciBufObject is NULL");
        return CUDA_SUCCESS;
    }
    return CUDA_SUCCESS;
}

static CUresult check_dedicated(const CUDA_EXTERNAL_MEMORY_HANDLE_DESC *desc, const struct handle_rule *rule)
{
    bool dedicated = desc->flags & CUDA_EXTERNAL_MEMORY_DEDICATED;
    // "this flag must be set when importing" Direct3D 12 and 11 resources
    if (rule->dedicated == DEDICATED_MUST && !dedicated)
        return em_mistake(M05, CUDA_ERROR_INVALID_VALUE, "type %s without CUDA_EXTERNAL_MEMORY_DEDICATED in flags", rule->name);
    if (rule->dedicated == DEDICATED_NEVER && dedicated)
        return em_fail(CUDA_ERROR_INVALID_VALUE, "type %s does not take CUDA_EXTERNAL_MEMORY_DEDICATED", rule->name);
    return CUDA_SUCCESS;
}

static CUresult check_import(const CUDA_EXTERNAL_MEMORY_HANDLE_DESC *desc)
{
    CUresult r = check_type(desc);
    if (r)
        return r;
    const struct handle_rule *rule = &rules[desc->type];
    if (desc->flags & ~CUDA_EXTERNAL_MEMORY_DEDICATED)
        return em_mistake(M08, CUDA_ERROR_INVALID_VALUE, "flags = %#x has bits other than CUDA_EXTERNAL_MEMORY_DEDICATED", desc->flags);
    if (!desc->size)
        return em_mistake(M08, CUDA_ERROR_INVALID_VALUE, "size = 0");
    if (!all_zero(desc->reserved, sizeof desc->reserved / sizeof *desc->reserved))
        return em_mistake(M08, CUDA_ERROR_INVALID_VALUE, "reserved is not all zero: the descriptor was not cleared");
    if ((r = check_dedicated(desc, rule)) || (r = check_handle(desc, rule)))
        return r;
    if (rule->by != BY_FD)
        return em_mistake(M10, CUDA_ERROR_NOT_SUPPORTED, "type %s does not exist on this platform", rule->name);
    return CUDA_SUCCESS;
}

static void external_finish(struct em_object *object)
{
    struct em_external *e = (struct em_external *)object;
    em_journal_end(e->journal);
    e->imported->destroyed = true;
    em_imported_unref(e->imported);
    dm_free(e);
}

CUresult em_external_import(const CUDA_EXTERNAL_MEMORY_HANDLE_DESC *desc, CUexternalMemory *out)
{
    CUresult r = check_import(desc);
    if (r)
        return r;
    em_producer_find();
    em_lock();
    struct em_external *e = dm_calloc(1, sizeof *e);
    if (!e) {
        r = em_fail(CUDA_ERROR_OUT_OF_MEMORY, "no host memory for an external memory object");
        goto unlock;
    }
    struct em_imported *imported;
    if ((r = em_imported_open(em_self.current, desc, &imported)))
        goto free_object;
    if ((r = em_object_start(&e->object, EM_EXTERNAL_MEMORY, em_self.current, external_finish)))
        goto drop_import;
    e->imported = imported;
    imported->number = e->object.number;
    em_imported_take_fd(imported, desc->handle.fd);
    e->journal = em_journal_begin(EM_JOURNAL_IMPORT, "CUexternalMemory #%u: %s, %llu bytes%s, payload at %#llx", e->object.number,
                                  imported->info.what, (unsigned long long)imported->info.size, imported->dedicated ? ", dedicated" : "",
                                  (unsigned long long)imported->info.payload);
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

// The object behind a CUexternalMemory. Precondition: em_lock held.
static CUresult get_external(CUexternalMemory handle, struct em_external **out)
{
    // A stale handle crashes the driver; a foreign one is CUDA_ERROR_INVALID_VALUE where it survives it.
    CUresult code =
        em_quirk(EXTERNAL_FOREIGN_CODE) && !em_handle_was((uint64_t)(uintptr_t)handle) ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_INVALID_HANDLE;
    return em_object_get(EM_EXTERNAL_MEMORY, handle, code, out);
}

CUresult em_external_destroy(CUexternalMemory handle)
{
    struct em_external *e;
    em_lock();
    CUresult r = CUDA_SUCCESS;
    if (!em_object_peek(EM_EXTERNAL_MEMORY, (uint64_t)(uintptr_t)handle)) {
        char text[256];
        r = em_mistake(B08, CUDA_ERROR_INVALID_HANDLE, "not a CUexternalMemory: %s", em_handle_text((uint64_t)(uintptr_t)handle, text, sizeof text));
    } else if (!(r = get_external(handle, &e))) {
        em_imported_check_fd(e->imported);
        em_external_watch_destroyed(e->imported);
        em_object_retire(&e->object);
    }
    em_unlock();
    return r;
}

// ---- buffers

static void mapping_release(struct em_allocation *allocation)
{
    struct em_external_mapping *m = allocation->owner;
    em_external_unwatch(m);
    em_journal_end(m->journal);
    em_imported_unmap(m->imported, allocation->base);
    em_imported_unref(m->imported);
    dm_free(m);
}

// A buffer of this many bytes fits into no address space.
#define ADDRESSES (UINT64_C(1) << 47)

static CUresult past_the_end(const struct em_imported *imported, CUresult code, uint64_t offset, uint64_t size)
{
    return em_mistake(B01, code,
                      "offset %llu + size %llu is past the end of CUexternalMemory #%u, which was imported with %llu bytes and really "
                      "has %llu",
                      (unsigned long long)offset, (unsigned long long)size, imported->number, (unsigned long long)imported->size_B,
                      (unsigned long long)imported->physical->size);
}

// Whether [offset, offset + size) lies in the object. The driver adds without a check, looks at the size that the program claimed, looks for
// addresses, rounds to pages of 64 KiB, and only then at the memory that is really there.
static CUresult check_range(const struct em_imported *imported, uint64_t offset, uint64_t size)
{
    bool as_driver = em_quirk(BUFFER_RANGE_WRAPS);
    uint64_t end = offset + size, rounded;
    if (end < offset) {
        bool into_it = offset < imported->size_B && end <= imported->size_B && size >= ADDRESSES;
        return em_mistake(B02, as_driver && into_it ? CUDA_ERROR_OUT_OF_MEMORY : CUDA_ERROR_INVALID_VALUE,
                          "offset %llu + size %llu wraps around 64 bits", (unsigned long long)offset, (unsigned long long)size);
    }
    if (end > imported->size_B)
        return past_the_end(imported, CUDA_ERROR_INVALID_VALUE, offset, size);
    if (as_driver && size >= ADDRESSES)
        return past_the_end(imported, CUDA_ERROR_OUT_OF_MEMORY, offset, size);
    if (as_driver && !em_round_up(end, 64 << 10, &rounded))
        return past_the_end(imported, CUDA_ERROR_UNKNOWN, offset, size);
    if (end > imported->physical->size)
        return past_the_end(imported, CUDA_ERROR_INVALID_VALUE, offset, size);
    return CUDA_SUCCESS;
}

static CUresult check_buffer(const struct em_imported *imported, const CUDA_EXTERNAL_MEMORY_BUFFER_DESC *desc)
{
    // "flags must be zero"
    if (desc->flags)
        return em_mistake(B03, CUDA_ERROR_INVALID_VALUE, "flags = %#x", desc->flags);
    if (!all_zero(desc->reserved, sizeof desc->reserved / sizeof *desc->reserved))
        return em_fail(CUDA_ERROR_INVALID_VALUE, "reserved is not all zero: the descriptor was not cleared");
    if (!desc->size)
        return em_fail(CUDA_ERROR_INVALID_VALUE, "size = 0");
    // A dedicated allocation belongs to one resource, which is bound at its start.
    if (imported->dedicated && desc->offset)
        return em_mistake(M06, CUDA_ERROR_INVALID_VALUE, "offset %llu in memory that was imported with CUDA_EXTERNAL_MEMORY_DEDICATED", desc->offset);
    CUresult r = check_range(imported, desc->offset, desc->size);
    if (r)
        return r;
    // "The offset and size have to be suitably aligned to match the requirements of the external API"; none asks for less than this.
    const unsigned least_alignment = 16;
    if (desc->offset % least_alignment)
        em_mistake(B04, CUDA_SUCCESS, "offset %llu is not a multiple of %u: no external API places a buffer there", desc->offset, least_alignment);
    return CUDA_SUCCESS;
}

CUresult em_external_map_buffer(CUexternalMemory handle, const CUDA_EXTERNAL_MEMORY_BUFFER_DESC *desc, CUdeviceptr *out)
{
    struct em_external *e;
    em_lock();
    CUresult r = get_external(handle, &e);
    if (r || (r = check_buffer(e->imported, desc)))
        goto unlock;
    em_imported_check_fd(e->imported);
    // "Mapping two buffers whose ranges overlap may or may not result in the same virtual address being returned for the overlapped portion."
    if (em_config()->overlap == EM_OVERLAP_SAME) {
        uint64_t address = 0;
        r = em_external_map_shared(e->object.context, e->imported, desc->offset, desc->size, &address);
        if (!r)
            *out = address;
        goto unlock;
    }
    struct em_external_mapping *m = dm_calloc(1, sizeof *m);
    if (!m) {
        r = em_fail(CUDA_ERROR_OUT_OF_MEMORY, "no host memory for a mapping");
        goto unlock;
    }
    m->imported = e->imported;
    m->offset = desc->offset;
    m->allocation = (struct em_allocation){
        .size = desc->size,
        .kind = EM_MEMORY_IMPORTED,
        .context = e->object.context,
        .device = e->object.context->device->ordinal,
        .physical = e->imported->physical,
        .physical_offset = desc->offset,
        .owner = m,
        .release = mapping_release,
    };
    if ((r = em_imported_map(e->imported, desc->offset, desc->size, &m->allocation.base)))
        goto free_mapping;
    if ((r = em_memory_enter(&m->allocation)))
        goto unmap;
    em_imported_ref(e->imported);
    em_external_watch(m);
    char behind[256] = "";
    if (em_config()->report)
        em_producer_text(e->imported, desc->offset, desc->size, behind, sizeof behind);
    m->journal = em_journal_begin(EM_JOURNAL_BUFFER, "buffer of CUexternalMemory #%u: offset %llu, %llu bytes at %#llx%s", e->object.number,
                                  desc->offset, desc->size, (unsigned long long)m->allocation.base, behind);
    *out = m->allocation.base;
    goto unlock;
unmap:
    em_imported_unmap(e->imported, m->allocation.base);
free_mapping:
    dm_free(m);
unlock:
    em_unlock();
    return r;
}

// ---- mipmapped arrays

struct mapped_storage {
    struct em_storage storage;
    struct em_imported *imported;
    uint32_t journal;
    uint64_t offset;
    bool said_unflushed;
};

// Told of copies where the host's writes need a flush.
static void storage_watch(struct em_storage *storage, uint32_t level, const struct dm_position *at, const struct dm_box_extent *extent,
                          enum em_touch touch)
{
    struct mapped_storage *s = storage->owner;
    uint64_t first = dm_layout_locate_B(&storage->layout, level, at->x_B, at->y, at->z);
    uint64_t last = dm_layout_locate_B(&storage->layout, level, at->x_B + extent->width_B - 1, at->y + extent->height - 1, at->z + extent->depth - 1);
    if (touch == EM_TOUCH_READ && first != DM_LAYOUT_NOWHERE && last != DM_LAYOUT_NOWHERE)
        em_producer_look_at_read(s->imported, s->offset + first, s->offset + last + 1, &s->said_unflushed);
}

static void storage_release(struct em_storage *storage)
{
    struct mapped_storage *s = storage->owner;
    em_journal_end(s->journal);
    em_imported_unref(s->imported);
    dm_free(s);
}

// Whether an image of so many bytes is what a dedicated allocation of the producer was made for: producers round up by a few cache lines.
static bool fills(const struct em_imported *imported, uint64_t total_B)
{
    const uint64_t slack_B = 256;
    return total_B <= imported->physical->size && imported->physical->size - total_B < slack_B;
}

// The number of bytes that the same image would take with other levels or flags; 0 where there is none such.
static uint64_t other_total(const struct em_imported *imported, const struct em_array_plan *plan, unsigned levels, bool layered)
{
    const struct dm_layout *had = &plan->layout;
    struct dm_layout other;
    uint64_t depth = had->dimensions == 3 ? had->level[0].depth : 0;
    struct dm_layout_desc d = {
        .kind = had->kind,
        .element_B = had->element_B,
        .block_px = had->block_px,
        .width_px = plan->desc.Width,
        .height_px = plan->desc.Height,
        .depth = layered ? 0 : depth,
        .layers = layered        ? depth
                  : had->layered ? had->layers
                                 : 0,
        .levels = levels,
        .cube = had->cube,
    };
    return dm_layout_init(&other, &d) ? 0 : other.total_B;
}

static bool is_misaligned(const CUDA_EXTERNAL_MEMORY_MIPMAPPED_ARRAY_DESC *desc, const struct em_array_plan *plan)
{
    return plan->layout.kind == DM_LAYOUT_BLOCK_LINEAR && desc->offset % DM_GOB_B;
}

// Mistakes that the driver lets pass and that show only as wrong pixels. A dedicated allocation holds one image and nothing else, so that its size
// tells whether the descriptor describes that image.
static void look_at_image(const struct em_imported *imported, const CUDA_EXTERNAL_MEMORY_MIPMAPPED_ARRAY_DESC *desc, const struct em_array_plan *plan)
{
    bool layered = plan->desc.Flags & (CUDA_ARRAY3D_LAYERED | CUDA_ARRAY3D_CUBEMAP);
    if (plan->desc.Depth == 1 && !layered)
        em_mistake(I01, CUDA_SUCCESS, "Depth 1 without CUDA_ARRAY3D_LAYERED: a 3D array of one slice");
    if (em_producer_look_at_mipmap(imported, desc, plan))
        return;
    // The manual: "the offset … must be suitably aligned". The card maps it all the same, and its first use kills the context.
    if (is_misaligned(desc, plan))
        em_mistake(I11, CUDA_SUCCESS, "offset %llu is no multiple of %u: the first use of such an array fails with CUDA_ERROR_LAUNCH_FAILED",
                   desc->offset, DM_GOB_B);
    if (!imported->dedicated || imported->info.kind != DM_FD_MESA || fills(imported, plan->layout.total_B))
        return;
    if (plan->layout.dimensions == 3 && fills(imported, other_total(imported, plan, plan->levels, true))) {
        em_mistake(I02, CUDA_SUCCESS, "Depth %zu without CUDA_ARRAY3D_LAYERED takes %llu bytes; the memory has %llu, as %zu layers do",
                   plan->desc.Depth, (unsigned long long)plan->layout.total_B, (unsigned long long)imported->physical->size, plan->desc.Depth);
        return;
    }
    uint32_t most = dm_layout_levels_most(plan->desc.Width, plan->desc.Height, layered ? 0 : plan->desc.Depth);
    for (uint32_t levels = 1; levels <= most; levels++) {
        if (levels == plan->levels || !fills(imported, other_total(imported, plan, levels, false)))
            continue;
        em_mistake(I05, CUDA_SUCCESS, "numLevels = %u takes %llu bytes; the memory has %llu, as %u levels do", desc->numLevels,
                   (unsigned long long)plan->layout.total_B, (unsigned long long)imported->physical->size, levels);
        return;
    }
}

// Bytes of the object that may be mapped.
static uint64_t bytes_of(const struct em_imported *imported)
{
    return imported->size_B < imported->physical->size ? imported->size_B : imported->physical->size;
}

static CUresult check_mipmap(const struct em_device *device, const struct em_imported *imported,
                             const CUDA_EXTERNAL_MEMORY_MIPMAPPED_ARRAY_DESC *desc, struct em_array_plan *plan)
{
    CUresult r = em_array_plan(device, &desc->arrayDesc, desc->numLevels, EM_MIPMAP_EXTERNAL, em_imported_layout(imported), plan);
    if (r)
        return r;
    if (!all_zero(desc->reserved, sizeof desc->reserved / sizeof *desc->reserved))
        return em_fail(CUDA_ERROR_INVALID_VALUE, "reserved is not all zero: the descriptor was not cleared");
    // Dma-bufs carry no layout of an image that the driver knows.
    if (imported->info.kind == DM_FD_DMABUF)
        return em_fail(CUDA_ERROR_NOT_SUPPORTED, "CUexternalMemory #%u is a dma-buf: buffers can be mapped on it, arrays cannot", imported->number);
    uint64_t have_B = bytes_of(imported);
    if (desc->offset > have_B || plan->least_B > have_B - desc->offset)
        return em_mistake(I11, CUDA_ERROR_INVALID_VALUE,
                          "%llux%llux%llu with %u levels takes %llu bytes from offset %llu on, and CUexternalMemory "
                          "#%u has %llu",
                          (unsigned long long)desc->arrayDesc.Width, (unsigned long long)desc->arrayDesc.Height,
                          (unsigned long long)desc->arrayDesc.Depth, desc->numLevels, (unsigned long long)plan->layout.total_B, desc->offset,
                          imported->number, (unsigned long long)have_B);
    if (imported->dedicated && desc->offset)
        return em_mistake(M06, CUDA_ERROR_INVALID_VALUE, "offset %llu in memory that was imported with CUDA_EXTERNAL_MEMORY_DEDICATED", desc->offset);
    look_at_image(imported, desc, plan);
    return CUDA_SUCCESS;
}

CUresult em_external_map_mipmap(CUexternalMemory handle, const CUDA_EXTERNAL_MEMORY_MIPMAPPED_ARRAY_DESC *desc, CUmipmappedArray *out)
{
    struct em_external *e;
    struct em_array_plan plan;
    uint64_t window;
    em_lock();
    CUresult r = get_external(handle, &e);
    if (r || (r = check_mipmap(e->object.context->device, e->imported, desc, &plan)))
        goto unlock;
    em_imported_check_fd(e->imported);
    if ((r = em_imported_window(e->imported, &window)))
        goto unlock;
    struct mapped_storage *s = dm_calloc(1, sizeof *s);
    if (!s) {
        r = em_fail(CUDA_ERROR_OUT_OF_MEMORY, "no host memory for a mapped array");
        goto unlock;
    }
    uint64_t behind_B = bytes_of(e->imported) - desc->offset, size_B = plan.layout.total_B < behind_B ? plan.layout.total_B : behind_B;
    s->imported = e->imported;
    s->offset = desc->offset;
    s->storage = (struct em_storage){
        .references = 1,
        .layout = plan.layout,
        .address = window + desc->offset,
        .size_B = size_B,
        .foreign = true,
        .misaligned = is_misaligned(desc, &plan),
        .owner = s,
        .release = storage_release,
        .watch = em_producer_needs_flush(e->imported) ? storage_watch : NULL,
    };
    em_imported_ref(e->imported);
    char behind[256] = "";
    if (em_config()->report)
        em_producer_text(e->imported, desc->offset, size_B, behind, sizeof behind);
    s->journal =
        em_journal_begin(EM_JOURNAL_MIPMAP, "mipmapped array of CUexternalMemory #%u: offset %llu, %llux%llux%llu, %u levels, %llu bytes at %#llx%s",
                         e->object.number, desc->offset, (unsigned long long)desc->arrayDesc.Width, (unsigned long long)desc->arrayDesc.Height,
                         (unsigned long long)desc->arrayDesc.Depth, desc->numLevels, (unsigned long long)plan.layout.total_B,
                         (unsigned long long)(window + desc->offset), behind);
    r = em_mipmap_start(e->object.context, &plan, &s->storage, out);
unlock:
    em_unlock();
    return r;
}
