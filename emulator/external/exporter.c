// SPDX-License-Identifier: MIT
// Compares the descriptors of imports and mappings with the facts that the exporting program gave
// Vulkan.
#include "exporter.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "alloc.h"
#include "call.h"
#include "order.h"
#include "vulkan_layer.h"

static bool read_facts(const struct em_imported *imported, struct dm_vulkan_facts *facts)
{
    struct stat st;
    enum dm_vulkan_facts_place place = dm_vulkan_facts_place(&imported->info);
    if (place != DM_VULKAN_FACTS_IN_ATTRIBUTE && em_file_is_bare(imported->file, NULL))
        return false;
    const int fd = dm_physical_fd(imported->physical);
    if (fd < 0 || dm_sys_stat(fd, &st))
        return false; // the program has closed the driver's descriptor
    if (em_file_is_bare(imported->file, &st.st_ctim))
        return false;
    int status = dm_vulkan_facts_read(fd, &imported->info, facts);
    if (status == -ENODATA)
        em_file_note_bare(imported->file, &st.st_ctim);
    return !status;
}

// ---- import

void em_exporter_check_import(struct em_imported *imported, int fd)
{
    em_assert_locked();
    struct dm_vulkan_facts facts;
    if (em_file_is_bare(imported->file, &imported->info.changed) || !read_facts(imported, &facts))
        return;
    imported->needs_flush =
        facts.flags & DM_VULKAN_HOST_VISIBLE && !(facts.flags & DM_VULKAN_HOST_COHERENT);
    unsigned long long memory = facts.memory;
    bool dedicated = facts.flags & DM_VULKAN_DEDICATED;
    if (dedicated != imported->dedicated)
        em_mistake(
            M06, CUDA_SUCCESS,
            "flags %s CUDA_EXTERNAL_MEMORY_DEDICATED, but VkDeviceMemory %#llx was allocated %s "
            "VkMemoryDedicatedAllocateInfo",
            imported->dedicated ? "have" : "lack", memory, dedicated ? "with" : "without");
    if (facts.size != imported->size_B && !imported->said_size) {
        imported->said_size = true;
        em_mistake(M07, CUDA_SUCCESS,
                   "size (%llu) is not the size of VkDeviceMemory %#llx (%llu bytes)",
                   (unsigned long long)imported->size_B, memory, (unsigned long long)facts.size);
    }
    if (facts.flags & DM_VULKAN_UNDECLARED)
        em_mistake(M13, CUDA_SUCCESS,
                   "handle.fd (%d) is VkDeviceMemory %#llx, which was allocated without "
                   "VkExportMemoryAllocateInfo for this handle type",
                   fd, memory);
}

bool em_exporter_undeclared(void)
{
    const struct dm_vulkan_layer *l = em_vulkan_layer();
    return l && l->undeclared_export();
}

// ---- images

static const char *describe(const struct dm_vulkan_resource *r, char *out, size_t out_size)
{
    if (r->kind == DM_VULKAN_BUFFER) {
        snprintf(out, out_size, "VkBuffer %#llx (%llu bytes at %llu)",
                 (unsigned long long)r->handle, (unsigned long long)r->size,
                 (unsigned long long)r->offset);
        return out;
    }
    char format[16], extent[48];
    snprintf(format, sizeof format, "format %u", r->format);
    snprintf(extent, sizeof extent,
             r->dimensions == 1   ? "%u"
             : r->dimensions == 2 ? "%ux%u"
                                  : "%ux%ux%u",
             r->width, r->height, r->depth);
    snprintf(out, out_size, "VkImage %#llx (%uD, %s, %s, %u level%s, %u layer%s%s, at %llu)",
             (unsigned long long)r->handle, r->dimensions, extent,
             *r->format_name ? r->format_name : format, r->levels, r->levels == 1 ? "" : "s",
             r->layers, r->layers == 1 ? "" : "s", r->flags & DM_VULKAN_LINEAR ? ", linear" : "",
             (unsigned long long)r->offset);
    return out;
}

static uint64_t at_least_1(uint64_t n)
{
    return n ? n : 1;
}

static bool same_extent(const struct dm_vulkan_resource *r, const struct em_array_plan *plan)
{
    uint64_t depth = plan->layout.dimensions == 3 ? plan->desc.Depth : 1;
    return plan->desc.Width == r->width && at_least_1(plan->desc.Height) == r->height &&
           depth == r->depth;
}

static bool is_layered(const struct em_array_plan *plan)
{
    return plan->desc.Flags & (CUDA_ARRAY3D_LAYERED | CUDA_ARRAY3D_CUBEMAP);
}

