// SPDX-License-Identifier: MIT
// Mipmapped arrays mapped on external memory.
#include "external_memory.h"

#include "alloc.h"
#include "array.h"
#include "call.h"
#include "config.h"
#include "context.h"
#include "external_object.h"
#include "journal.h"
#include "lock.h"
#include "exporter.h"
#include "quirk.h"

struct mapped_storage {
    struct em_storage storage;
    struct em_imported *imported;
    uint32_t journal;
    uint64_t offset;
    bool said_unflushed;
};

// Watches memory whose exporter must flush its host writes, or whose exporter's order is checked.
static bool begin_access(struct em_access *access)
{
    const struct em_storage *storage = access->owner;
    struct mapped_storage *s = storage->owner;
    struct dm_layout_box box = {.level = access->level,
                                .x_B = access->at.x_B,
                                .y = access->at.y,
                                .z = access->at.z,
                                .width_B = access->extent.width_B,
                                .height = access->extent.height,
                                .depth = access->extent.depth};
    uint64_t first, end;
    em_exporter_check_turns(s->imported);
    if (!em_access_writes(access) && !dm_layout_span(&storage->layout, &box, &first, &end))
        em_exporter_check_read(s->imported, s->offset + first, s->offset + end, &s->said_unflushed);
    return false;
}

static const struct em_watch_ops watch_ops = {.begin = begin_access};

static void storage_release(struct em_storage *storage)
{
    struct mapped_storage *s = storage->owner;
    em_journal_end(s->journal);
    em_imported_unref(s->imported);
    dm_free(s);
}

// Whether a dedicated allocation of the exporter can have been made for an image of this size.
// Exporters round up by a few cache lines.
static bool image_fills(const struct em_imported *imported, uint64_t total_B)
{
    const uint64_t slack_B = 256;
    return total_B <= imported->physical->size && imported->physical->size - total_B < slack_B;
}

// The number of bytes that the same image would take with another number of levels, or (`layered`)
// with its slices as layers. 0 if no such image exists.
static uint64_t other_total(const struct em_imported *imported, const struct em_array_plan *plan,
                            unsigned levels, bool layered)
{
    struct dm_layout other;
    struct dm_layout_desc d = dm_layout_describe(&plan->layout);
    if (layered) {
        d.layers = d.depth;
        d.depth = 0;
    }
    d.levels = levels;
    return dm_layout_init(&other, &d) ? 0 : other.total_B;
}

static bool is_misaligned(const CUDA_EXTERNAL_MEMORY_MIPMAPPED_ARRAY_DESC *desc,
                          const struct em_array_plan *plan)
{
    return plan->layout.kind == DM_LAYOUT_BLOCK_LINEAR && desc->offset % DM_GOB_B;
}

// Finds mistakes that the driver accepts and that show only as wrong pixels. A dedicated allocation
// holds exactly one image, so its size shows whether the descriptor describes that image.
static void look_at_image(const struct em_imported *imported,
                          const CUDA_EXTERNAL_MEMORY_MIPMAPPED_ARRAY_DESC *desc,
                          const struct em_array_plan *plan)
{
    bool layered = plan->desc.Flags & (CUDA_ARRAY3D_LAYERED | CUDA_ARRAY3D_CUBEMAP);
    if (plan->desc.Depth == 1 && !layered)
        em_mistake(
            I01, CUDA_SUCCESS,
            "Depth is 1 without CUDA_ARRAY3D_LAYERED, which is a 3D array of one slice; a 2D "
            "array has Depth 0");
    if (em_exporter_check_mipmap(imported, desc, plan))
        return;
    // The manual: "the offset … must be suitably aligned". The driver maps it nevertheless, and the
    // first use of the array ends the context.
    if (is_misaligned(desc, plan))
        em_mistake(
            I11, CUDA_SUCCESS,
            "offset (%llu) is not a multiple of %u: on a card, the first use of such an array "
            "fails with CUDA_ERROR_LAUNCH_FAILED",
            desc->offset, DM_GOB_B);
    if (!imported->dedicated || imported->info.kind != DM_FD_MESA ||
        image_fills(imported, plan->layout.total_B))
        return;
    if (plan->layout.dimensions == 3 &&
        image_fills(imported, other_total(imported, plan, plan->levels, true))) {
        em_mistake(I02, CUDA_SUCCESS,
                   "Depth (%zu) without CUDA_ARRAY3D_LAYERED takes %llu bytes, but the memory has "
                   "%llu, which is the size of %zu layers",
                   plan->desc.Depth, (unsigned long long)plan->layout.total_B,
                   (unsigned long long)imported->physical->size, plan->desc.Depth);
        return;
    }
    uint32_t most =
        dm_layout_levels_most(plan->desc.Width, plan->desc.Height, layered ? 0 : plan->desc.Depth);
    for (uint32_t levels = 1; levels <= most; levels++) {
        if (levels == plan->levels ||
            !image_fills(imported, other_total(imported, plan, levels, false)))
            continue;
        em_mistake(I05, CUDA_SUCCESS,
                   "numLevels (%u) takes %llu bytes, but the memory has %llu, which is the size of "
                   "%u levels",
                   desc->numLevels, (unsigned long long)plan->layout.total_B,
                   (unsigned long long)imported->physical->size, levels);
        return;
    }
}

