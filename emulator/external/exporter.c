// SPDX-License-Identifier: MIT
// Compares the descriptors of imports and mappings with the facts that the exporting program gave
// Vulkan.
#include "exporter.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "call.h"
#include "loaded.h"
#include "vulkan_facts.h"

// NULL until the layer is found: a program may load Vulkan at any time.
static const struct dm_vulkan_layer *found;

void em_exporter_find(void)
{
    em_assert_unlocked();
    static unsigned long long looked;
    unsigned long long loaded =
        __atomic_load_n(&found, __ATOMIC_ACQUIRE) ? 0 : em_libraries_loaded();
    if (!loaded || __atomic_exchange_n(&looked, loaded, __ATOMIC_RELAXED) == loaded)
        return;
    // The library is never closed, so that it stays loaded from now on.
    void *library = dlopen(DM_VULKAN_LAYER_SONAME, RTLD_LAZY | RTLD_NOLOAD);
    void *(*get)(void *, const char *) =
        library
            ? (void *(*)(void *, const char *))(uintptr_t)dlsym(library, "vkGetInstanceProcAddr")
            : NULL;
    dm_vulkan_layer_proc proc =
        get ? (dm_vulkan_layer_proc)(uintptr_t)get(NULL, DM_VULKAN_LAYER_PROC) : NULL;
    const struct dm_vulkan_layer *l = proc ? proc() : NULL;
    if (l && l->version == 1)
        __atomic_store_n(&found, l, __ATOMIC_RELEASE);
}

// The layer in this process, or NULL.
static const struct dm_vulkan_layer *layer(void)
{
    return __atomic_load_n(&found, __ATOMIC_ACQUIRE);
}

static bool read_facts(const struct em_imported *imported, struct dm_vulkan_facts *facts)
{
    int fd = dm_physical_fd(imported->physical);
    return fd >= 0 && !dm_vulkan_facts_read(fd, &imported->info, facts);
}

// ---- import

void em_exporter_check_import(struct em_imported *imported, int fd)
{
    em_assert_locked();
    struct dm_vulkan_facts facts;
    if (!read_facts(imported, &facts))
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
    const struct dm_vulkan_layer *l = layer();
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

// ---- host writes

bool em_exporter_needs_flush(const struct em_imported *imported)
{
    em_assert_locked();
    return imported->needs_flush && layer();
}

void em_exporter_check_read(const struct em_imported *imported, uint64_t first, uint64_t end,
                            bool *said)
{
    em_assert_locked();
    uint64_t dirty_first, dirty_end;
    const struct dm_vulkan_layer *l = layer();
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