static uint64_t layers_of(const struct em_array_plan *plan)
{
    return is_layered(plan) ? plan->desc.Depth : 1;
}

// A macro, so that the text is made only if it is needed.
#define TEXT_OF(r) describe((r), (char[200]){0}, 200)

// Compares the properties that determine the layout, and reports the first difference.
static void compare_shape(const struct dm_vulkan_resource *r,
                          const CUDA_EXTERNAL_MEMORY_MIPMAPPED_ARRAY_DESC *desc,
                          const struct em_array_plan *plan)
{
    const CUDA_ARRAY3D_DESCRIPTOR *d = &plan->desc;
    bool deep = plan->layout.dimensions == 3;
    if (deep && r->dimensions != 3) {
        if (d->Depth != 1) // else it is I01, which needs no facts
            em_mistake(
                I02, CUDA_SUCCESS,
                "Depth (%zu) without CUDA_ARRAY3D_LAYERED is a 3D array, but this memory holds %s",
                d->Depth, TEXT_OF(r));
        return;
    }
    if (!same_extent(r, plan)) {
        em_mistake(I11, CUDA_SUCCESS,
                   "an array of %zux%zux%zu does not fit the memory, which holds %s", d->Width,
                   d->Height, d->Depth, TEXT_OF(r));
        return;
    }
    if (layers_of(plan) != r->layers)
        em_mistake(I02, CUDA_SUCCESS,
                   "Depth (%zu) %s CUDA_ARRAY3D_LAYERED does not fit the memory, which holds %s",
                   d->Depth, is_layered(plan) ? "with" : "without", TEXT_OF(r));
    else if (desc->numLevels != r->levels)
        em_mistake(I05, CUDA_SUCCESS, "numLevels (%u) does not fit the memory, which holds %s",
                   desc->numLevels, TEXT_OF(r));
    else if (r->element_B &&
             (r->element_B != plan->layout.element_B || r->block_px != plan->layout.block_px))
        em_mistake(
            I06, CUDA_SUCCESS,
            "texels of %u bytes in blocks of %ux%u do not fit the memory, which holds %s: %u "
            "bytes in blocks of %ux%u",
            plan->layout.element_B, plan->layout.block_px, plan->layout.block_px, TEXT_OF(r),
            r->element_B, r->block_px, r->block_px);
}

static void compare_use(const struct dm_vulkan_resource *r, const struct em_array_plan *plan)
{
    // "If the image is used as a color target in the graphics API, CUDA_ARRAY3D_COLOR_ATTACHMENT
    // must be set"
    if (r->flags & DM_VULKAN_COLOR_TARGET && !(plan->desc.Flags & CUDA_ARRAY3D_COLOR_ATTACHMENT))
        em_mistake(I04, CUDA_SUCCESS,
                   "Flags (%#x) lack CUDA_ARRAY3D_COLOR_ATTACHMENT, but the memory holds %s with "
                   "VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT",
                   plan->desc.Flags, TEXT_OF(r));
    if (r->flags & DM_VULKAN_LINEAR)
        em_mistake(I07, CUDA_SUCCESS, "%s was not created with VK_IMAGE_TILING_OPTIMAL",
                   TEXT_OF(r));
    else if (r->samples > 1)
        em_mistake(I07, CUDA_SUCCESS, "%s has %u samples per texel; CUDA arrays have one",
                   TEXT_OF(r), r->samples);
    else if (plan->desc.Flags & CUDA_ARRAY3D_SURFACE_LDST && !(r->flags & DM_VULKAN_STORAGE))
        em_mistake(I07, CUDA_SUCCESS,
                   "Flags (%#x) have CUDA_ARRAY3D_SURFACE_LDST, but the memory holds %s without "
                   "VK_IMAGE_USAGE_STORAGE_BIT",
                   plan->desc.Flags, TEXT_OF(r));
    if (!(r->flags & (DM_VULKAN_EXTERNAL_OPAQUE_FD | DM_VULKAN_EXTERNAL_DMA_BUF)))
        em_mistake(M13, CUDA_SUCCESS,
                   "%s was created without VkExternalMemoryImageCreateInfo for the handle type of "
                   "its memory",
                   TEXT_OF(r));
}