// The number of bytes of the object that may be mapped.
static uint64_t mappable_B(const struct em_imported *imported)
{
    return imported->size_B < imported->physical->size ? imported->size_B
                                                       : imported->physical->size;
}

static CUresult check_mipmap(const struct em_device *device, const struct em_imported *imported,
                             const CUDA_EXTERNAL_MEMORY_MIPMAPPED_ARRAY_DESC *desc,
                             struct em_array_plan *plan)
{
    const uint64_t have_B = mappable_B(imported);
    // The offset counts before a format that surfaces cannot have (recorded: random_arrays,
    // mapped).
    if (desc->offset >= have_B && imported->info.kind != DM_FD_DMABUF)
        return em_mistake(I11, CUDA_ERROR_INVALID_VALUE,
                          "offset (%llu) is not inside CUexternalMemory #%u, which has %llu bytes",
                          desc->offset, imported->number, (unsigned long long)have_B);
    CUresult r = em_array_plan(device, &desc->arrayDesc, desc->numLevels, EM_MIPMAP_EXTERNAL,
                               em_imported_layout(imported), plan);
    if (r)
        return r;
    if (!em_all_zero(desc->reserved, sizeof desc->reserved / sizeof *desc->reserved))
        return em_fail(CUDA_ERROR_INVALID_VALUE,
                       "reserved is not all zero; clear the descriptor before you fill it in");
    // The driver does not know the layout of an image in a dma-buf.
    if (imported->info.kind == DM_FD_DMABUF)
        return em_fail(
            CUDA_ERROR_NOT_SUPPORTED,
            "CUexternalMemory #%u is a dma-buf, on which buffers can be mapped but not arrays",
            imported->number);
    if (plan->least_B > have_B - desc->offset)
        return em_mistake(I11, CUDA_ERROR_INVALID_VALUE,
                          "offset (%llu) + the array's size (%llu bytes for %llux%llux%llu with %u "
                          "levels) exceeds CUexternalMemory #%u, which has %llu bytes",
                          desc->offset, (unsigned long long)plan->layout.total_B,
                          (unsigned long long)desc->arrayDesc.Width,
                          (unsigned long long)desc->arrayDesc.Height,
                          (unsigned long long)desc->arrayDesc.Depth, desc->numLevels,
                          imported->number, (unsigned long long)have_B);
    if (imported->dedicated && desc->offset)
        return em_mistake(M06, CUDA_ERROR_INVALID_VALUE,
                          "offset (%llu) must be 0 in memory that was imported with "
                          "CUDA_EXTERNAL_MEMORY_DEDICATED",
                          desc->offset);
    look_at_image(imported, desc, plan);
    return CUDA_SUCCESS;
}

CUresult em_external_map_mipmap(CUexternalMemory handle,
                                const CUDA_EXTERNAL_MEMORY_MIPMAPPED_ARRAY_DESC *desc,
                                CUmipmappedArray *out)
{
    struct em_external *e;
    struct em_array_plan plan;
    uint64_t window;
    em_lock();
    CUresult r = em_external_get(handle, &e);
    if (!r)
        r = check_mipmap(e->object.context->device, e->imported, desc, &plan);
    if (r)
        goto unlock;
    em_owned_fd_check(&e->imported->owned);
    r = em_imported_window(e->imported, &window);
    if (r)
        goto unlock;
    struct mapped_storage *s = dm_calloc(1, sizeof *s);
    if (!s) {
        r = em_fail(CUDA_ERROR_OUT_OF_MEMORY, "out of host memory for a mapped array");
        goto unlock;
    }
    uint64_t rest_B = mappable_B(e->imported) - desc->offset,
             size_B = plan.layout.total_B < rest_B ? plan.layout.total_B : rest_B;
    s->imported = e->imported;
    s->offset = desc->offset;
    s->storage = (struct em_storage){
        .references = 1,
        .layout = plan.layout,
        .address = window + desc->offset,
        .size_B = size_B,
        .may_fault = e->imported->physical->may_shrink || !e->imported->physical->writable,
        .mapped = true,
        .owner = s,
        .release = storage_release,
        .watch = em_exporter_watches(e->imported) ? &watch_ops : NULL,
    };
    em_imported_ref(e->imported);
    char resource[256] = "";
    if (em_config()->report)
        em_exporter_text(e->imported, desc->offset, size_B, resource, sizeof resource);
    s->journal = em_journal_begin(
        EM_JOURNAL_MIPMAP,
        "mipmapped array of CUexternalMemory #%u: offset %llu, %llux%llux%llu, %u levels, %llu "
        "bytes at %#llx%s",
        e->object.number, desc->offset, (unsigned long long)desc->arrayDesc.Width,
        (unsigned long long)desc->arrayDesc.Height, (unsigned long long)desc->arrayDesc.Depth,
        desc->numLevels, (unsigned long long)plan.layout.total_B,
        (unsigned long long)(window + desc->offset), resource);
    r = em_mipmap_start(e->object.context, &plan, &s->storage, out);
unlock:
    em_unlock();
    return r;
}