// The image bound at that offset, or NULL. If several alias each other, the one that fits the
// descriptor best.
static const struct dm_vulkan_resource *image_at(const struct dm_vulkan_facts *facts,
                                                 uint64_t offset, const struct em_array_plan *plan)
{
    const struct dm_vulkan_resource *best = NULL;
    int best_score = -1;
    for (uint32_t i = 0; i < facts->resource_count; i++) {
        const struct dm_vulkan_resource *r = &facts->resource[i];
        if (r->kind != DM_VULKAN_IMAGE || r->offset != offset)
            continue;
        int score = 4 * same_extent(r, plan) + 2 * (r->levels == plan->levels) +
                    (r->element_B == plan->layout.element_B);
        if (score > best_score) {
            best = r;
            best_score = score;
        }
    }
    return best;
}

bool em_exporter_check_mipmap(const struct em_imported *imported,
                              const CUDA_EXTERNAL_MEMORY_MIPMAPPED_ARRAY_DESC *desc,
                              const struct em_array_plan *plan)
{
    em_assert_locked();
    struct dm_vulkan_facts facts;
    if (!read_facts(imported, &facts) || !facts.resource_count)
        return false;
    const struct dm_vulkan_resource *r = image_at(&facts, desc->offset, plan);
    if (!r) {
        char text[200];
        if (facts.flags & DM_VULKAN_MORE_RESOURCES)
            return false;
        em_mistake(I11, CUDA_SUCCESS,
                   "offset (%llu) is not that of an image in VkDeviceMemory %#llx, which holds %s",
                   desc->offset, (unsigned long long)facts.memory,
                   describe(&facts.resource[0], text, sizeof text));
        return true;
    }
    compare_shape(r, desc, plan);
    compare_use(r, plan);
    return true;
}

const char *em_exporter_text(const struct em_imported *imported, uint64_t offset, uint64_t size,
                             char *out, size_t out_size)
{
    em_assert_locked();
    struct dm_vulkan_facts facts;
    *out = 0;
    if (!read_facts(imported, &facts))
        return out;
    const struct dm_vulkan_resource *best = NULL;
    for (uint32_t i = 0; i < facts.resource_count; i++) {
        const struct dm_vulkan_resource *r = &facts.resource[i];
        bool there = r->offset == offset || (r->offset > offset ? r->offset - offset < size
                                                                : offset - r->offset < r->size);
        if (there && (!best || r->offset == offset))
            best = r;
    }
    char text[200];
    if (best)
        snprintf(out, out_size, ", %s", describe(best, text, sizeof text));
    return out;
}

// ---- accesses

// Counts the submissions to the VkDevice of the memory. Returns false if they are not counted.
static bool count_submissions(const struct em_imported *imported, struct dm_vulkan_submissions *out)
{
    const struct dm_vulkan_layer *l = em_vulkan_layer();
    return em_order_on && l &&
           l->submissions((uint64_t)imported->info.dev, (uint64_t)imported->info.ino, out);
}

bool em_exporter_watches(const struct em_imported *imported)
{
    em_assert_locked();
    struct dm_vulkan_submissions unused;
    return (imported->needs_flush && em_vulkan_layer()) || count_submissions(imported, &unused);
}

// A second turn cannot be the first upload any more. A program without any semaphore can only wait
// on the host. Its work is complete then, but neither API documents that the other one sees it.
void em_exporter_check_turns(struct em_imported *imported)
{
    em_assert_locked();
    struct dm_vulkan_submissions now;
    if (imported->said_turns || !count_submissions(imported, &now) || now.with_semaphores)
        return;
    if (imported->accessed && now.batches != imported->batches)
        imported->turns++;
    imported->accessed = true;
    imported->batches = now.batches;
    if (imported->turns < 2)
        return;
    imported->said_turns = true;
    em_mistake(S01, CUDA_SUCCESS,
               "CUDA uses CUexternalMemory #%u for the second time after new submissions to "
               "VkDevice %#llx, but no submission has waited for or signalled an external "
               "semaphore",
               imported->number, (unsigned long long)now.device);
}

void em_exporter_check_read(const struct em_imported *imported, uint64_t first, uint64_t end,
                            bool *said)
{
    em_assert_locked();
    uint64_t dirty_first, dirty_end;
    const struct dm_vulkan_layer *l = em_vulkan_layer();
    if (*said || !l ||
        !l->unflushed((uint64_t)imported->info.dev, (uint64_t)imported->info.ino, first,
                      end - first, &dirty_first, &dirty_end))
        return;
    *said = true;
    em_mistake(
        B09, CUDA_SUCCESS,
        "bytes %llu to %llu of CUexternalMemory #%u are read, but the host wrote them through "
        "vkMapMemory and has not flushed them",
        (unsigned long long)dirty_first, (unsigned long long)dirty_end, imported->number);
}
